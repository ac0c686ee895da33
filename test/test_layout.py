"""Each pass has one file and one lit test of the same name."""

from pathlib import Path

from mlir_fp8.lowering import ModulePass, pass_class, pass_names

LIT_TESTS = Path(__file__).parent / "lowering"


def test_each_pass_has_a_lit_test() -> None:
    passes = {name.replace("-", "_") for name in pass_names()}
    tests = {file.stem for file in LIT_TESTS.glob("*.mlir")}
    assert sorted(passes - tests) == [], "passes without test/lowering/NAME.mlir"
    assert sorted(tests - passes) == [], "lit tests without lowering/NAME.py"


def test_each_pass_file_defines_its_pass() -> None:
    for name in pass_names():
        pass_type = pass_class(name)
        assert issubclass(pass_type, ModulePass), name
        summary = (pass_type.__doc__ or "").strip().split("\n")[0]
        assert summary and not summary.startswith(f"{pass_type.__name__}("), f"{name}: no docstring"
