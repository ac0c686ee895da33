"""Artifacts for every StableHLO version.

The exchange with real jaxlib releases is test/compatibility/run.py, whose result is
docs/compatibility.md; with MLIR_FP8_COMPATIBILITY=1 one old release of it runs here. What old
releases wrote is read by test_golden.py.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.artifacts.targets import current_version
from mlir_fp8.dialects.stablehlo_versions import BASE_VERSION, releases, version_key

TESTS = Path(__file__).parents[1]
SCRIPT = TESTS / "compatibility" / "run.py"
MODELS = sorted(path for path in (TESTS / "models").glob("*.mlir") if ".mhlo" not in path.name)
VERSIONS = releases(BASE_VERSION, current_version())
# Old, small, and free of faults of its own; a wheel for Python 3.11 only.
OLD_JAXLIB = "0.4.13"


@dataclass(frozen=True)
class Traveller:
    """A module, what it reads as once it has been an artifact, and which version holds it as is."""

    module: ir.Module
    since: str
    read_back: str
    as_is_from: str


def generic(module: ir.Module) -> str:
    return str(module.operation.get_asm(print_generic_op_form=True))


@pytest.fixture(scope="module")
def travellers() -> list[Traveller]:
    """The models, and modules with all the small floats that a version knows."""
    paths = dict.fromkeys(MODELS, BASE_VERSION)
    for path in (TESTS / "golden" / "produced_by").glob("floats_*.mlir"):
        paths[path] = path.stem.removeprefix("floats_").replace("_", ".")
    found = []
    for path, since in paths.items():
        module = mlir_fp8.load(path)
        back = generic(mlir_fp8.deserialize(mlir_fp8.serialize(module)))
        found.append(Traveller(module, since, back, mlir_fp8.minimum_version(module)))
    return found


@pytest.mark.sampled(40)
@pytest.mark.parametrize("version", VERSIONS)
def test_round_trip_at_each_version(version: str, travellers: list[Traveller]) -> None:
    for each in travellers:
        if version_key(each.since) > version_key(version):
            continue
        data = mlir_fp8.serialize(each.module, version)
        assert artifact_version(data) == version
        back = mlir_fp8.deserialize(data)
        # Nothing is lost on the way, locations included.
        assert mlir_fp8.serialize(back, version) == data
        if version_key(each.as_is_from) <= version_key(version):
            assert generic(back) == each.read_back


if os.environ.get("MLIR_FP8_COMPATIBILITY") == "1":

    def test_old_jaxlib_reads_ours_and_we_read_its_own(tmp_path: Path) -> None:
        """Downloads 70 MB."""
        command = [sys.executable, SCRIPT, "--root", tmp_path, "--only", OLD_JAXLIB]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
