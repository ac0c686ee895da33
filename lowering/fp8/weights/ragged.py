"""Which experts, matrices of a `chlo.ragged_dot`, have scales of their results."""

from collections.abc import Mapping

from torch_mlir import ir

from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, is_ragged_batch, ragged_numbers
from mlir_fp8.lowering.fp8.ops.ragged import has_scaled_form
from mlir_fp8.lowering.fp8.scaling.products import scales_sum
from mlir_fp8.lowering.fp8.weights.scaled import Scaled


def is_scaled_ragged(op: ir.Operation, sides: Mapping[int, Scaled]) -> bool:
    """Whether a ragged dot of both `sides` is an `fp8.scaled_ragged_dot`, or a scaled dot of
    batches: their scales are those of its results."""
    at_sum = all(scales_sum(op, side, each.scale) for side, each in sides.items())
    is_known = is_ragged_batch(op) or has_scaled_form(
        op, [sides[side].scale for side in sorted(sides)]
    )
    return is_known and at_sum and all(each.is_whole for each in sides.values())


def has_groups_of_rows(op: ir.Operation, scaled: Scaled) -> bool:
    """Whether a product has a scale for each of its results: a ragged dot of groups of rows.

    Where groups are of what is summed or batched over, only one scale for all is.
    """
    if op.name != RAGGED_DOT or not ir.RankedTensorType(scaled.scale.type).rank:
        return True
    numbers = ragged_numbers(op)
    return bool(numbers["rhs_group"])
