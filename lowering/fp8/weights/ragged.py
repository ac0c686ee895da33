"""Which experts, matrices of a `chlo.ragged_dot`, have scales of their results."""

from torch_mlir import ir

from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT, ragged_numbers
from mlir_fp8.lowering.fp8.weights.scaled import Scaled


def has_groups_of_rows(op: ir.Operation, scaled: Scaled) -> bool:
    """Whether a product has a scale for each of its results: a ragged dot of groups of rows.

    Where groups are of what is summed or batched over, only one scale for all is.
    """
    if op.name != RAGGED_DOT or not ir.RankedTensorType(scaled.scale.type).rank:
        return True
    numbers = ragged_numbers(op)
    return bool(numbers["rhs_group"])
