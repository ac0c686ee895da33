"""`python -m mlir_fp8`."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mlir_fp8.__main__ import TOOLS, main

ROOT = Path(__file__).parents[2]


def test_tools_are_the_installed_commands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {
        f"fp8-{tool}": f"mlir_fp8.tools.{tool}:console_main" for tool in TOOLS
    }


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_list_has_a_line_for_each_tool(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    listed = re.findall(r"^  (fp8-\S+) +\S.{30,}$", capsys.readouterr().out, re.MULTILINE)
    assert listed == [f"fp8-{tool}" for tool in TOOLS]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.match(r"mlir-fp8 \d+\.\d+\.\d+\ntorch-mlir ", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["opt", "fp8-opt"])
def test_a_tool_runs_with_its_arguments(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    dot = str(ROOT / "examples" / "dot.mlir")
    assert main([name, dot, "--accumulate-in-f32"]) == 0
    assert "stablehlo.convert" in capsys.readouterr().out


def test_error_of_a_tool_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "--nonsense"]) == 1
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("name", ["nonsense", "_command", "", "fp8-fp8-opt", "--nonsense"])
def test_unknown_tool_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 1
    refusal = f"error: there is no tool '{name}': the tools are fp8-opt, fp8-translate, fp8-run, "
    assert capsys.readouterr().err == f"{refusal}fp8-explain, fp8-quantize, fp8-tune\n"


def test_as_a_process() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "mlir_fp8"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("usage: python -m mlir_fp8 ")


def test_no_folder_for_temporary_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What needs one says so in a line that is about that."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: ["/nonexistent"])
    dot = str(ROOT / "examples" / "dot.mlir")
    assert main(["run", dot, "--random=0", "--backend=interpreter"]) == 1
    assert capsys.readouterr().err == (
        "error: No usable temporary directory found in ['/nonexistent']\n"
    )
