"""`fp8.scaled_ragged_dot`: products of groups of rows, or of summands, of scaled small floats."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects._fp8_ragged_rules import ragged_refusal


class ScaledRaggedDot(Fp8.Operation, name="scaled_ragged_dot", traits=[ext.Pure]):
    """D = convert(chlo.ragged_dot(a, b, group_sizes) * a_scale * b_scale), without batches.

    `a` is a matrix, `a` and `b` of formats as in `ScaledDot`; `group_sizes` has G integers, i32 or
    i64. `ragged_dot_dimension_numbers` is that of `chlo.ragged_dot`, with one contracting dimension
    of each and one ragged dimension of `a`, which is either

    - not contracted: rows. `b` has rank 3, G matrices along its group dimension. D is [m, n]: a row
      is multiplied by the matrix of its group, and 0 before it is scaled where it is of none.
    - contracted: sums. `b` is a matrix. D is [G, m, n]: the product of the columns of `a` and the
      rows of `b` (or as the numbers say) that are of a group; 0 where it is empty.

    The sum is in f32, then * a_scale, then * b_scale, each rounded to f32, then converted to D's
    type: f32, bf16 or f16. A scale is a dequantize multiplier, converted to f32. It has rank 0; or
    one number for each of the G groups; or the rank of its operand, size 1 along what is
    contracted, and elsewhere 1 or that of the operand. What b_scale says of groups is 0 for rows of
    none.

    The flag `fast_accum` lets hardware add with fewer bits; the value here is the same. Shapes are
    static.
    """

    a: ir.Value[Any]
    b: ir.Value[Any]
    group_sizes: ir.Value[Any]
    d: ir.OpResult[Any]
    a_scale: ir.Value[Any] | None = None
    b_scale: ir.Value[Any] | None = None

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, ragged_refusal(op.operation))
