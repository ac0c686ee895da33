"""Each pass has one file and one lit test of the same name."""

from pathlib import Path

from mlir_fp8 import lowering
from mlir_fp8.lowering import ROOMS, STAGES, ModulePass, pass_class, pass_names

LIT_TESTS = Path(__file__).parent / "lowering"


def test_each_pass_has_a_lit_test_in_the_folder_of_its_stage() -> None:
    places = [pass_class(name).__module__.split(".")[-2:] for name in pass_names()]
    passes = {f"{stage}/{name}" for stage, name in places}
    tests = {
        f"{stage}/{file.stem}" for stage in STAGES for file in (LIT_TESTS / stage).glob("*.mlir")
    }
    assert sorted(passes - tests) == [], "passes without test/lowering/STAGE/NAME.mlir"
    assert sorted(tests - passes) == [], "lit tests without lowering/STAGE/NAME.py"


def test_a_folder_of_lowering_is_a_stage_or_a_room() -> None:
    folders = {file.parent.name for file in Path(lowering.__path__[0]).glob("*/__init__.py")}
    assert folders == {*STAGES, *ROOMS}


def test_each_pass_file_defines_its_pass() -> None:
    for name in pass_names():
        pass_type = pass_class(name)
        assert issubclass(pass_type, ModulePass), name
        summary = (pass_type.__doc__ or "").strip().split("\n")[0]
        assert summary and not summary.startswith(f"{pass_type.__name__}("), f"{name}: no docstring"


def test_no_two_test_modules_have_one_name() -> None:
    """pytest imports them by name, all into one process."""
    commands = ("conftest", "run")  # which are not imported by tests
    names = [each.stem for each in LIT_TESTS.parent.rglob("*.py") if each.stem not in commands]
    assert sorted({name for name in names if names.count(name) > 1}) == []
