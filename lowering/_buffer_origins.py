"""Whose buffer a tensor will be in: what is certain, and what is possible."""

from collections.abc import Sequence

from torch_mlir import ir

LOOPS = {"scf.for": 0, "scf.while": 1}
"""The loops that carry tensors, with the region that yields them."""

_BRANCHES = ("scf.if", "scf.index_switch")
# The operand that the result takes its buffer from.
_UPDATES = {"tensor.insert": 1, "tensor.insert_slice": 1}


def terminator(block: ir.Block) -> ir.Operation:
    return list(block.operations)[-1].operation


def updated(value: ir.Value, block: ir.Block) -> ir.Value:
    """The first of the tensors that `value` updates, step by step in `block`, with no copy.

    The steps are updates by insertion, loops that carry the tensor in place, and branches that do
    so on all sides. The walk ends where the tensor before the step is still read after it.
    """
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.block != block:
            break
        before = _before(op, ir.OpResult(value).result_number)
        if before is None or not _is_read_before(before, op):
            break
        value = before
    return value


def _before(op: ir.Operation, number: int) -> ir.Value | None:
    if op.name in _UPDATES:
        return op.operands[_UPDATES[op.name]]
    if op.name in LOOPS:
        return op.operands[len(op.operands) - len(op.results) + number]
    if op.name not in _BRANCHES:
        return None
    ends = [(terminator(region.blocks[0]), region.blocks[0]) for region in op.regions]
    first, *others = [updated(end.operands[number], block) for end, block in ends]
    is_outer = isinstance(first.owner, ir.Block) or first.owner.operation.parent != op
    return first if is_outer and all(other == first for other in others) else None


def _is_read_before(tensor: ir.Value, op: ir.Operation) -> bool:
    """Whether every other use of `tensor` in the block of `op` comes before `op`."""
    for use in tensor.uses:
        user = use.owner.operation
        ancestor = _ancestor_in_block(user, op.block)
        if ancestor is None:
            continue
        is_inside = ancestor == op and user != op
        if is_inside and op.name in LOOPS:
            return False
        if ancestor != op and not ancestor.is_before_in_block(op):
            return False
    return True


def _ancestor_in_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of `block` that `op` is or is inside of; None where it is elsewhere."""
    while op.block != block:
        op = op.block.owner.operation
        if op.name == "func.func":
            return None
    return op


def possible_origins(value: ir.Value, carried: Sequence[ir.Value]) -> set[int]:
    """The places in `carried` of the tensors whose buffers `value` may share."""
    found: set[int] = set()
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value.type, ir.RankedTensorType):
            continue
        seen.add(value)
        if value in carried:
            found.add(carried.index(value))
        owner = value.owner
        # An argument of an inner loop starts as one of the loop's operands.
        is_argument = isinstance(owner, ir.Block)
        waiting += owner.owner.operation.operands if is_argument else _shared(owner.operation)
    return found


def _shared(op: ir.Operation) -> list[ir.Value]:
    """The values whose buffers a result of `op` may share."""
    if op.name.startswith("linalg."):
        return list(op.operands)[-len(op.results) :]
    ends = [terminator(block) for region in op.regions for block in region]
    return [*op.operands, *(value for end in ends for value in end.operands)]
