"""`fp8-kernels-for-xla-gpu`: codes that are transposed and reshaped before dots take them.

What is quantized is moved instead, and a kernel gives both codes and their transpose.
"""

import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from gpu_tables import table
from plain_quantizations import parsed, with_plain_ops

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu

_F8 = "f8E5M2"
_AMAX = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %abs = stablehlo.abs %0 : tensor<{x}xf32>
  %amax = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across
    dimensions = [{all}] : (tensor<{x}xf32>, tensor<f32>) -> tensor<f32>"""
_DOT = """
  %y = "fp8.scaled_dot"(%g, %m) {{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions
    = [1], rhs_contracting_dimensions = [{rows}]>, fast_accum, operandSegmentSizes = array<i32: 1,
    1, 0, 0, 0, 0, 0>}} : (tensor<{g}xf8E4M3FN>, tensor<{m}xf8E5M2>) -> tensor<{y}xf32>"""
Move = list[int] | tuple[int, ...]
"""The permutation of a transpose, or the shape of a reshape."""


def _shape(sizes: Move) -> str:
    return "x".join(map(str, sizes))


def _module(sizes: Move, moves: list[Move], *, amax: bool, wide: str = "bf16") -> str:
    """Of `x`, quantized and moved: the codes, a dot that contracts their rows, and amax.

    `g` has 8 rows for dots of matrices of as many rows as the codes.
    """
    x = _shape(sizes)
    lines, name = "", "q"
    for number, move in enumerate(moves):
        before, new = _shape(sizes), f"m{number}"
        is_shape = isinstance(move, tuple)
        sizes = move if is_shape else [sizes[dim] for dim in move]
        what = f"reshape %{name}" if is_shape else f"transpose %{name}, dims = {move}"
        types = f"(tensor<{before}x{_F8}>) -> tensor<{_shape(sizes)}x{_F8}>"
        lines += f"\n  %{new} = stablehlo.{what} : {types}"
        name = new
    *leading, columns = sizes
    m, g, y = _shape(sizes), f"8x{math.prod(leading)}", f"8x{columns}"
    flat = f"{math.prod(leading)}x{columns}"
    lines += f"\n  %m = stablehlo.reshape %{name} : (tensor<{m}x{_F8}>) -> tensor<{flat}x{_F8}>"
    lines += _DOT.format(rows=0, g=g, m=flat, y=y)
    every = ", ".join(map(str, range(x.count("x") + 1)))
    lines += _AMAX.format(x=x, all=every) if amax else ""
    names = f"%{name}, %y" + ", %amax" * amax
    types = f"tensor<{m}x{_F8}>, tensor<{y}xf32>" + ", tensor<f32>" * amax
    start = f"%0 = stablehlo.convert %x : (tensor<{x}x{wide}>) -> tensor<{x}xf32>"
    return f"""
func.func @main(%x: tensor<{x}x{wide}>, %s: tensor<f32>, %g: tensor<{g}xf8E4M3FN>) -> ({types}) {{
  {start}
  %q = "fp8.quantize"(%0, %s) {{saturate}} : (tensor<{x}xf32>, tensor<f32>) -> tensor<{x}x{_F8}>
  {lines}
  return {names} : {types}
}}"""


_MOVES: dict[str, tuple[Move, list[Move]]] = {
    "gradients of q, k and v": ([3, 2, 8, 4, 4], [[1, 2, 0, 3, 4], (2, 8, 48)]),
    "heads": ([2, 4, 8, 16], [[0, 3, 1, 2], (2, 16, 32)]),
    "no reshape": ([4, 6, 16], [[1, 0, 2]]),
    "a reshape before": ([24, 16], [(4, 6, 16), [1, 0, 2]]),
    "several transposes": ([4, 6, 2, 8], [[1, 0, 2, 3], (6, 8, 8), [1, 0, 2], (8, 48)]),
    "one that the kernel makes behind another": ([4, 6, 16], [[1, 0, 2], (24, 16), [1, 0]]),
    "a reshape alone": ([4, 6, 2, 8], [(24, 16)]),
}


@pytest.mark.parametrize("amax", [True, False])
@pytest.mark.parametrize("name", list(_MOVES))
def test_the_wide_tensor_is_moved(tmp_path: Path, name: str, *, amax: bool) -> None:
    sizes, moves = _MOVES[name]
    text = _module(sizes, moves, amax=amax)
    module = parsed(text)
    rates = dict.fromkeys(["copy", "quantize_transpose_by_8", "quantize_transpose_of_any"], 1e6)
    Fp8KernelsForXlaGpu(table(tmp_path, launch=1e-6, quantize_transpose=1e6, **rates)).run(
        module.operation
    )
    (call,) = operations(module.operation, "stablehlo.custom_call")
    assert len(call.results) == 1 + (moves[-1] != [1, 0]) + amax
    assert not operations(module.operation, "fp8.quantize", "stablehlo.abs", "stablehlo.reduce")
    with_plain_ops(module)
    assert module.operation.verify()
    random = np.random.default_rng(1)
    # Of integers, whose sums are exact in any order.
    x = random.integers(-4, 5, sizes).astype(ml_dtypes.bfloat16)
    x.flat[:5] = [-0.0, np.nan, np.inf, -np.inf, 0.0]
    g = random.integers(-4, 5, (8, math.prod(sizes))).astype(ml_dtypes.float8_e4m3fn)
    rows = mlir_fp8.compile(parsed(text)).arguments[2].shape[1]
    given = (x, np.float32(0.25), np.ascontiguousarray(g[:, :rows]))
    for got, want in zip(
        mlir_fp8.compile(module)(*given), mlir_fp8.compile(parsed(text))(*given), strict=True
    ):
        assert got.tobytes() == want.tobytes()


def _remarks(capsys: pytest.CaptureFixture[str], text: str) -> str:
    module = parsed(text)
    before = str(module)
    Fp8KernelsForXlaGpu("h200", remarks=True).run(module.operation)
    told = capsys.readouterr().err
    assert ("becomes" in told) == (str(module) != before)
    return told


_LARGE: tuple[Move, list[Move]] = ([4, 32, 128, 2048], [[0, 3, 1, 2], (4, 2048, 4096)])


def test_a_remark_says_what_is_moved(capsys: pytest.CaptureFixture[str]) -> None:
    told = _remarks(capsys, _module(*_LARGE, amax=True))
    moves = "'stablehlo.transpose', 'stablehlo.reshape' of what is quantized in place of its codes"
    assert "'fp8.quantize' becomes quantize_transpose: 84.7 us" in told
    assert f", behind {moves}" in told


def test_a_move_that_costs_more_than_it_saves_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    """Of f32, which is twice what XLA reads where it quantizes first."""
    told = _remarks(capsys, _module(*_LARGE, amax=True, wide="f32"))
    assert "'fp8.quantize' is left to XLA: " in told
    assert "us by the table, " in told


def test_a_reshape_costs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    told = _remarks(capsys, _module([4, 2048, 32, 128], [(4, 2048, 4096)], amax=True, wide="f32"))
    assert "becomes quantize_transpose: 58.9 us" in told
    unit = _module([1, 4, 2048, 4096], [[1, 0, 2, 3], (4, 2048, 4096)], amax=True, wide="f32")
    assert "becomes quantize_transpose: 58.9 us" in _remarks(capsys, unit)


def test_codes_of_two_readers_are_left(capsys: pytest.CaptureFixture[str]) -> None:
    text = _module(*_LARGE, amax=True)
    text = text.replace("return %m1", "return %q, %m1")
    types = "tensor<4x32x128x2048xf8E5M2>, tensor<4x2048x4096xf8E5M2>"
    text = text.replace("(tensor<4x2048x4096xf8E5M2>, tensor<8x", f"({types}, tensor<8x")
    text = text.replace(" : tensor<4x2048x4096xf8E5M2>, tensor<8x", f" : {types}, tensor<8x")
    assert "is left to XLA: no dot takes its transpose" in _remarks(capsys, text)
