"""`fp8-explain --lint` on scales: what each rule warns of, and what is nearly that and is right."""

import pytest
from lint_programs import cast, rules


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
