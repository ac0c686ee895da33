"""`fp8-explain --lint`: for each rule what it warns of, and what is nearly that and is right."""

import json
from pathlib import Path

import pytest
from lint_programs import cast, clamped, rules, unary

import mlir_fp8
from mlir_fp8.explaining.lint import RULES
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools.explain import main

MODELS = Path(__file__).parent.parent / "models"


CASTS = {
    "bare": (cast("%x"), True),
    "to E5M2": (cast("%x", "f8E5M2"), True),
    "to FNUZ": (cast("%x", "f8E4M3FNUZ"), True),
    "to f6, which saturates": (cast("%x", "f6E3M2FN"), False),
    "to E8M0, a scale": (cast("%x", "f8E8M0FNU"), False),
    "to bf16": (cast("%x", "bf16"), False),
    "clamped": (clamped(-448, 448) + cast("%c"), False),
    "clamped in two steps": (clamped(-448, 448, order="maximum") + cast("%c"), False),
    "clamped tighter": (clamped(-440, 440) + cast("%c"), False),
    "clamped to what rounds down": (clamped(-464, 464) + cast("%c"), False),
    "clamped too widely": (clamped(-465, 448) + cast("%c"), True),
    "clamped to E5M2's range": (clamped(-57344, 57344) + cast("%c"), True),
    "clamped on one side": (clamped(-448, 1e38) + cast("%c"), True),
    "E5M2 clamped to E4M3's": (clamped(-448, 448) + cast("%c", "f8E5M2"), False),
    "tanh": (unary("tanh") + cast("%c"), False),
    "exponential": (unary("exponential") + cast("%c"), True),
    "abs": (unary("abs") + cast("%c"), True),
    "negated": (
        clamped(-448, 448) + "\n  %n = stablehlo.negate %c : tensor<4xf32>" + cast("%n"),
        False,
    ),
    "moved": (
        clamped(-448, 448)
        + "\n  %n = stablehlo.reverse %c, dims = [0] : tensor<4xf32>"
        + cast("%n"),
        False,
    ),
    "multiplied after the clamp": (
        clamped(-448, 448) + "\n  %n = stablehlo.multiply %c, %c : tensor<4xf32>" + cast("%n"),
        True,
    ),
    "rounded to bf16 between": (
        clamped(-448, 448)
        + "\n  %n = stablehlo.convert %c : (tensor<4xf32>) -> tensor<4xbf16>"
        + cast("%n", source="bf16"),
        False,
    ),
    "a constant": (
        "\n  %c = stablehlo.constant dense<[1.0, -448.0, 0.0, 2.0]> : tensor<4xf32>" + cast("%c"),
        False,
    ),
    "a large constant": (
        "\n  %c = stablehlo.constant dense<[1.0, -500.0, 0.0, 2.0]> : tensor<4xf32>" + cast("%c"),
        True,
    ),
    "E4M3 to E5M2": (
        clamped(-448, 448)
        + cast("%c")
        + "\n  %r = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>",
        False,
    ),
    "E5M2 to E4M3, clamped before": (
        clamped(-448, 448)
        + cast("%c", "f8E5M2")
        + "\n  %r = stablehlo.convert %q : (tensor<4xf8E5M2>) -> tensor<4xf8E4M3FN>",
        False,
    ),
    "fp8.quantize": (
        '\n  %q = "fp8.quantize"(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>',
        True,
    ),
    "fp8.quantize, saturating": (
        '\n  %q = "fp8.quantize"(%x, %s) {saturate}'
        " : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>",
        False,
    ),
    "fp8.convert": (
        '\n  %q = "fp8.convert"(%x) {rounding = "nearest_even"}'
        " : (tensor<4xf32>) -> tensor<4xf8E4M3FN>",
        True,
    ),
    "fp8.convert toward zero": (
        '\n  %q = "fp8.convert"(%x) {rounding = "toward_zero"}'
        " : (tensor<4xf32>) -> tensor<4xf8E4M3FN>",
        False,
    ),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("body", "warns"), CASTS.values(), ids=list(CASTS))
def test_unclamped_cast(body: str, warns: bool) -> None:
    assert rules(body) == ["unclamped-cast"] * warns


def test_the_wider_range_of_e5m2_does_not_fit() -> None:
    body = "\n  %r = stablehlo.convert %q : (tensor<4xf8E5M2>) -> tensor<4xf8E4M3FN>"
    assert rules(body, "%q: tensor<4xf8E5M2>") == ["unclamped-cast"]


def test_a_small_integer_fits() -> None:
    body = "\n  %q = stablehlo.convert %x : (tensor<4x{0}>) -> tensor<4xf8E4M3FN>"
    assert rules(body.format("i8"), "%x: tensor<4xi8>") == []
    assert rules(body.format("i16"), "%x: tensor<4xi16>") == ["unclamped-cast"]


DOT = """
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x8xf8E4M3FN>, tensor<8x8xf8E4M3FN>) -> tensor<8x8x{0}>"""
REDUCE = """
  %z = stablehlo.constant dense<0.0> : tensor<{0}>
  %r = stablehlo.reduce(%a init: %z) applies stablehlo.{1} across dimensions = [0]
    : (tensor<8x8x{0}>, tensor<{0}>) -> tensor<8x{0}>"""


@pytest.mark.parametrize(
    ("body", "element", "warns"),
    [
        (DOT.format("f8E4M3FN"), "f8E4M3FN", True),
        (DOT.format("f32"), "f8E4M3FN", False),
        (DOT.format("bf16"), "f8E4M3FN", False),
        (REDUCE.format("f8E4M3FN", "add"), "f8E4M3FN", True),
        (REDUCE.format("f8E5M2", "multiply"), "f8E5M2", True),
        (REDUCE.format("f8E4M3FN", "maximum"), "f8E4M3FN", False),
        (REDUCE.format("f32", "add"), "f32", False),
    ],
)
def test_f8_accumulation(body: str, element: str, warns: bool) -> None:
    arguments = f"%a: tensor<8x8x{element}>, %b: tensor<8x8x{element}>"
    assert rules(body, arguments) == ["f8-accumulation"] * warns


def test_e4m3_gradients_of_a_training_step() -> None:
    """The step quantizes gradients to E5M2; with its range narrowed to E4M3, each is found."""
    text = (MODELS / "transformer_train_step.mlir").read_text()
    assert mlir_fp8.lint(mlir_fp8.load(text)) == []
    narrow = text.replace("f8E5M2", "f8E4M3FN").replace("5.734400e+04", "4.480000e+02")
    warnings = mlir_fp8.lint(mlir_fp8.load(narrow))
    assert {each.rule for each in warnings} == {"e4m3-gradient"}
    fp8_dots = text.count("stablehlo.dot_general") - 6  # those of attention and its gradient
    assert len(warnings) == fp8_dots * 2 // 3, "of each forward dot, two derivatives"
    for each in warnings:
        assert "is in f8E4M3FN" in each.message and "f8E5M2" in each.edit


def test_a_gradient_said_by_an_attribute() -> None:
    dot = """
  %d = "stablehlo.dot_general"(%a, %b) {{dot_dimension_numbers = #stablehlo.dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
    mlir_fp8.gradient = "{0}"}} : (tensor<8x8x{1}>, tensor<8x8xf8E4M3FN>) -> tensor<8x8xf32>"""
    for side, element, expected in (
        ("lhs", "f8E4M3FN", ["e4m3-gradient"]),
        ("lhs", "f8E4M3", ["e4m3-gradient"]),
        ("lhs", "f8E5M2", []),
        ("none", "f8E4M3FN", []),
        ("rhs", "f8E5M2", ["e4m3-gradient"]),
    ):
        arguments = f"%a: tensor<8x8x{element}>, %b: tensor<8x8xf8E4M3FN>"
        assert rules(dot.format(side, element), arguments) == expected


@pytest.mark.parametrize(
    "model", ["mlp_delayed_scaling", "transformer_forward", "transformer_train_step"]
)
def test_the_models_are_clean(model: str) -> None:
    assert mlir_fp8.lint(mlir_fp8.load(MODELS / f"{model}.mlirbc")) == []


@pytest.mark.parametrize("recipe", ["delayed", "current"])
def test_what_the_compiler_quantizes_is_clean(recipe: str) -> None:
    wide = mlir_fp8.load(MODELS / "transformer_train_step.mlir")
    run_pipeline(wide, ["fp8-remove-quantizers", f"fp8-quantize-dots{{recipe={recipe}}}"])
    assert "fp8.quantize" in str(wide)
    assert mlir_fp8.lint(wide) == []


def test_every_rule_is_tested() -> None:
    tests = "".join(
        file.read_text() for file in Path(__file__).parent.glob("test_explain_lint*.py")
    )
    assert [rule for rule in RULES if f'["{rule}"]' not in tests] == []


def test_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bare.mlir"
    file.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf8E5M2> {\n"
        "  %q = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>\n"
        "  return %q : tensor<4xf8E5M2>\n}\n"
    )
    assert main(["--lint", str(file)]) == 0
    message = "the cast to f8E5M2 is not clamped: beyond 57344 it gives infinity"
    edit = "clamp to -57344 and 57344 before it"
    assert capfd.readouterr().out == (
        f"{file}:2:8: warning: {message}; {edit} [unclamped-cast]\n"
        f"{file}: 1 warning: 1 unclamped-cast\n"
    )
    assert main(["--lint", "--json", str(file)]) == 0
    assert json.loads(capfd.readouterr().out) == {
        "version": 1,
        "file": str(file),
        "summary": {"unclamped-cast": 1},
        "warnings": [
            {
                "rule": "unclamped-cast",
                "message": message,
                "location": f"{file}:2:8",
                "edit": edit,
            }
        ],
    }
    assert main(["--lint", "--color=always", str(file)]) == 0
    assert "\033[35mwarning:\033[0m" in capfd.readouterr().out


def test_nothing_to_warn_of(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "empty.mlir"
    file.write_text("func.func @main() { return }\n")
    assert main(["--lint", "--require-clean", str(file)]) == 0
    assert capfd.readouterr().out == f"{file}: no warnings\n"
