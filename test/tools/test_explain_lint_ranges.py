"""`fp8-explain --lint`: what arithmetic, loops and branches leave in the range of FP8."""

import pytest
from lint_programs import cast, rules

CLAMP = """
  %lo = stablehlo.constant dense<-448.0> : tensor<f32>
  %hi = stablehlo.constant dense<448.0> : tensor<f32>"""
CLAMPED = (
    "stablehlo.clamp %lo, {0}, %hi : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"
)
SIGMOID = """
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %n = stablehlo.negate %x : tensor<4xf32>
  %e = stablehlo.exponential %n : tensor<4xf32>
  %m = stablehlo.add %one, %e : tensor<4xf32>
  %y = stablehlo.divide %one, %m : tensor<4xf32>"""
TIMES = """
  %f = stablehlo.constant dense<{0}> : tensor<4xf32>
  %c = stablehlo.multiply %y, %f : tensor<4xf32>"""
SHARE = """
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4xf32>
  %t = stablehlo.reduce(%{0} init: %z) applies stablehlo.{1} across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %c = stablehlo.divide %e, %b : tensor<4xf32>"""
LOOP = f"""{CLAMP}
  %start = {CLAMPED.format("%x")}
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = {{0}}) : tensor<i32>, tensor<4xf32>
    cond {{{{
      %l = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    }}}} do {{{{
      %j = stablehlo.add %i, %five : tensor<i32>
      %d = stablehlo.add %v, %v : tensor<4xf32>
      %k = {CLAMPED.format("%d")}
      stablehlo.return %j, {{1}} : tensor<i32>, tensor<4xf32>
    }}}}"""
BRANCH = f"""{CLAMP}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.compare LT, %s, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %c = "stablehlo.if"(%p) ({{{{
      %k = {CLAMPED.format("%x")}
      stablehlo.return %k : tensor<4xf32>
    }}}}, {{{{
      %n = stablehlo.negate %x : tensor<4xf32>
      %k = {CLAMPED.format("%n")}
      stablehlo.return {{0}} : tensor<4xf32>
    }}}}) : (tensor<i1>) -> tensor<4xf32>"""
PROGRAMS = {
    "a sigmoid": (SIGMOID + cast("%y"), False),
    "448 sigmoids": (SIGMOID + TIMES.format("448.0") + cast("%c"), False),
    "500 sigmoids": (SIGMOID + TIMES.format("-500.0") + cast("%c"), True),
    "over what may be zero": (SIGMOID.replace("add %one", "subtract %one") + cast("%y"), True),
    "a softmax": (SHARE.format("e", "add") + cast("%c"), False),
    "over another sum": (SHARE.format("x", "add") + cast("%c"), True),
    "over a sum and less": (SHARE.format("e", "add").replace("0.0", "-1.0") + cast("%c"), True),
    "over a maximum": (SHARE.format("e", "maximum") + cast("%c"), True),
    "a loop": (LOOP.format("%start", "%k") + cast("%r#1"), False),
    "a loop that doubles": (LOOP.format("%start", "%d") + cast("%r#1"), True),
    "a loop that may not run": (LOOP.format("%x", "%k") + cast("%r#1"), True),
    "branches": (BRANCH.format("%k") + cast("%c"), False),
    "one wide branch": (BRANCH.format("%n") + cast("%c"), True),
}


@pytest.mark.parametrize(("body", "warns"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_unclamped_cast(body: str, warns: bool) -> None:
    assert rules(body) == ["unclamped-cast"] * warns


MASK = """
  %k = stablehlo.constant dense<{0}> : tensor<4xf32>
  %w = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %d = stablehlo.multiply %w, %k : tensor<4xf32>"""


@pytest.mark.parametrize(
    ("numbers", "warns"),
    [("[0.0, 1.0, 1.0, 0.0]", False), ("[0.0, 1.0, 2.0, 3.0]", True), ("0.0", True)],
)
def test_a_mask_is_no_scale(numbers: str, warns: bool) -> None:
    found = rules(MASK.format(numbers), "%q: tensor<4xf8E4M3FN>")
    assert found == ["scale-constant"] * warns


@pytest.mark.parametrize(
    ("product", "warns"),
    [("multiply %s, %t", False), ("divide %s, %t", False), ("multiply %t, %t", True)],
)
def test_a_scale_with_another_factor_is_no_other_scale(product: str, warns: bool) -> None:
    body = f"""{CLAMP}
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %y = stablehlo.divide %x, %b : tensor<4xf32>
  %c = {CLAMPED.format("%y")}
{cast("%c")}
  %p = stablehlo.{product} : tensor<f32>
  %w = stablehlo.convert %q : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %a = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.multiply %w, %a : tensor<4xf32>"""
    arguments = "%x: tensor<4xf32>, %s: tensor<f32>, %t: tensor<f32>"
    assert rules(body, arguments) == ["mismatched-scale"] * warns
