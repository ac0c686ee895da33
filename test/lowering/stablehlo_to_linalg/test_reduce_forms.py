"""Compiled `stablehlo.reduce` against a fold from the left, in numpy."""

from collections.abc import Sequence

import numpy as np
import pytest
from reduction_bodies import ADD, BODIES, CALL, MAXIMUM, ORDER, Body, accumulator, small_numbers
from window_cases import Case, assert_interpreted, assert_match, fold, rounded

import mlir_fp8


def reduce_case(
    rng: np.random.Generator,
    body: Body,
    element: str,
    shape: Sequence[int],
    dims: Sequence[int],
    *,
    narrow: str = "",
) -> Case:
    given = narrow or element
    wide = accumulator(element)
    inputs = [small_numbers(rng, shape, given) for _ in range(body.operands)]
    inits = [small_numbers(rng, (), given) for _ in range(body.operands)]
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    sizes = tuple(shape[dim] for dim in kept)
    results = [np.empty(sizes, wide) for _ in inputs]
    for position in np.ndindex(*sizes):
        at: list[int | slice] = [slice(None)] * len(shape)
        for dim, place in zip(kept, position, strict=True):
            at[dim] = place
        lines = [array.astype(wide)[tuple(at)] for array in inputs]
        sums = fold(body, [init.astype(wide) for init in inits], lines)
        for result, value in zip(results, sums, strict=True):
            result[position] = value
    listed = f": {', '.join(map(str, dims))}" if dims else ""
    return Case(
        "reduce", body, (given,) * 2 * body.operands, (*inputs, *inits), sizes,
        f"dimensions = array<i64{listed}>", rounded(results, element), element, None,
    )  # fmt: skip


def random_case(rng: np.random.Generator, body: Body, element: str, *, narrow: str = "") -> Case:
    rank = int(rng.integers(0, 5))
    shape = rng.choice([0, 1, 2, 3, 5], rank, p=[0.04, 0.2, 0.3, 0.26, 0.2]).astype(int).tolist()
    dims = rng.permutation(rank)[: rng.integers(0, rank + 1)].astype(int).tolist()
    return reduce_case(rng, body, element, shape, dims, narrow=narrow)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", BODIES)
def test_bodies_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    body = BODIES[name]
    assert_match([reduce_case(rng, body, element, (3, 4, 2), (2, 0)) for element in body.elements])


@pytest.mark.parametrize("seed", range(2))
def test_shapes_and_dimensions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = [ORDER, ADD, BODIES["pair"], CALL, BODIES["nested"], MAXIMUM, BODIES["crossed"]]
    assert_match([random_case(rng, bodies[k % 7], ("i32", "f32")[k % 2]) for k in range(42)])


def test_rank_8() -> None:
    rng = np.random.default_rng(2)
    shape = (2, 1, 2, 1, 3, 1, 1, 2)
    bodies = (ORDER, ADD, BODIES["branch"])
    every = ((6, 0, 4), (7,), (1, 3), range(8), (2, 5, 6))
    assert_match([reduce_case(rng, body, "f32", shape, dims) for body in bodies for dims in every])


def test_results_wider_than_the_inputs() -> None:
    rng = np.random.default_rng(3)
    wider = [("i8", "i32"), ("i1", "i64"), ("ui2", "ui16"), ("bf16", "f32"), ("f8E5M2", "f64")]
    wider += [("f8E4M3FN", "bf16"), ("f4E2M1FN", "f16"), ("complex<f32>", "complex<f64>")]
    for body in (ADD, BODIES["crossed"], BODIES["captured"]):
        assert_match([random_case(rng, body, wide, narrow=narrow) for narrow, wide in wider])


def test_a_fold_from_the_left_agrees_with_the_interpreter() -> None:
    rng = np.random.default_rng(5)
    bodies = [ORDER, ADD, BODIES["crossed"], BODIES["nested"], BODIES["branch"]]
    cases = [random_case(rng, bodies[k % 5], ("i32", "f32", "ui8")[k % 3]) for k in range(45)]
    assert_interpreted([case for case in cases if all(array.size for array in case.arrays)])


ARGMAX = """
  %p = stablehlo.compare GT, %x, %y : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
  %n = stablehlo.compare NE, %x, %x : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
  %q = stablehlo.or %p, %n : tensor<i1>
  %v = stablehlo.select %q, %x, %y : tensor<i1>, tensor<TYPE>
  %e = stablehlo.compare EQ, %x, %y : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
  %l = stablehlo.compare LT, %i, %j : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
  %b = stablehlo.and %e, %l : tensor<i1>
  %s = stablehlo.or %q, %b : tensor<i1>
  %k = stablehlo.select %s, %i, %j : tensor<i1>, tensor<ui16>
  stablehlo.return %v, %k : tensor<TYPE>, tensor<ui16>"""


@pytest.mark.parametrize("element", ["f32", "bf16", "f8E4M3FN", "f64", "i8"])
def test_operands_of_different_types(element: str) -> None:
    body = ARGMAX.replace("TYPE", element)
    block = (
        f"^bb0(%x: tensor<{element}>, %i: tensor<ui16>, %y: tensor<{element}>, %j: tensor<ui16>)"
    )
    operands = f"(tensor<4x6x{element}>, tensor<4x6xui16>, tensor<{element}>, tensor<ui16>)"
    compiled = mlir_fp8.compile(f"""
    func.func @main(%a: tensor<4x6x{element}>, %low: tensor<{element}>) -> (
        tensor<4x{element}>, tensor<4xui16>, tensor<4x3x{element}>, tensor<4x3xui16>) {{
      %count = stablehlo.iota dim = 1 : tensor<4x6xui16>
      %none = stablehlo.constant dense<0> : tensor<ui16>
      %r:2 = "stablehlo.reduce"(%a, %count, %low, %none) <{{dimensions = array<i64: 1>}}> ({{
      {block}: {body}
      }}) : {operands} -> (tensor<4x{element}>, tensor<4xui16>)
      %w:2 = "stablehlo.reduce_window"(%a, %count, %low, %none) <{{
          window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}}> ({{
      {block}: {body}
      }}) : {operands} -> (tensor<4x3x{element}>, tensor<4x3xui16>)
      return %r#0, %r#1, %w#0, %w#1
        : tensor<4x{element}>, tensor<4xui16>, tensor<4x3x{element}>, tensor<4x3xui16>
    }}""")
    x = np.random.default_rng(8).permutation(24).reshape(4, 6) - 10
    low = small_numbers(np.random.default_rng(0), (), element).dtype.type(-32)
    largest, where, large, places = compiled(x.astype(low.dtype), low)
    np.testing.assert_array_equal(where, x.argmax(1))
    np.testing.assert_array_equal(largest.astype(np.int64), x.max(1))
    pairs = x.reshape(4, 3, 2)
    np.testing.assert_array_equal(places, pairs.argmax(2) + np.array([0, 2, 4]))
    np.testing.assert_array_equal(large.astype(np.int64), pairs.max(2))
