"""README and every page of docs/: how they open, and their examples, run as written.

In a `console` block, a line `$ command` is run by bash in the repository's root, where `$TMP` is an
empty folder; the lines below it are its output, in which `...` stands for any text. The `python`
blocks of a page are one program, and the ops of an `mlir` block parse.
"""

import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import mlir_fp8

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
TESTED = {"console", "python", "mlir"}
# `text` is a formula, or what was printed once; `cmake` is examples/aot, which test_aot.py builds.
UNTESTED = {"text", "cmake"}
# Shell commands that install, or run for minutes.
WITH_SHELL = {"README.md", "inference.md", "performance.md", "training.md", "development.md"}
SCREENS = 3 * 40


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def _blocks(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[2], textwrap.dedent(found[3]))
        for found in BLOCK.finditer(text)
    ]


ALL_BLOCKS = [block for page in PAGES for block in _blocks(page)]


def _of(language: str) -> list[Block]:
    return [block for block in ALL_BLOCKS if block.language == language]


def test_readme_fits_on_three_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= SCREENS


def test_readme_has_an_example_of_each_tool() -> None:
    examples = " ".join(block.text for block in _of("console") if block.page.name == "README.md")
    for tool in ("fp8-opt", "fp8-translate", "fp8-run", "fp8-explain"):
        assert f"$ {tool} " in examples


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_opens_with_whom_it_is_for(page: Path) -> None:
    title, _, text = page.read_text().partition("\n\n")
    assert re.fullmatch(r"# .+", title)
    opening = text.partition("\n\n")[0]
    assert not opening.startswith(("#", "|", "```", "- "))
    assert re.search(r"\b[Ff]or\s+(whoever|people|someone|anyone)\b", opening), opening


@pytest.mark.parametrize("block", ALL_BLOCKS, ids=str)
def test_block_is_of_a_kind_that_is_tested(block: Block) -> None:
    shell = {"sh"} if block.page.name in WITH_SHELL else set[str]()
    assert block.language in TESTED | UNTESTED | shell


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "code", BLOCK.sub("", page.read_text()))
    links = re.findall(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def _run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
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


def _console_examples() -> list[Any]:
    """Those of a training run, which takes its time, are marked."""
    slow = pytest.mark.exhaustive
    return [
        pytest.param(block, marks=[slow] if block.page.name == "training.md" else [])
        for block in _of("console")
    ]


@pytest.mark.parametrize("block", _console_examples(), ids=str)
def test_console_example(block: Block, tmp_path: Path) -> None:
    for example in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = example.replace("\\\n", " ").partition("\n")
        assert "pip install" not in command, "the tests leave the environment alone"
        done = _run(command, tmp_path)
        assert re.fullmatch(_pattern(output), done.stdout.strip(), re.DOTALL), (
            f"$ {command}\n{done.stdout}"
        )
        is_error = re.search(r"^(?:\S+:\d+:\d+: )?error:", output, re.MULTILINE) is not None
        assert (done.returncode != 0) == is_error, command


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if "```python\n" in page.read_text()],
    ids=lambda page: page.name,
)
def test_python_example(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    namespace: dict[str, object] = {"__name__": "example"}
    for block in _of("python"):
        if block.page == page:
            _need(block)
            lines = "\n" * block.line  # so that a traceback names the page's own line
            exec(compile(lines + block.text, str(page), "exec"), namespace)


def _need(block: Block) -> None:
    """Skip what is left of a page where a package that is optional is missing, by its name."""
    for package, part in (("torch", "torch.nn"), ("transformers", "transformers")):
        if re.search(rf"^import (\w+, )*{package}\b", block.text, re.MULTILINE):
            pytest.importorskip(part, reason=f"the example imports {package}")
            pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")


@pytest.mark.parametrize("block", _of("mlir"), ids=str)
def test_mlir_example(block: Block) -> None:
    ops = re.findall(r'"\S+"\(([^)]*)\).*?:\s*\(((?:[^()]|\n)*)\)\s*->', block.text, re.DOTALL)
    arguments = {
        operand: type_
        for operands, types in ops
        for operand, type_ in zip(operands.split(", "), types.split(", "), strict=True)
    }
    assert arguments
    signature = ", ".join(f"{operand}: {type_}" for operand, type_ in arguments.items())
    mlir_fp8.load(f"func.func @main({signature}) {{\n{block.text}return\n}}")
