"""Branches in loops: regions that update a carried tensor, make a new one, or forward it."""

import itertools

import numpy as np
import pytest

import mlir_fp8

# Of each: what it gives for %c, a tensor<4xi32>, and for an array.
SIDES = {
    "keep": ("%v = stablehlo.reshape %c : (tensor<4xi32>) -> tensor<4xi32>", lambda c: c),
    "add": ("%v = stablehlo.add %c, %c : tensor<4xi32>", lambda c: c + c),
    "reverse": ("%v = stablehlo.reverse %c, dims = [0] : tensor<4xi32>", lambda c: c[::-1]),
    "fill": ("%v = stablehlo.constant dense<4> : tensor<4xi32>", lambda c: np.full_like(c, 4)),
    "scatter": (
        """%s = stablehlo.slice %c [1:2] : (tensor<4xi32>) -> tensor<1xi32>
        %at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1x1xi32>
        %v = "stablehlo.scatter"(%c, %at, %s) <{scatter_dimension_numbers = #stablehlo.scatter<
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>}> ({
        ^bb0(%old: tensor<i32>, %new: tensor<i32>):
          stablehlo.return %new : tensor<i32>
        }) : (tensor<4xi32>, tensor<1x1xi32>, tensor<1xi32>) -> tensor<4xi32>""",
        None,
    ),
    "shift": (
        """%s = stablehlo.slice %c [0:3] : (tensor<4xi32>) -> tensor<3xi32>
        %v = stablehlo.dynamic_update_slice %c, %s, %one
          : (tensor<4xi32>, tensor<3xi32>, tensor<i32>) -> tensor<4xi32>""",
        lambda c: np.concatenate([c[:1], c[:3]]),
    ),
    "loop": (
        """%w:2 = stablehlo.while(%j = %zero, %d = %c) : tensor<i32>, tensor<4xi32>
        cond {
          %p = stablehlo.compare LT, %j, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %k = stablehlo.add %j, %one : tensor<i32>
          %e = stablehlo.reverse %d, dims = [0] : tensor<4xi32>
          %f = stablehlo.subtract %e, %d : tensor<4xi32>
          stablehlo.return %k, %f : tensor<i32>, tensor<4xi32>
        }
        %v = stablehlo.reshape %w#1 : (tensor<4xi32>) -> tensor<4xi32>""",
        lambda c: c[::-1] - c,
    ),
}
TURNS = 6


def _program(sides: tuple[str, ...], *, reads_after: bool) -> str:
    regions = ", ".join(
        f"{{ {SIDES[side][0]}\n stablehlo.return %v : tensor<4xi32> }}" for side in sides
    )
    read = "%c" if reads_after else "%r"
    return f"""
func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<{len(sides)}> : tensor<i32>
  %turns = stablehlo.constant dense<{TURNS}> : tensor<i32>
  %out:3 = stablehlo.while(%i = %zero, %c = %x, %t = %zero)
    : tensor<i32>, tensor<4xi32>, tensor<i32>
  cond {{
    %p = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %which = stablehlo.remainder %i, %n : tensor<i32>
    %r = "stablehlo.case"(%which) ({regions}) : (tensor<i32>) -> tensor<4xi32>
    %sum = stablehlo.reduce({read} init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xi32>, tensor<i32>) -> tensor<i32>
    %u = stablehlo.add %t, %sum : tensor<i32>
    %k = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %k, %r, %u : tensor<i32>, tensor<4xi32>, tensor<i32>
  }}
  return %out#1, %out#2 : tensor<4xi32>, tensor<i32>
}}"""


def _scattered(c: np.ndarray, i: int) -> np.ndarray:
    """An index beyond the end is not written to."""
    c = c.copy()
    c[i : i + 1] = c[1]
    return c


def _by_hand(sides: tuple[str, ...], c: np.ndarray, *, reads_after: bool) -> list[list[int] | int]:
    total = 0
    for i in range(TURNS):
        side = sides[i % len(sides)]
        after = _scattered(c, i) if side == "scatter" else SIDES[side][1](c)
        total += int((c if reads_after else after).sum())
        c = after
    return [c.tolist(), total]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("reads_after", [False, True])
@pytest.mark.parametrize(
    "sides",
    [
        *itertools.combinations(SIDES, 2),
        ("keep", "add", "reverse"),
        ("add", "reverse", "scatter"),
        ("fill", "loop", "keep"),
        ("shift", "add", "keep", "loop", "scatter"),
    ],
    ids="-".join,
)
def test_every_side_gives_its_own(sides: tuple[str, ...], reads_after: bool) -> None:
    x = np.array([1, 2, 3, 5], np.int32)
    compiled = mlir_fp8.compile(_program(sides, reads_after=reads_after), cache=False, threads=1)
    got = [result.tolist() for result in compiled(x)]
    assert got == _by_hand(sides, x, reads_after=reads_after)


# Of each: what it gives for %c and %d, tensors of type tensor<2xi32>, and for two arrays.
PAIRS = {
    "keep": ("", "%c, %d", lambda c, d: (c, d)),
    "swap": ("", "%d, %c", lambda c, d: (d, c)),
    "shift twice": (
        """%s = stablehlo.slice %c [0:1] : (tensor<2xi32>) -> tensor<1xi32>
        %v = stablehlo.dynamic_update_slice %c, %s, %one
          : (tensor<2xi32>, tensor<1xi32>, tensor<i32>) -> tensor<2xi32>""",
        "%v, %v",
        lambda c, d: (c[[0, 0]], c[[0, 0]]),
    ),
    "fill twice": (
        "%v = stablehlo.constant dense<4> : tensor<2xi32>",
        "%v, %v",
        lambda c, d: (np.full_like(c, 4), np.full_like(c, 4)),
    ),
    "add and keep": (
        "%v = stablehlo.add %c, %c : tensor<2xi32>",
        "%v, %c",
        lambda c, d: (c + c, c),
    ),
}


@pytest.mark.parametrize(
    "sides",
    [
        ("keep", "shift twice"),
        ("add and keep", "fill twice", "swap"),
        ("add and keep", "swap", "shift twice"),
        ("shift twice", "add and keep", "keep", "swap"),
    ],
    ids="-".join,
)
def test_sides_that_give_two_tensors_as_one_or_swapped(sides: tuple[str, ...]) -> None:
    regions = ", ".join(
        f"{{ {PAIRS[side][0]}\n stablehlo.return {PAIRS[side][1]} : tensor<2xi32>, tensor<2xi32> }}"
        for side in sides
    )
    compiled = mlir_fp8.compile(
        f"""func.func @main(%x: tensor<2xi32>, %y: tensor<2xi32>)
        -> (tensor<2xi32>, tensor<2xi32>) {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %turns = stablehlo.constant dense<{len(sides)}> : tensor<i32>
      %out:3 = stablehlo.while(%i = %zero, %c = %x, %d = %y)
        : tensor<i32>, tensor<2xi32>, tensor<2xi32>
      cond {{
        %p = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %r:2 = "stablehlo.case"(%i) ({regions}) : (tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
        %k = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %k, %r#0, %r#1 : tensor<i32>, tensor<2xi32>, tensor<2xi32>
      }}
      return %out#1, %out#2 : tensor<2xi32>, tensor<2xi32>
    }}""",
        cache=False,
    )
    c, d = x, y = np.array([3, 4], np.int32), np.array([5, 6], np.int32)
    for side in sides:
        c, d = PAIRS[side][2](c, d)
    assert [each.tolist() for each in compiled(x, y)] == [c.tolist(), d.tolist()]
