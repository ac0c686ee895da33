"""Operands of `fp8.scaled_ragged_dot`s as kernels read them: what is contracted comes last."""

from torch_mlir import ir

from mlir_fp8.dialects._fp8_ragged_parts import RaggedParts
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, ragged_attribute, ragged_numbers
from mlir_fp8.lowering.gpu.kernels.product.shape import SPAN

RAGGED = "fp8.scaled_ragged_dot"


def is_b_turned(parts: RaggedParts) -> bool:
    """Whether b has, of each column, what all groups multiply by it, in whole steps of a kernel."""
    order = (parts.free[1], parts.group, parts.contracted[1])
    return order == (0, 1, 2) and _summands(parts) % SPAN == 0


def takes_turned(parts: RaggedParts, side: int) -> bool:
    """Whether a kernel takes the transpose of an operand, its last dimension first, as it lies."""
    scale = (parts.a_scale, parts.b_scale)[side]
    if scale is not None and ir.RankedTensorType(scale.type).rank > 1:
        return False
    if side == 1 and parts.group is not None:
        return (parts.group, parts.contracted[1]) == (0, 1) and _summands(parts) % SPAN == 0
    return parts.contracted[side] == 0


def turn_ragged(op: ir.Operation, side: int) -> None:
    """Let the dimensions of an operand be those of its transpose."""
    numbers = ragged_numbers(op)
    rank = ir.RankedTensorType(op.operands[side].type).rank
    for name in numbers:
        if name.startswith(("lhs", "rhs")[side]):
            numbers[name] = [(dim + 1) % rank for dim in numbers[name]]
    op.attributes[NUMBERS] = ragged_attribute(numbers)


def _summands(parts: RaggedParts) -> int:
    return ir.RankedTensorType(parts.a.type).shape[parts.contracted[0]]
