"""Golden artifacts stay readable, as the modules that they were when they were written.

test/golden/add.py adds files; none is ever changed.
"""

import hashlib
import re
from pathlib import Path

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.artifacts.targets import current_version
from mlir_fp8.dialects.stablehlo_versions import BASE_VERSION, releases, version_key
from mlir_fp8.passes.pass_pipeline import run_pipeline

GOLDEN = Path(__file__).parents[1] / "golden"
PRODUCED = GOLDEN / "produced_by"
FUTURE = GOLDEN / "from_the_future"
COMPOSITES = GOLDEN / "composites"
VERSIONS = releases(BASE_VERSION, current_version())
# The text of what old jaxlibs wrote, by the version from which on they could hold it.
FLOATS = {
    path.stem.removeprefix("floats_").replace("_", "."): path
    for path in PRODUCED.glob("floats_*.mlir")
}
# The text with ops of other dialects.
MIXED = {"1.11.0"}
# Other encodings, dropped attributes, longer guarantees.
WITHOUT_NEW_FEATURES = {"0.12.0", "0.13.0", "0.14.0", "0.15.0", "0.20.0", "1.0.0", *MIXED}
REFUSED = re.compile(r"// refused: (?P<feature>.+) since (?P<since>[\d.]+)\n")


def golden(version: str, suffix: str) -> Path:
    return GOLDEN / f"v{version.replace('.', '_')}{suffix}"


def generic(module: ir.Module) -> str:
    return str(module.operation.get_asm(print_generic_op_form=True))


def test_no_golden_file_was_changed_or_removed() -> None:
    lines = (GOLDEN / "SHA256SUMS").read_text().splitlines()
    listed = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    present = {
        path.relative_to(GOLDEN).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in GOLDEN.rglob("*.mlir*")
    }
    assert present == listed, "golden files are never edited; new ones: test/golden/add.py"


@pytest.mark.sampled(9)
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_read_and_written(version: str) -> None:
    data = golden(version, ".mlirbc").read_bytes()
    assert artifact_version(data) == version
    module = mlir_fp8.load(golden(version, ".mlir"))
    assert generic(mlir_fp8.deserialize(data)) == generic(module)
    written = mlir_fp8.serialize(module, version, allow_other_dialects=version in MIXED)
    assert generic(mlir_fp8.deserialize(written)) == generic(module)


@pytest.mark.parametrize("version", sorted({*VERSIONS} - WITHOUT_NEW_FEATURES, key=version_key))
def test_text_needs_its_version(version: str) -> None:
    assert mlir_fp8.minimum_version(mlir_fp8.load(golden(version, ".mlir"))) == version


@pytest.mark.sampled(7)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_newer_than_the_version_is_refused(version: str) -> None:
    text = golden(version, "_invalid.mlir").read_text()
    reason = REFUSED.match(text)
    assert reason is not None
    assert version_key(reason["since"]) > version_key(version)
    with pytest.raises(mlir_fp8.Fp8Error) as refusal:
        mlir_fp8.serialize(mlir_fp8.load(text), version)
    error = refusal.value
    assert reason["feature"] in str(error)
    if version_key(reason["since"]) > version_key(current_version()):
        return  # unknown to the library itself, which refuses the text
    assert isinstance(error, mlir_fp8.NewerFeaturesError)
    assert error.minimum == reason["since"]
    assert any(reason["feature"] in f.name and f.version == error.minimum for f in error.features)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("path", sorted(PRODUCED.glob("*.mlirbc")), ids=lambda path: path.stem)
def test_what_old_jaxlibs_wrote_reads_as_its_text(path: Path) -> None:
    data = path.read_bytes()
    version = artifact_version(data)
    assert version is not None
    known = [since for since in FLOATS if version_key(since) <= version_key(version)]
    expected = generic(mlir_fp8.load(FLOATS[max(known, key=version_key)]))
    assert generic(mlir_fp8.deserialize(data)) == expected


@pytest.mark.parametrize("path", sorted(COMPOSITES.glob("*.mlir")), ids=lambda path: path.stem)
def test_composites_are_read_as_ops_and_written_as_they_were(path: Path) -> None:
    data = path.with_suffix(".mlirbc").read_bytes()
    read, module = mlir_fp8.deserialize(data), mlir_fp8.load(path.read_text())
    assert "fp8.uniform_quantize" in generic(read)
    assert generic(mlir_fp8.deserialize(mlir_fp8.serialize(module, "1.0.0"))) == generic(read)
    run_pipeline(read, ["composite-to-fp8"])
    assert generic(read) == generic(module)


@pytest.mark.parametrize("path", sorted(FUTURE.glob("*.mlirbc")), ids=lambda path: path.stem)
def test_artifact_from_the_future_is_refused_until_it_can_be_read(path: Path) -> None:
    data, text = path.read_bytes(), path.with_suffix(".mlir").read_text()
    since = text.removeprefix("// since ").split(":")[0]
    if version_key(since) <= version_key(current_version()):
        assert generic(mlir_fp8.deserialize(data)) == generic(mlir_fp8.load(text))
        return
    with pytest.raises(mlir_fp8.FutureArtifactError) as refusal:
        mlir_fp8.deserialize(data)
    assert refusal.value.version == artifact_version(data)
    assert refusal.value.current == current_version()
