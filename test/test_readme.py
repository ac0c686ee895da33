"""The worked examples of README and of docs/numerics.md, run as written.

In a `console` block, a line `$ command` is run by bash in the repository's root; the lines below it
are its output, in which `...` stands for any text.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
NUMERICS = (ROOT / "docs" / "numerics.md").read_text()


TRAINING = "examples/train_fp8.py"


def _examples() -> list[tuple[str, str]]:
    examples: list[tuple[str, str]] = []
    pages = README + NUMERICS
    for block in re.findall(r"^```console\n(.*?)^```", pages, re.DOTALL | re.MULTILINE):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.replace("\\\n", " ").partition("\n")
            examples.append((command, output))
    return examples


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if "MLIR_FP8_WARM_TOOLS" in os.environ:  # see conftest.py
        folders.insert(0, os.environ["MLIR_FP8_WARM_TOOLS"])
    environment = os.environ | {"PATH": os.pathsep.join(folders)}
    environment["TMP"] = str(folder)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _pattern(output: str) -> str:
    return ".*?".join(re.escape(part) for part in output.strip().split("..."))


def test_readme_has_an_example_of_each_tool() -> None:
    commands = " ".join(command for command, _ in _examples())
    assert all(tool in commands for tool in ("fp8-opt", "fp8-translate", "fp8-run", "fp8-explain"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where examples leave files for later ones, as `$TMP`."""
    return tmp_path_factory.mktemp("readme")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        pytest.param(*each, marks=[pytest.mark.exhaustive] if TRAINING in each[0] else [])
        for each in _examples()
    ],
)
def test_console_example(command: str, output: str, folder: Path) -> None:
    done = _run(command, folder)
    assert re.fullmatch(_pattern(output), done.stdout.strip(), re.DOTALL), done.stdout
    is_error = re.match(r"(?:\S+:\d+:\d+: )?error:", output) is not None
    assert (done.returncode != 0) == is_error


@pytest.mark.parametrize(
    "code", re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
)
def test_python_example(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
