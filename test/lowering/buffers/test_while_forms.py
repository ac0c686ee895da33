"""`scf.while` whose two regions differ in the number, order and types of carried values."""

import ml_dtypes
import numpy as np
import pytest
from while_programs import SHAPES, module_text

import mlir_fp8

RNG = np.random.default_rng(0)
TURNS = (0, 1, 2, 5)
FOUR = "tensor<4xf32>"
HEAD = f"""func.func @main(%x: {FOUR}, %y: {FOUR}, %turns: tensor<i32>) -> ({{results}}) {{{{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %n = tensor.extract %turns[] : tensor<i32>
"""

PERMUTED = f"""{HEAD.format(results=f"{FOUR}, {FOUR}, tensor<i32>")}
  %r:3 = scf.while (%a = %x, %b = %y, %i = %zero)
      : ({FOUR}, {FOUR}, i32) -> (i32, {FOUR}, {FOUR}) {{
    %p = arith.cmpi slt, %i, %n : i32
    scf.condition(%p) %i, %b, %a : i32, {FOUR}, {FOUR}
  }} do {{
  ^bb0(%i: i32, %b: {FOUR}, %a: {FOUR}):
    %s = stablehlo.add %a, %b : {FOUR}
    %j = arith.addi %i, %one : i32
    scf.yield %s, %a, %j : {FOUR}, {FOUR}, i32
  }}
  %t = tensor.from_elements %r#0 : tensor<i32>
  return %r#1, %r#2, %t : {FOUR}, {FOUR}, tensor<i32>
}}"""

SWAPPED_BY_CONDITION = f"""{HEAD.format(results=f"{FOUR}, {FOUR}, {FOUR}")}
  %r:4 = scf.while (%a = %x, %b = %y, %i = %zero)
      : ({FOUR}, {FOUR}, i32) -> ({FOUR}, {FOUR}, i32, {FOUR}) {{
    %p = arith.cmpi slt, %i, %n : i32
    scf.condition(%p) %b, %a, %i, %a : {FOUR}, {FOUR}, i32, {FOUR}
  }} do {{
  ^bb0(%a: {FOUR}, %b: {FOUR}, %i: i32, %c: {FOUR}):
    %g = tensor.insert %f into %a[%first] : {FOUR}
    %s = stablehlo.add %c, %g : {FOUR}
    %j = arith.addi %i, %one : i32
    scf.yield %s, %b, %j : {FOUR}, {FOUR}, i32
  }}
  return %r#0, %r#1, %r#3 : {FOUR}, {FOUR}, {FOUR}
}}"""

# Half of a tensor, a computed one, a scalar, and one from outside the loop.
COMPUTED = f"""{HEAD.format(results=f"{FOUR}, tensor<2xf32>, {FOUR}")}
  %r:5 = scf.while (%a = %x, %i = %zero)
      : ({FOUR}, i32) -> (tensor<2xf32>, {FOUR}, i32, {FOUR}, f32) {{
    %p = arith.cmpi slt, %i, %n : i32
    %h = tensor.extract_slice %a[1] [2] [1] : {FOUR} to tensor<2xf32>
    %d = stablehlo.multiply %a, %y : {FOUR}
    %e = tensor.extract %a[%first] : {FOUR}
    scf.condition(%p) %h, %d, %i, %y, %e : tensor<2xf32>, {FOUR}, i32, {FOUR}, f32
  }} do {{
  ^bb0(%h: tensor<2xf32>, %d: {FOUR}, %i: i32, %o: {FOUR}, %e: f32):
    %s = stablehlo.add %d, %o : {FOUR}
    %u = tensor.insert_slice %h into %s[0] [2] [1] : tensor<2xf32> into {FOUR}
    %v = tensor.insert %e into %u[%first] : {FOUR}
    %j = arith.addi %i, %one : i32
    scf.yield %v, %j : {FOUR}, i32
  }}
  return %r#1, %r#0, %r#3 : {FOUR}, tensor<2xf32>, {FOUR}
}}"""

# Each is carried on as a reshape of the other.
VIEWS = f"""{HEAD.format(results=f"{FOUR}, tensor<2x2xf32>")}
  %z = stablehlo.reshape %y : ({FOUR}) -> tensor<2x2xf32>
  %r:3 = scf.while (%a = %x, %q = %z, %i = %zero)
      : ({FOUR}, tensor<2x2xf32>, i32) -> (tensor<2x2xf32>, {FOUR}, i32) {{
    %p = arith.cmpi slt, %i, %n : i32
    %h = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : {FOUR} into tensor<2x2xf32>
    %g = tensor.collapse_shape %q [[0, 1]] : tensor<2x2xf32> into {FOUR}
    scf.condition(%p) %h, %g, %i : tensor<2x2xf32>, {FOUR}, i32
  }} do {{
  ^bb0(%h: tensor<2x2xf32>, %g: {FOUR}, %i: i32):
    %k = tensor.insert %f into %g[%first] : {FOUR}
    %j = arith.addi %i, %one : i32
    scf.yield %k, %h, %j : {FOUR}, tensor<2x2xf32>, i32
  }}
  return %r#1, %r#0 : {FOUR}, tensor<2x2xf32>
}}"""


def permuted(x: np.ndarray, y: np.ndarray, turns: int) -> tuple[np.ndarray, ...]:
    for _ in range(turns):
        x, y = x + y, x
    return y, x, np.array(turns, np.int32)


def swapped_by_condition(x: np.ndarray, y: np.ndarray, turns: int) -> tuple[np.ndarray, ...]:
    for _ in range(turns):
        x, y = x + np.array([1, *y[1:]], np.float32), x
    return y, x, x


def computed(x: np.ndarray, y: np.ndarray, turns: int) -> tuple[np.ndarray, ...]:
    for _ in range(turns):
        x = np.array([x[0], x[2], *(x * y + y)[2:]], np.float32)
    return x * y, x[1:3], y


def views(x: np.ndarray, y: np.ndarray, turns: int) -> tuple[np.ndarray, ...]:
    for _ in range(turns):
        x, y = np.array([1, *y[1:]], np.float32), x
    return y, x.reshape(2, 2)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        (PERMUTED, permuted),
        (SWAPPED_BY_CONDITION, swapped_by_condition),
        (COMPUTED, computed),
        (VIEWS, views),
    ],
)
def test_forms_of_scf_while(text, reference) -> None:
    compiled = mlir_fp8.compile(text)
    x, y = np.array([1, 2, 3, 4], np.float32), np.array([0.5, 0.25, 2, 3], np.float32)
    for turns in TURNS:
        results = compiled(x, y, np.array(turns, np.int32))
        for got, want in zip(results, reference(x, y, turns), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            assert got.tolist() == want.tolist()
    assert x.tolist() == [1, 2, 3, 4]


def test_a_value_for_the_condition_alone() -> None:
    """From [1, 3] and 1.5: 1.5 < 8; 3 + sqrt(3) < 8; 6 + sqrt(6) is not, after two turns."""
    results = mlir_fp8.compile("""
    func.func @main(%seed: tensor<2xi32>, %x0: tensor<f64>) -> tensor<2xi32> {
      %limit = stablehlo.constant dense<8.0> : tensor<f64>
      %r:3 = stablehlo.while(%key = %seed, %x = %x0, %last = %x0)
          : tensor<2xi32>, tensor<f64>, tensor<f64>
      cond {
        %c = stablehlo.compare LT, %last, %limit : (tensor<f64>, tensor<f64>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %k = stablehlo.add %key, %key : tensor<2xi32>
        %y = stablehlo.add %x, %x : tensor<f64>
        %z = stablehlo.sqrt %y : tensor<f64>
        %w = stablehlo.add %z, %y : tensor<f64>
        stablehlo.return %k, %y, %w : tensor<2xi32>, tensor<f64>, tensor<f64>
      }
      return %r#0 : tensor<2xi32>
    }""")(np.array([1, 3], np.int32), np.array(1.5))
    assert results[0].tolist() == [4, 12]


@pytest.mark.sampled(50)
@pytest.mark.parametrize("first", [0, 20, 40])
def test_random_programs(first: int) -> None:
    module = mlir_fp8.load(module_text(range(first, first + 20)))
    compiled = mlir_fp8.compile(module)
    kinds = (np.int32, np.int8, ml_dtypes.float8_e5m2, np.int32, np.float32, np.bool_)
    for _ in range(2):
        arguments = [
            RNG.integers(-3, 6, shape).astype(kind)
            for shape, kind in zip(SHAPES.values(), kinds, strict=True)
        ]
        wanted = mlir_fp8.interpret(module, *arguments)
        for got, want in zip(compiled(*arguments), wanted, strict=True):
            assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())
