"""Adds golden artifacts and their checksums; never changes a file that is there already.

`add.py` writes the artifact of each vX_Y_Z.mlir that has none yet, for version X.Y.Z, with
StableHLO's own serializer, and for version 1.0.0 those of `composites`, what ops of the `fp8`
dialect are in artifacts. `add.py RESULTS` also takes the artifacts that old jaxlibs wrote, from
the `results` folder of test/compatibility/run.py.
"""

import hashlib
import sys
from pathlib import Path

from torch_mlir._mlir_libs import _stablehlo

import mlir_fp8

GOLDEN = Path(__file__).parent
CHECKSUMS = GOLDEN / "SHA256SUMS"
# Ops of other dialects may be in an artifact from this version on.
OTHER_DIALECTS = (1, 11, 0)


def write_artifacts() -> None:
    for text in sorted(GOLDEN.glob("v*.mlir")):
        artifact = text.with_suffix(".mlirbc")
        if artifact.exists() or text.stem.endswith("_invalid"):
            continue
        version = text.stem.removeprefix("v").replace("_", ".")
        mixed = tuple(map(int, version.split("."))) >= OTHER_DIALECTS
        # From text, not from the file: no path gets into the locations.
        module = mlir_fp8.load(text.read_text())
        artifact.write_bytes(_stablehlo.serialize_portable_artifact(module, version, mixed))


def write_composites() -> None:
    for text in sorted((GOLDEN / "composites").glob("*.mlir")):
        artifact = text.with_suffix(".mlirbc")
        if not artifact.exists():
            artifact.write_bytes(mlir_fp8.serialize(mlir_fp8.load(text.read_text()), "1.0.0"))


def copy_produced(results: Path) -> None:
    for produced in sorted(results.glob("*/produced.mlirbc")):
        name = f"jaxlib_{produced.parent.name.replace('.', '_')}.mlirbc"
        golden = GOLDEN / "produced_by" / name
        if not golden.exists():
            golden.write_bytes(produced.read_bytes())


def add_checksums() -> None:
    lines = CHECKSUMS.read_text().splitlines() if CHECKSUMS.exists() else []
    known = {line.split("  ")[1] for line in lines}
    for path in sorted(GOLDEN.rglob("*.mlir*")):
        name = path.relative_to(GOLDEN).as_posix()
        if name not in known:
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}")
    CHECKSUMS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write_artifacts()
    write_composites()
    for folder in sys.argv[1:]:
        copy_produced(Path(folder))
    add_checksums()
