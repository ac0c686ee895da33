"""The installed package where site-packages and the home folder cannot be written to."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]
USER_PROGRAM = Path(__file__).parent / "Inputs" / "user_program.py"
# Capabilities by which root writes what it may not: CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER.
ROOTS_CAPABILITIES, DROP_CAPABILITY = range(4), 24


def _without_roots_rights() -> None:
    """Make root obey permissions, as other users do."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in ROOTS_CAPABILITIES:
            if libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "prctl")


class ReadOnly:
    """The installed package where nothing but `writable` can be written to."""

    def __init__(self, folder: Path, writable: Path) -> None:
        self.folder, self.writable = folder, writable
        self.home = writable / "home"
        self.home.mkdir(mode=0o555)

    def run(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": "", "TMPDIR": str(self.home)},
            preexec_fn=_without_roots_rights,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def read_only(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> ReadOnly:
    if sys.platform != "linux":
        pytest.skip("permissions of root are dropped by prctl")
    for path in [installed, *installed.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    return ReadOnly(installed, tmp_path_factory.mktemp("writable"))


def test_nothing_can_be_written(read_only: ReadOnly) -> None:
    site_packages = next(read_only.folder.glob("lib/*/site-packages"))
    for folder in (site_packages, site_packages / "mlir_fp8", read_only.home):
        run = read_only.run(["python", "-c", f"open({str(folder / 'new')!r}, 'w')"])
        assert "PermissionError" in run.stderr


def test_program_runs_read_only(read_only: ReadOnly) -> None:
    dot = ROOT / "examples" / "dot.mlir"
    run = read_only.run(["python", str(USER_PROGRAM), str(dot)])
    assert run.stderr == ""
    assert run.returncode == 0
    assert run.stdout == "done\n"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["fp8-opt", "DOT", "--lower-to-llvm-pipeline"], "llvm.func"),
        (["fp8-translate", "DOT", "--serialize", "-o", "OUT/dot.mlirbc"], ""),
        (["fp8-translate", "DOT", "--emit=obj", "-o", "OUT/dot.o"], ""),
        (["fp8-run", "DOT", "--random", "0"], "res0 : tensor<4x2xf8E4M3FN>"),
        (["fp8-run", "DOT", "--random", "0", "--report", "OUT/dot.html"], "DOT: 3 float values"),
        (["fp8-explain", "DOT"], "DOT:2:8: fused"),
        (["python", "-m", "mlir_fp8"], "usage: python -m mlir_fp8"),
        (["python", "-m", "mlir_fp8", "run", "DOT", "--random", "0"], "res0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_tools_run_read_only(command: list[str], output: str, read_only: ReadOnly) -> None:
    dot = str(ROOT / "examples" / "dot.mlir")
    places = {"DOT": dot, "OUT": str(read_only.writable)}

    def placed(text: str) -> str:
        for name, place in places.items():
            text = text.replace(name, place)
        return text

    run = read_only.run([placed(word) for word in command])
    assert run.stderr == ""
    assert run.returncode == 0
    assert placed(output) in run.stdout


def test_output_that_cannot_be_written_is_one_line(read_only: ReadOnly) -> None:
    dot = ROOT / "examples" / "dot.mlir"
    run = read_only.run(["fp8-opt", str(dot), "-o", str(read_only.home / "dot.mlir")])
    assert run.returncode == 1
    assert run.stderr == f"error: cannot write '{read_only.home}/dot.mlir': Permission denied\n"
