"""The users of a value, and the constants that they combine it with."""

from torch_mlir import ir

from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number


def users(value: ir.Value) -> list[ir.Operation]:
    """The op of each use, in the order of the program; one that uses it twice is there twice."""
    found = [use.owner.operation for use in value.uses]
    return found[::-1]  # MLIR lists the last use first


def only_user(value: ir.Value) -> ir.Operation | None:
    """The op of the only use, if that is in the block of the op that yields `value`."""
    found = users(value)
    if len(found) != 1 or found[0].block != ir.OpResult(value).owner.operation.block:
        return None
    return found[0]


def other_operand(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The operand of a binary op that is not `value`."""
    return op.operands[1] if op.operands[0] == value else op.operands[0]


def other_number(op: ir.Operation, value: ir.Value) -> float | None:
    """The constant that a binary op takes beside `value`; None where it is no constant."""
    return splat_number(other_operand(op, value))
