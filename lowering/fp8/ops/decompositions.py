"""What each op of the `fp8` dialect is in StableHLO: the one place that says so.

The op's meaning is exactly its decomposition under docs/numerics.md. `fp8-legalize-to-stablehlo`
puts it in the place of the op, `fp8-to-composite` into a function: so both compute the same.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.lowering.fp8.ops.attention import attention
from mlir_fp8.lowering.fp8.ops.attention_backward import attention_backward
from mlir_fp8.lowering.fp8.ops.convert import rounded_convert
from mlir_fp8.lowering.fp8.ops.products import scaled_product
from mlir_fp8.lowering.fp8.ops.ragged import scaled_ragged_dot
from mlir_fp8.lowering.fp8.ops.scaling import dequantize, quantize
from mlir_fp8.lowering.fp8.ops.uniform import uniform_dequantize, uniform_quantize
from mlir_fp8.lowering.fp8.ops.unpack import unpack
from mlir_fp8.lowering.fp8.ops.update_scale import update_scale

Decomposition = Callable[[ir.Operation, Sequence[ir.Value]], list[ir.Value]]
"""Builds the results of an op, on values in the place of its operands, where ops are inserted."""

DECOMPOSITIONS: dict[str, Decomposition] = {
    "fp8.attention": attention,
    "fp8.attention_backward": attention_backward,
    "fp8.convert": rounded_convert,
    "fp8.dequantize": dequantize,
    "fp8.quantize": quantize,
    "fp8.scaled_convolution": scaled_product,
    "fp8.scaled_dot": scaled_product,
    "fp8.scaled_ragged_dot": scaled_ragged_dot,
    "fp8.uniform_dequantize": uniform_dequantize,
    "fp8.uniform_quantize": uniform_quantize,
    "fp8.unpack": unpack,
    "fp8.update_scale": update_scale,
}
"""By name of the op. StableHLO alone, but for `chlo.erfc` of f32 in a product's gelu_erf, and
`chlo.ragged_dot`."""
