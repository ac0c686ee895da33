"""Constants quantized while the module is made: their codes and scales, computed in numpy.

The steps are those of `scaled.quantized`, each rounded to f32 as there.
"""

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.context import op_error
from mlir_fp8.base.dense_numbers import constant_array
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.fp8.weights.code_formats import INT8, largest_code
from mlir_fp8.lowering.fp8.weights.layouts import Blocks, scale_shape
from mlir_fp8.lowering.fp8.weights.scale_rules import F32, scale_element, scales_of_array
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.stablehlo import build


def quantized_constant(
    op: ir.Operation,
    blocks: Blocks,
    format_: str,
    smoothing: np.ndarray | None = None,
    rule: str = F32,
) -> Scaled:
    """New constants before `op`, a `stablehlo.constant` of wide floats: its codes and scales.

    With `smoothing` they are those of the constant times these factors, rounded to f32.
    """
    numbers = constant_array(op.attributes["value"]).astype(np.float32)
    if smoothing is not None:
        numbers = numbers * smoothing
    if not np.isfinite(numbers).all():
        raise op_error(op, "is a weight with infinite or NaN elements: leave it out of weights")
    codes, scale, factor = quantized_array(numbers, blocks, format_, rule)
    with ir.InsertionPoint(op), op.location:
        of_tensor = None if factor is None else _constant(np.asarray(factor), "f32")
        of_blocks = _constant(scale, scale_element(rule))
        return Scaled(_constant(codes, format_), of_blocks, blocks, factor=of_tensor)


def quantized_array(
    numbers: np.ndarray, blocks: Blocks, format_: str, rule: str = F32
) -> tuple[np.ndarray, np.ndarray, np.float32 | None]:
    """Codes and scales of finite f32 `numbers`, and with NVFP4 the number of all of them."""
    largest = np.float32(largest_code(format_))
    shape = numbers.shape
    amax = np.abs(numbers)
    for axis, (size, block) in enumerate(zip(shape, blocks, strict=True)):
        starts = np.arange(0, size, block or max(size, 1))
        amax = np.maximum.reduceat(amax, starts, axis) if size else amax
    scale, factor = scales_of_array(amax.astype(np.float32), format_, rule)
    spread = scale.astype(np.float32) * (np.float32(1) if factor is None else factor)
    for axis, (size, block) in enumerate(zip(shape, blocks, strict=True)):
        spread = spread.repeat(min(block or size, size) or 1, axis).take(range(size), axis)
    scaled = np.clip(numbers / spread, -largest, largest)
    codes = (np.round(scaled) if format_ == INT8 else scaled).astype(element_dtype(format_))
    return codes, scale.reshape(scale_shape(shape, blocks)), factor


def _constant(array: np.ndarray, element: str) -> ir.Value:
    type_ = ir.RankedTensorType.get(list(array.shape), ir.Type.parse(element))
    value = dense(array, element, type_.context)
    return build("constant", type_, [], {"value": value})
