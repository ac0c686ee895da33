"""hardware.py on the processor at hand."""

import subprocess
import sys
from pathlib import Path

import hardware
import pytest


@pytest.mark.exhaustive
def test_libraries_are_right_where_only_numpy_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hardware.make(tmp_path, None, 1, hardware.SMALL)
    command = [
        sys.executable,
        "-I",
        str(tmp_path / "hardware.py"),
        "run",
        str(tmp_path),
        "--seconds=0",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2 + len(hardware.SMALL)
    library = tmp_path / "3.so"
    library.write_bytes((tmp_path / "4.so").read_bytes())  # a library of another case
    assert subprocess.run(command, capture_output=True, check=False).returncode


def test_errors_are_told_from_roundings() -> None:
    case = hardware.Case(2, 3, 2, left="f32", right="f32")
    left, right = hardware.operands(case, {})
    exact = left.astype(float) @ right.astype(float)
    assert hardware.error_of(case, {}, exact) == 0
    assert hardware.error_of(case, {}, exact * 1.001) > hardware.limit_of(case)
