"""`fp8-kernels-for-xla-gpu`: dots that take codes along either dimension, also by way of reshapes.

The call is computed by plain ops in its place, and the module then gives what it gave before.
"""

from pathlib import Path

import numpy as np
import pytest
from gpu_tables import table
from plain_quantizations import parsed, with_plain_ops

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu

# A weight of a stack, a row of it, as the body of a loop slices it: the step's product takes its
# rows as they are, the gradient's its columns.
STEP = """
func.func @main(%w: tensor<{w}xbf16>, %s: tensor<f32>, %x: tensor<{x}xf8E4M3FN>,
    %g: tensor<{g}xf8E4M3FN>) -> ({results}) {{
  %0 = stablehlo.convert %w : (tensor<{w}xbf16>) -> tensor<{w}xf32>
  %q = "fp8.quantize"(%0, %s) {{saturate}} : (tensor<{w}xf32>, tensor<f32>) -> tensor<{w}xf8E4M3FN>
  {body}
}}"""
_TURNED = """
  %y = "fp8.scaled_dot"(%x, %m) {{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions
    = [1], rhs_contracting_dimensions = [{rows}]>, fast_accum, operandSegmentSizes = array<i32: 1,
    1, 0, 0, 0, 0, 0>}} : (tensor<{x}xf8E4M3FN>, tensor<{m}xf8E4M3FN>) -> tensor<{y}xf32>"""
_PLAIN = """
  %d = "fp8.scaled_dot"(%g, %m) {{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions
    = [1], rhs_contracting_dimensions = [{columns}]>, fast_accum, operandSegmentSizes =
    array<i32: 1, 1, 0, 0, 0, 0, 0>}} : (tensor<{g}xf8E4M3FN>, tensor<{m}xf8E4M3FN>)
    -> tensor<{d}xf32>"""
_MATRIX = "%m = stablehlo.reshape %q : (tensor<{w}xf8E4M3FN>) -> tensor<{m}xf8E4M3FN>"


def _module(*, gradient: bool) -> str:
    """Weights `[1, 64, 128]` of a stack as `[64, 128]`; with both products, or the turned alone."""
    sizes = {"w": "1x64x128", "m": "64x128", "x": "16x64", "g": "16x128", "y": "16x128"}
    sizes |= {"d": "16x64", "rows": "0", "columns": "1"}
    body = _MATRIX + _TURNED + (_PLAIN if gradient else "")
    names, types = ("%y, %d", "tensor<{y}xf32>, tensor<{d}xf32>") if gradient else (
        "%y", "tensor<{y}xf32>")  # fmt: skip
    body += f"\n  return {names} : {types}"
    return STEP.format(body=body.format(**sizes), results=types.format(**sizes), **sizes)


@pytest.mark.parametrize("gradient", [True, False])
def test_a_slice_of_a_stack_is_turned(tmp_path: Path, *, gradient: bool) -> None:
    text = _module(gradient=gradient)
    module = parsed(text)
    Fp8KernelsForXlaGpu(table(tmp_path, quantize_transpose_of_any=3000.0)).run(module.operation)
    (call,) = operations(module.operation, "stablehlo.custom_call")
    assert len(call.results) == 1 + gradient
    with_plain_ops(module)
    assert module.operation.verify()
    random = np.random.default_rng(1)
    dtypes = [each.dtype for each in mlir_fp8.compile(mlir_fp8.load(text)).arguments]
    # Of integers, whose sums are exact in any order.
    w, x, g = (
        random.integers(-4, 5, shape).astype(np.float32).astype(dtypes[which])
        for shape, which in (((1, 64, 128), 0), ((16, 64), 2), ((16, 128), 3))
    )
    given = (w, np.float32(0.25), x, g)
    for got, want in zip(
        mlir_fp8.compile(module)(*given), mlir_fp8.compile(parsed(text))(*given), strict=True
    ):
        np.testing.assert_array_equal(got, want)
