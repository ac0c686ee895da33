"""docs/development.md: what it names is there, and its example of a pass is one."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mlir_fp8 import lowering
from mlir_fp8.lowering import ROOMS, STAGES
from mlir_fp8.tools.opt import main

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "development.md").read_text()
ROAD, EXAMPLE = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)[:2]
PROSE = re.sub(r"```\w*\n.*?```", "", PAGE, flags=re.DOTALL)
CODE = re.findall(r"`([^`]+)`", PROSE)
# What is to be written for them.
PLACEHOLDER = re.compile(r"NAME|STAGE|my_pass")
TO_WRITE = {
    "lowering/STAGE/my_pass.py",
    "test/lowering/STAGE/my_pass.mlir",
    "lowering/arithmetic/stablehlo_fold_double_negate.py",
    "build/cmake",
    "build/import",
}


def _folders_of_the_road() -> Iterator[Path]:
    """What a line of the picture begins with, and the folders beside it that it names."""
    above = Path()
    for line in ROAD.splitlines():
        found = re.match(r"( *)([\w/]+(?:\.py)?/?) +", line)
        if found is None or line == "beside the road":
            continue
        indent, name = found.groups()
        path = above / name if indent else Path(name)
        above = above if indent else path
        yield path
        for more in re.findall(r"\b([a-z_]+)/", line[found.end() :]):
            yield path.parent / more


def test_the_road_names_every_folder() -> None:
    named = {str(path) for path in _folders_of_the_road()}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    stages = [path.removeprefix("lowering/") for path in named if path.startswith("lowering/")]
    assert sorted(stages) == sorted((*STAGES, *ROOMS))
    packages = {f"python/{file.parent.name}" for file in (ROOT / "python").glob("*/__init__.py")}
    assert sorted(packages - named) == []


def test_stages_are_in_the_order_of_the_road() -> None:
    assert tuple(re.findall(r"^  (\w+)/  ", ROAD, re.MULTILINE)) == STAGES


def test_paths_lead_to_files() -> None:
    words = {word for code in CODE for word in code.split() if re.match(r"[\w.]+/", word)}
    paths = words - TO_WRITE
    assert len(paths) > 10
    missing = [
        path
        for path in sorted(paths)
        if not list(ROOT.glob(PLACEHOLDER.sub("*", path).rstrip("/")))
    ]
    assert [path for path in missing if not (ROOT / "lowering" / path.rstrip("/")).is_dir()] == []


def _items() -> Iterator[tuple[str, str]]:
    """Paragraphs and list items that link to code, each with the text of the files."""
    for item in re.split(r"\n\n|\n(?= *(?:- |\d\. ))", PROSE):
        links = re.findall(r"\]\(\.\./([^)#]+\.py)\)", item)
        if links:
            yield item, "\n".join((ROOT / link).read_text() for link in links)


@pytest.mark.parametrize(("item", "code"), list(_items()), ids=lambda text: text.strip()[:30])
def test_tables_are_in_the_files_that_are_linked(item: str, code: str) -> None:
    names = re.findall(r"`_?[A-Z]{2}[A-Z_]+`", item)
    assert [name for name in names if not re.search(rf"^{name.strip('`')}\b", code, re.M)] == []


def test_commands_of_python_are_there() -> None:
    commands = [code for code in CODE if re.match(r"(python|pytest|lit|ctest|cmake) ", code)]
    assert {"python test/ops/table.py", "python -m benchmarks"} <= set(commands)
    for command in commands:
        words = command.replace("\n", " ").split()
        if words[0] == "python" and words[1] == "-m":
            importlib.import_module(words[2])
        if words[:2] == ["python", "test/exhaustive/cast_all_f32.py"]:
            assert f'"{words[2]}"' in (ROOT / words[1]).read_text()


def test_the_example_is_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    place = re.search(r"A whole one, `lowering/arithmetic/(\w+)\.py`", PAGE)
    assert place
    name = place[1].replace("_", "-")
    (tmp_path / f"{place[1]}.py").write_text(program)
    test = tmp_path / f"{place[1]}.mlir"
    test.write_text(EXAMPLE)
    monkeypatch.syspath_prepend(tmp_path)
    modules = lowering._modules() | {name: place[1]}
    monkeypatch.setattr(lowering, "_modules", lambda: modules)
    lowering.pass_names.cache_clear()
    try:
        assert f"fp8-opt %s --{name} --canonicalize | filecheck %s" in EXAMPLE
        assert main([str(test), f"--{name}", "--canonicalize"]) == 0
    finally:
        lowering.pass_names.cache_clear()
        sys.modules.pop(place[1], None)
    body = capfd.readouterr().out.split("@twice(")[1]
    assert "stablehlo.negate" not in body
    assert re.match(r"%(\w+): tensor<4xf8E5M2>\).*\{\n    return %\1 :", body)
