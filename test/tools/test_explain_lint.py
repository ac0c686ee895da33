"""`fp8-explain --lint`: for each rule what it warns of, and what is nearly that and is right."""

import json
from pathlib import Path

import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.explaining.lint import RULES
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.tools.explain import main

MODELS = Path(__file__).parent.parent / "models"


def rules(body: str, arguments: str = "%x: tensor<4xf32>, %s: tensor<f32>") -> list[str]:
    """The rules that warn about a function of `arguments` that returns all that it computes."""
    module = mlir_fp8.load(f"func.func @main({arguments}) {{\n{body}\n  return\n}}\n")
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    *computed, end = [op.operation for op in block.operations]
    with module.context, ir.Location.unknown():
        results = [result for op in computed for result in op.results]
        with ir.InsertionPoint(end):
            ir.Operation.create("func.return", operands=results)
        end.erase()
        inputs = [argument.type for argument in block.arguments]
        type_ = ir.FunctionType.get(inputs, [result.type for result in results])
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
    return [each.rule for each in mlir_fp8.lint(module)]


def clamped(low: float, high: float, *, order: str = "clamp") -> str:
    constants = f"""
  %lo = stablehlo.constant dense<{low:e}> : tensor<f32>
  %hi = stablehlo.constant dense<{high:e}> : tensor<f32>
  %lows = stablehlo.broadcast_in_dim %lo, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %highs = stablehlo.broadcast_in_dim %hi, dims = [] : (tensor<f32>) -> tensor<4xf32>"""
    if order == "clamp":
        return f"""{constants}
  %c = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"""
    return f"""{constants}
  %m = stablehlo.maximum %x, %lows : tensor<4xf32>
  %c = stablehlo.minimum %highs, %m : tensor<4xf32>"""


def cast(value: str, format_: str = "f8E4M3FN", source: str = "f32") -> str:
    return f"\n  %q = stablehlo.convert {value} : (tensor<4x{source}>) -> tensor<4x{format_}>"


def unary(op: str) -> str:
    return f"\n  %c = stablehlo.{op} %x : tensor<4xf32>"


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


def dequantized(scale: str, element: str = "f32", op: str = "multiply") -> str:
    """`%d`: the argument `%q` of f8E4M3FN, by the scale `%k` that the text `scale` makes."""
    return f"""{scale}
  %w = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4x{element}>
  %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<{element}>) -> tensor<4x{element}>
  %d = stablehlo.{op} %w, %b : tensor<4x{element}>"""


def number(value: str, element: str = "f32", name: str = "%k") -> str:
    return f"\n  {name} = stablehlo.constant dense<{value}> : tensor<{element}>"


def converted(value: str, element: str) -> str:
    text = f"\n  %k = stablehlo.convert %f : (tensor<f32>) -> tensor<{element}>"
    return number(value, name="%f") + text


SCALES = {
    "zero": (dequantized(number("0.0")), True),
    "infinite": (dequantized(number("0x7F800000")), True),
    "NaN": (dequantized(number("0x7FC00000")), True),
    "dividing by zero": (dequantized(number("0.0"), op="divide"), True),
    "one": (dequantized(number("1.0")), False),
    "tiny": (dequantized(number("1.0e-30")), False),
    "0 in f16": (dequantized(converted("1.0e-30", "f16"), "f16"), True),
    "infinite in f16": (dequantized(converted("1.0e30", "f16"), "f16"), True),
    "tiny in bf16": (dequantized(converted("1.0e-30", "bf16"), "bf16"), False),
    "a scale of f8E8M0FNU": (
        dequantized(
            number("1.0", "f8E8M0FNU", "%f")
            + "\n  %k = stablehlo.convert %f : (tensor<f8E8M0FNU>) -> tensor<f32>"
        ),
        False,
    ),
    "fp8.dequantize by zero": (
        number("0.0")
        + '\n  %d = "fp8.dequantize"(%q, %k) : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>',
        True,
    ),
    "fp8.dequantize by two": (
        number("2.0")
        + '\n  %d = "fp8.dequantize"(%q, %k) : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>',
        False,
    ),
    "one of four is zero": (
        """
  %k = stablehlo.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xbf16>
  %w = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %d = stablehlo.multiply %w, %k : tensor<4xbf16>""",
        True,
    ),
    "data times zero": (number("0.0") + "\n  %d = stablehlo.multiply %k, %k : tensor<f32>", False),
}


@pytest.mark.parametrize(("body", "warns"), SCALES.values(), ids=list(SCALES))
def test_scale_constant(body: str, warns: bool) -> None:
    assert rules(body, "%q: tensor<4xf8E4M3FN>") == ["scale-constant"] * warns


@pytest.mark.parametrize(("value", "warns"), [("0.0", True), ("0.5", False)])
def test_scale_constant_of_a_quantize(value: str, warns: bool) -> None:
    body = f"""{number(value)}
  %b = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.divide %x, %b : tensor<4xf32>
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %c = stablehlo.clamp %lo, %d, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
{cast("%c")}"""
    assert rules(body) == ["scale-constant"] * warns


def test_scale_constant_of_a_fused_op() -> None:
    body = """
  %k = stablehlo.constant dense<0.0> : tensor<f32>
  %d = "fp8.scaled_dot"(%q, %q, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0],
      rhs_contracting_dimensions = [0]>, operand_type = f32}
    : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<f32>"""
    assert rules(body, "%q: tensor<4xf8E4M3FN>") == ["scale-constant"]


SECOND = """
  %e = stablehlo.{op} %d, {by} : tensor<4xf32>"""
OTHER = "\n  %o = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<4xf32>"
TWICE = {
    "twice": (SECOND.format(op="multiply", by="%b"), True),
    "from another broadcast": (
        "\n  %o = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<4xf32>"
        + SECOND.format(op="multiply", by="%o"),
        True,
    ),
    "undone": (SECOND.format(op="divide", by="%b"), False),
    "another factor": (OTHER + SECOND.format(op="multiply", by="%o"), False),
}


@pytest.mark.parametrize(("body", "warns"), TWICE.values(), ids=list(TWICE))
def test_double_scale(body: str, warns: bool) -> None:
    arguments = "%q: tensor<4xf8E4M3FN>, %k: tensor<f32>, %t: tensor<f32>"
    assert rules(dequantized("") + body, arguments) == ["double-scale"] * warns


def test_a_factor_of_wide_data_may_come_twice() -> None:
    body = """
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.multiply %x, %b : tensor<4xf32>
  %e = stablehlo.multiply %d, %b : tensor<4xf32>"""
    assert rules(body) == []


def requantized(first: str, second: str, after: str) -> str:
    """`%x` scaled by the op `first` with `%s`, to FP8 and back by the op `second` with `after`."""
    return f"""
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %y = stablehlo.{first} %x, %b : tensor<4xf32>
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>
  %c = stablehlo.clamp %lo, %y, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
{cast("%c")}
  %w = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %a = stablehlo.broadcast_in_dim {after}, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.{second} %w, %a : tensor<4xf32>"""


MISMATCHES = {
    "divided and multiplied": (("divide", "multiply", "%s"), False),
    "multiplied and divided": (("multiply", "divide", "%s"), False),
    "divided twice": (("divide", "divide", "%s"), True),
    "multiplied twice": (("multiply", "multiply", "%s"), True),
    "another scale": (("divide", "multiply", "%t"), True),
    "a reciprocal as an argument": (("multiply", "multiply", "%t"), False),
}


@pytest.mark.parametrize(("how", "warns"), MISMATCHES.values(), ids=list(MISMATCHES))
def test_mismatched_scale(how: tuple[str, str, str], warns: bool) -> None:
    arguments = "%x: tensor<4xf32>, %s: tensor<f32>, %t: tensor<f32>"
    assert rules(requantized(*how), arguments) == ["mismatched-scale"] * warns


@pytest.mark.parametrize(
    ("scale", "after", "second", "warns"),
    [
        ("2.0", "2.0", "multiply", False),
        ("2.0", "4.0", "multiply", True),
        ("2.0", "0.5", "divide", False),
        ("2.0", "4.0", "divide", True),
    ],
)
def test_mismatched_constants(scale: str, after: str, second: str, warns: bool) -> None:
    constants = number(scale, name="%s") + number(after, name="%t")
    body = constants + requantized("divide", second, "%t")
    assert rules(body, "%x: tensor<4xf32>") == ["mismatched-scale"] * warns


def test_one_is_its_own_reciprocal() -> None:
    body = number("1.0", name="%s") + requantized("divide", "divide", "%s")
    assert rules(body, "%x: tensor<4xf32>") == []


def test_rows_divided_by_their_sums_are_not_scaled() -> None:
    """A softmax that is quantized without a scale."""
    body = """
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %y = stablehlo.divide %x, %b : tensor<4x4xf32>
  %c = stablehlo.clamp %z, %y, %one : (tensor<f32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %abs = stablehlo.abs %y : tensor<4x4xf32>
  %amax = stablehlo.reduce(%abs init: %z) applies stablehlo.maximum across dimensions = [0, 1]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.convert %c : (tensor<4x4xf32>) -> tensor<4x4xf8E4M3FN>
  %w = stablehlo.convert %q : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %a = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %e = stablehlo.multiply %w, %a : tensor<4x4xf32>"""
    assert rules(body, "%x: tensor<4x4xf32>, %s: tensor<f32>") == []


def test_amax_of_what_a_quantize_takes() -> None:
    body = """
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %y = stablehlo.multiply %x, %b : tensor<4xf32>
  %q = "fp8.quantize"(%y, %s) {saturate} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>"""
    assert rules(body + AMAX.format("%y", "f32", "maximum")) == []


def test_the_reciprocal_of_the_scale_matches() -> None:
    body = """
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %t = stablehlo.divide %one, %s : tensor<f32>"""
    assert rules(body + requantized("multiply", "multiply", "%t")) == []
    assert rules(body + requantized("divide", "multiply", "%t")) == ["mismatched-scale"]


def test_mismatched_scales_of_the_dialect() -> None:
    body = """
  %q = "fp8.quantize"(%x, %s) {{saturate}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>
  %d = "fp8.dequantize"(%q, {0}) {1} : (tensor<4xf8E4M3FN>, tensor<f32>) -> tensor<4xf32>"""
    arguments = "%x: tensor<4xf32>, %s: tensor<f32>, %t: tensor<f32>"
    assert rules(body.format("%s", ""), arguments) == []
    assert rules(body.format("%t", ""), arguments) == ["mismatched-scale"]
    assert rules(body.format("%s", "{inverse}"), arguments) == ["mismatched-scale"]


AMAX = """
  %abs = stablehlo.abs {0} : tensor<4x{1}>
  %init = stablehlo.constant dense<0.0> : tensor<{1}>
  %amax = stablehlo.reduce(%abs init: %init) applies stablehlo.{2} across dimensions = [0]
    : (tensor<4x{1}>, tensor<{1}>) -> tensor<{1}>"""


@pytest.mark.parametrize(
    ("amax", "warns"),
    [
        (AMAX.format("%x", "f32", "maximum"), False),
        (AMAX.format("%y", "f32", "maximum"), True),
        (AMAX.format("%c", "f32", "maximum"), True),
        (AMAX.format("%y", "f32", "minimum"), False),
        (AMAX.format("%w", "f32", "maximum"), True),
        (AMAX.format("%q", "f8E4M3FN", "maximum"), True),
        (AMAX.format("%e", "f32", "maximum"), False),
    ],
    ids=["before", "scaled", "clamped", "minimum", "widened", "FP8", "dequantized"],
)
def test_amax_of_scaled(amax: str, warns: bool) -> None:
    body = requantized("divide", "multiply", "%s") + amax
    assert rules(body) == ["amax-of-scaled"] * warns


def test_amax_of_what_a_constant_scales_is_of_the_value() -> None:
    body = number("2.0", name="%s") + requantized("divide", "multiply", "%s")
    assert rules(body + AMAX.format("%y", "f32", "maximum"), "%x: tensor<4xf32>") == []


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
    source = Path(__file__).read_text()
    assert [rule for rule in RULES if f'["{rule}"]' not in source] == []


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
