"""Which tests run without `--exhaustive`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_quick(): pass

@pytest.mark.exhaustive
def test_slow(): pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_case(n): pass

@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", range(10, 20))
def test_row(n): pass

@pytest.mark.sampled(3)
@pytest.mark.parametrize("letter", "abc")
@pytest.mark.parametrize("n", range(3))
def test_table(letter, n): pass

def test_parts(exhaustive):
    open("parts", "w").write("all" if exhaustive else "a part")
"""
QUICK = {
    "test_quick",
    "test_case[1]",
    *("test_row[10]", "test_row[14]", "test_row[18]", "test_row[19]"),
    "test_parts",
}


def run(folder: Path, *options: str) -> tuple[set[str], str]:
    """The names of the tests that run, and what is printed."""
    (folder / "test_it.py").write_text(TESTS)
    here = str(Path(__file__).parent)
    path = os.pathsep.join((here, os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-rA", *options, "test_it.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(re.findall(r"^PASSED test_it.py::(\S+)$", done.stdout, re.MULTILINE)), done.stdout


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.exhaustive)])
def test_a_quick_run_tries_a_part_and_says_so(workers: str, tmp_path: Path) -> None:
    names, output = run(tmp_path, "-n", workers)
    table = {name for name in names if name.startswith("test_table")}
    assert names - table == QUICK and (tmp_path / "parts").read_text() == "a part"
    for value in "abc012":
        assert any(value in name.partition("[")[2] for name in table), value
    left_out = 24 - len(names)
    line = f"{left_out} exhaustive tests not run: python -m pytest --exhaustive runs all"
    assert output.count(line) == 1 and len(table) < 6


def test_everything_runs_when_asked(tmp_path: Path) -> None:
    names, output = run(tmp_path, "--exhaustive")
    assert (
        len(names) == 24 and "not run" not in output and (tmp_path / "parts").read_text() == "all"
    )
