"""Warm tools do what the tools do: streams, statuses, files, environment, signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm_tools
from warm_tools import PROGRAMS, WarmTools

ROOT = Path(__file__).parent.parent
DOT = ROOT / "examples" / "dot.mlir"
pytestmark = pytest.mark.skipif(not warm_tools.is_possible(), reason="needs pidfd_open")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """That of the session where it has one, so that nothing is imported again."""
    if "MLIR_FP8_WARM_TOOLS" in os.environ:
        yield Path(os.environ["MLIR_FP8_WARM_TOOLS"])
        return
    with WarmTools(tmp_path_factory.mktemp("warm")) as tools:
        yield tools.folder


def started(tool: str) -> list[str]:
    """The tool as users have it: a process that imports what it needs."""
    return [sys.executable, "-m", PROGRAMS[tool]]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "arguments",
    [
        ("fp8-opt", str(DOT), "--accumulate-in-f32"),
        ("fp8-opt", "--nonsense"),
        ("fp8-translate", "--serialize", "--target=1.0.0", str(DOT)),
        ("fp8-run", str(DOT), "--random=0", "--print"),
        ("fp8-explain", "no file"),
    ],
    ids=" ".join,
)
def test_results_are_those_of_the_tools_as_started(
    arguments: tuple[str, ...], folder: Path
) -> None:
    tool, *rest = arguments
    cold, warm = (
        subprocess.run([*command, *rest], input=DOT.read_bytes(), capture_output=True, check=False)
        for command in (started(tool), [folder / tool])
    )
    assert (warm.returncode, warm.stdout, warm.stderr) == (
        cold.returncode,
        cold.stdout,
        cold.stderr,
    )


def test_paths_and_environment_are_those_of_the_caller(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_bytes(DOT.read_bytes())
    run = subprocess.run(
        [folder / "fp8-opt", "in.mlir", "-o", "out.mlir"], cwd=tmp_path, check=True
    )
    assert run.returncode == 0 and "dot_general" in (tmp_path / "out.mlir").read_text()
    command = [folder / "fp8-run", str(DOT), "--random=0"]
    environment = os.environ | {"MLIR_FP8_NUM_THREADS": "many"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "MLIR_FP8_NUM_THREADS" in run.stderr


def test_a_reader_that_goes_away(folder: Path) -> None:
    many = b"".join(b"func.func private @f%d()\n" % i for i in range(20_000))
    run = subprocess.run(
        ["bash", "-c", f"'{folder}/fp8-opt' | head -1; exit ${{PIPESTATUS[0]}}"],
        input=many,
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (128 + signal.SIGPIPE, b"module {\n")


def test_filecheck_fails_and_passes(folder: Path, tmp_path: Path) -> None:
    checks = tmp_path / "checks"
    checks.write_text("CHECK: one\n")
    for text, status in ((b"one\n", 0), (b"two\n", 1)):
        command = [folder / "filecheck", str(checks)]
        run = subprocess.run(command, input=text, capture_output=True, check=False)
        assert (run.returncode != 0) == bool(status)


def test_a_killed_program_is_a_killed_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "killed.py").write_text(
        "import os, signal\ndef main():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (tmp_path / "killing.py").write_text(
        "import warm_tools\nwarm_tools.PROGRAMS = {'fp8-opt': 'killed'}\n"
        "import sys\nwarm_tools._serve(sys.argv[1])\n"
    )
    path = os.pathsep.join((str(tmp_path), str(ROOT / "test"), os.environ.get("PYTHONPATH", "")))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setattr(warm_tools, "__file__", str(tmp_path / "killing.py"))
    with WarmTools(tmp_path) as tools:
        run = subprocess.run([tools.folder / "fp8-opt"], check=False)
    assert run.returncode == -signal.SIGKILL
