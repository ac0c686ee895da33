"""What only moves narrow floats keeps their bits: all codes, NaN payloads and signed zeros too."""

from collections.abc import Callable

import numpy as np
import pytest
from float_cases import code_dtype, compile_ops

from mlir_fp8.dialects.float_formats import NARROW_FLOATS, FloatFormat

Codes = np.ndarray

GATHER = """"stablehlo.gather"(%0, %rows) <{{
  dimension_numbers = #stablehlo.gather<offset_dims = [1],
  collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
  slice_sizes = array<i64: 1, {n}>}}> : ({s}, tensor<{n}x1xi32>) -> {s}"""
SCATTER = """"stablehlo.scatter"(%other, %rows, %0) <{{
  scatter_dimension_numbers = #stablehlo.scatter<
  update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
  index_vector_dim = 1>}}> ({{
  ^bb0(%old: {e}, %new: {e}):
    stablehlo.return %new : {e}
  }}) : ({s}, tensor<{n}x1xi32>, {s}) -> {s}"""
# Rows reversed, by keys that are integers.
SORT = """"stablehlo.sort"(%keys, %0) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %v: {e}, %w: {e}):
    %less = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) : (tensor<{n}x{n}xi32>, {s}) -> (tensor<{n}x{n}xi32>, {s})"""
WHILE = """stablehlo.while(%i = %zero, %x = %0) : tensor<i32>, {s}
   cond {{
    %again = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %again : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.reverse %x, dims = [0] : {s}
    stablehlo.return %j, %y : tensor<i32>, {s}
  }}"""
IF = """"stablehlo.if"(%p) ({{
    stablehlo.return %0 : {s}
  }}, {{
    stablehlo.return %other : {s}
  }}) : (tensor<i1>) -> {s}"""
BEFORE = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %p = stablehlo.compare LT, %zero, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %other = stablehlo.reverse %0, dims = [0, 1] : {s}
  %first = stablehlo.slice %0 [0:1, 0:1] : ({s}) -> tensor<1x1x{f}>
  %scalar = stablehlo.reshape %first : (tensor<1x1x{f}>) -> {e}
  %up = stablehlo.iota dim = 0 : tensor<{n}xi32>
  %down = stablehlo.reverse %up, dims = [0] : tensor<{n}xi32>
  %rows = stablehlo.reshape %down : (tensor<{n}xi32>) -> tensor<{n}x1xi32>
  %keys = stablehlo.broadcast_in_dim %down, dims = [0] : (tensor<{n}xi32>) -> tensor<{n}x{n}xi32>
  %column = stablehlo.slice %0 [0:{n}, 0:1] : ({s}) -> tensor<{n}x1x{f}>
  %odd = stablehlo.iota dim = 1 : tensor<{n}x{n}xi32>
  %twos = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> tensor<{n}x{n}xi32>
  %bit = stablehlo.and %odd, %twos : tensor<{n}x{n}xi32>
  %mask = stablehlo.convert %bit : (tensor<{n}x{n}xi32>) -> tensor<{n}x{n}xi1>
  %sorted:2 = {sort}
  %carried:2 = {loop}
  %bits = stablehlo.bitcast_convert %0 : ({s}) -> tensor<{n}x{n}x{i}>
"""


def padded(x: Codes) -> Codes:
    """Interior padding of one in the columns, by the first code."""
    result = np.full((len(x), 2 * len(x) - 1), x[0, 0])
    result[:, ::2] = x
    return result


def updated(x: Codes) -> Codes:
    result = x[::-1, ::-1].copy()
    result[:, 1:2] = x[:, :1]
    return result


OPS: dict[str, tuple[str, Callable[[Codes], Codes]]] = {
    "reshape": ("stablehlo.reshape %0 : ({s}) -> tensor<{nn}x{f}>", np.ravel),
    "transpose": ("stablehlo.transpose %0, dims = [1, 0] : ({s}) -> {s}", np.transpose),
    "slice": ("stablehlo.slice %0 [0:{n}:2, 1:{n}] : ({s}) -> tensor<{h}x{m}x{f}>",
              lambda x: x[::2, 1:]),
    "reverse": ("stablehlo.reverse %0, dims = [1] : {s}", lambda x: x[:, ::-1]),
    "broadcast_in_dim": (
        "stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<{n}x1x{f}>) -> {s}",
        lambda x: np.tile(x[:, :1], (1, len(x)))),
    "concatenate": ("stablehlo.concatenate %0, %other, dim = 0 : ({s}, {s}) -> tensor<{t}x{n}x{f}>",
                    lambda x: np.concatenate([x, x[::-1, ::-1]])),
    "pad": ("stablehlo.pad %0, %scalar, low = [0, 0], high = [0, 0], interior = [0, 1]"
            " : ({s}, {e}) -> tensor<{n}x{w}x{f}>", padded),
    "select": ("stablehlo.select %mask, %0, %other : tensor<{n}x{n}xi1>, {s}",
               lambda x: np.where(np.arange(len(x)) % 2, x, x[::-1, ::-1])),
    "dynamic_slice": ("stablehlo.dynamic_slice %0, %one, %zero, sizes = [2, {n}]"
                      " : ({s}, tensor<i32>, tensor<i32>) -> tensor<2x{n}x{f}>", lambda x: x[1:3]),
    "dynamic_update_slice": (
        "stablehlo.dynamic_update_slice %other, %column, %zero, %one"
        " : ({s}, tensor<{n}x1x{f}>, tensor<i32>, tensor<i32>) -> {s}", updated),
    "bitcast_convert": ("stablehlo.bitcast_convert %bits : (tensor<{n}x{n}x{i}>) -> {s}",
                        lambda x: x),
    "gather": (GATHER, lambda x: x[::-1]),
    "scatter": (SCATTER, lambda x: x[::-1]),
    "sort": ("stablehlo.transpose %sorted#1, dims = [1, 0] : ({s}) -> {s}", lambda x: x[::-1].T),
    "while": ("stablehlo.reverse %carried#1, dims = [0] : {s}", lambda x: x),
    "if": (IF, lambda x: x),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fmt", NARROW_FLOATS.values(), ids=lambda fmt: fmt.name)
def test_movement_keeps_bits(fmt: FloatFormat) -> None:
    codes = np.arange(1 << fmt.bits, dtype=np.uint32).astype(code_dtype(fmt))
    n = int(len(codes) ** 0.5)
    codes = codes.reshape(n, n)
    names = {
        "n": n, "nn": n * n, "h": n // 2, "m": n - 1, "t": 2 * n, "w": 2 * n - 1,
        # StableHLO has no i6.
        "f": fmt.name, "i": "f6E3M2FN" if fmt.bits == 6 else f"i{fmt.bits}",
        "e": f"tensor<{fmt.name}>", "s": f"tensor<{n}x{n}x{fmt.name}>",
    }  # fmt: skip
    parts = {"sort": SORT.format(**names), "loop": WHILE.format(**names)}
    wants = {op: np.ascontiguousarray(move(codes)) for op, (_, move) in OPS.items()}
    ops = [
        (text.format(**names), f"tensor<{'x'.join(map(str, wants[op].shape))}x{fmt.name}>")
        for op, (text, _) in OPS.items()
    ]
    compiled = compile_ops([names["s"]], ops, BEFORE.format(**names, **parts))
    for op, got in zip(OPS, compiled(codes.view(fmt.dtype)), strict=True):
        np.testing.assert_array_equal(got.view(codes.dtype), wants[op], op)
