"""`fp8.scaled_dot` and `fp8.scaled_convolution`: products of scaled small floats."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_product_rules import product_refusal


class ScaledDot(Fp8.Operation, name="scaled_dot", traits=[ext.Pure]):
    """D = convert(clamp(act(alpha * (a * a_scale) . (b * b_scale) + beta * c + bias) / d_scale)).

    `a`, `b`: f8, f6 or f4, of one family (OCP: f8E5M2, f8E4M3FN, f6, f4; IEEE:
    f8E5M2, f8E4M3, f8E3M4; FNUZ; B11FNUZ). `dot_dimension_numbers` is that of
    `stablehlo.dot_general`. Scales are dequantize multipliers in the shapes of `_fp8_scales`,
    reciprocals with the flags `a_inverse`, `b_inverse`, `d_inverse`. Wherever a scale, `c` or
    `bias` is not of the type that a step computes in, it is converted to it before, which rounds
    once.

    The sum. `operand_type` T is bf16, f16, f32 or absent:

    - T: each operand is dequantized to T as `fp8.dequantize` does (convert, multiply or divide,
      rounded to T); one without a scale is converted to T, which is exact. Then the dot, whose
      products are exact or rounded to `accumulation_type` and added in it.
    - absent: the dot of the small floats themselves; then the f32 sum * a_scale, then * b_scale
      (or divided by), each rounded to f32. Scales have size 1 along contracting dimensions.

    `accumulation_type` is f32, the default, and no other. `dot_type` R (bf16, f16 or f32, the
    default): the sum is rounded to it. `epilogue_type` E (bf16, f16 or f32; R by default): the sum
    is converted to it. All further steps are in E, each rounds to E:

    1. x * alpha, a float of E, where given.
    2. x + c, or x + c * beta where the float `beta` of E is given; `c` has D's shape.
    3. x + bias; `bias` has one element for each index of D's last dimension.
    4. `activation`: "none"; "relu": max(x, 0), NaN stays; "gelu_tanh", as jax.nn.gelu:
       x * (0.5 * (1 + tanh(k1 * (x + k0 * (x * (x * x)))))) with k0 = 0.044715 and
       k1 = sqrt(2 / pi) rounded to E; "gelu_erf", as jax.nn.gelu(approximate=False):
       (0.5 * x) * erfc(-x * k) with k = sqrt(0.5) rounded to E, erfc computed in f32.
    5. With the flag `amax`: a second result, a scalar of E, max |x|: 0 without elements, NaN where
       any x is NaN. It does not change x.
    6. x / d_scale, or x * d_scale with `d_inverse`, where given.
    7. With the flag `saturate`, for f8, f6 and f4: clamped to the largest finite values of D.
    8. Converted to D's element type: nearest, ties to even.

    The flag `fast_accum` lets hardware add with fewer bits; the value here is the same. NaN and
    infinity in an operand go through products and sums as in any dot. Sizes may be 0: a dot over
    none is 0. Shapes are static.
    """

    a: ir.Value[Any]
    b: ir.Value[Any]
    d: ir.OpResult[Any]
    a_scale: ir.Value[Any] | None = None
    b_scale: ir.Value[Any] | None = None
    c: ir.Value[Any] | None = None
    bias: ir.Value[Any] | None = None
    d_scale: ir.Value[Any] | None = None
    # The accessors of results would want an attribute of sizes: read `results`.
    amax: ir.OpResult[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, product_refusal(op.operation))


class ScaledConvolution(Fp8.Operation, name="scaled_convolution", traits=[ext.Pure]):
    """As `ScaledDot`, with a convolution in the place of the dot.

    The attributes of `stablehlo.convolution` (`window_strides`, `padding`, `lhs_dilation`,
    `rhs_dilation`, `window_reversal`, `dimension_numbers`, `feature_group_count`,
    `batch_group_count`) mean what they mean there. `bias` has one element for each index of the
    output feature dimension. Without `operand_type`, scales have rank 0. Padding adds exact zeros
    after dequantizing.
    """

    a: ir.Value[Any]
    b: ir.Value[Any]
    d: ir.OpResult[Any]
    a_scale: ir.Value[Any] | None = None
    b_scale: ir.Value[Any] | None = None
    c: ir.Value[Any] | None = None
    bias: ir.Value[Any] | None = None
    d_scale: ir.Value[Any] | None = None
    amax: ir.OpResult[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, product_refusal(op.operation))
