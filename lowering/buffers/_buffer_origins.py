"""Which buffers a tensor will alias: must alias, and may alias."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import terminator
from mlir_fp8.lowering.rewriting.stablehlo import names

LOOPS = {"scf.for": 0, "scf.while": 1}
"""Loops with loop-carried tensors, and the region that yields them."""

VIEWS = names("tensor", "cast collapse_shape expand_shape extract_slice reshape")
BRANCHES = ("scf.if", "scf.index_switch")
UPDATES = {
    "bufferization.materialize_in_destination": 1,
    "tensor.insert": 1,
    "tensor.insert_slice": 1,
}
"""Ops whose result aliases an operand, with that operand's number."""


def is_inside(value: ir.Value, holder: ir.Operation) -> bool:
    """Whether `value` is defined in a region of `holder`."""
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    while (op := block.owner.operation) != holder:
        if op.name in ("func.func", "builtin.module"):
            return False
        block = op.block
    return True


def carried_arguments(loop: ir.Operation) -> list[ir.Value]:
    """The loop-carried arguments of the region that yields, one for each value that it yields.

    `scf.for` has its induction variable before them. An aligned `scf.while` (_aligned_loops.py) has
    the values that its condition computes after them.
    """
    arguments = list(loop.regions[LOOPS[loop.name]].blocks[0].arguments)
    return arguments[1:] if loop.name == "scf.for" else arguments[: len(loop.operands)]


def inits(loop: ir.Operation) -> list[ir.Value]:
    """The loop's initial values, one for each value that it yields."""
    return list(loop.operands)[len(loop.operands) - len(carried_arguments(loop)) :]


def origins(value: ir.Value, is_origin: Callable[[ir.Value], bool]) -> set[ir.Value]:
    """The first values with `is_origin`, backwards from `value`, that it may alias."""
    found: set[ir.Value] = set()
    seen: set[ir.Value] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value.type, ir.RankedTensorType):
            continue
        seen.add(value)
        owner = value.owner
        if is_origin(value):
            found.add(value)
        elif isinstance(owner, ir.Block):
            # An argument of an inner loop starts as one of the loop's operands, or is what the
            # condition computes.
            loop = owner.owner.operation
            waiting += loop.operands
            if loop.name == "scf.while":
                waiting += terminator(loop.regions[0].blocks[0]).operands
        else:
            waiting += _shared(owner.operation, ir.OpResult(value).result_number)
    return found


def possible_origins(value: ir.Value, carried: Sequence[ir.Value]) -> set[int]:
    """The places in `carried` of the tensors that `value` may alias."""
    return {carried.index(origin) for origin in origins(value, lambda each: each in carried)}


def _shared(op: ir.Operation, number: int) -> list[ir.Value]:
    """The values that result `number` of `op` may alias."""
    if op.name.startswith("linalg."):
        return [op.operands[len(op.operands) - len(op.results) + number]]
    if op.name == "bufferization.alloc_tensor":
        return []
    if op.name in UPDATES:
        return [op.operands[UPDATES[op.name]]]
    if op.name not in LOOPS and op.name not in BRANCHES:
        return list(op.operands)
    ends = [terminator(block) for region in op.regions for block in region]
    # The first operand of `scf.condition` is the i1, which is not forwarded.
    lists = [list(end.operands)[end.name == "scf.condition" :] for end in ends]
    if op.name in LOOPS:
        lists.append(inits(op))
    return [values[number] for values in lists if number < len(values)]


def may_move(value: ir.Value, end: ir.Operation, numbers: Sequence[int]) -> bool:
    """Whether `value` may be computed into the buffers of the operands `numbers` of `end`.

    Not if a linalg op defines it and another loop, branch or update wants it in another buffer.
    """
    if isinstance(value.owner, ir.Block) or not value.owner.operation.name.startswith("linalg."):
        return True
    waiting = [value]
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            if user == end and use.operand_number in numbers:
                continue
            if user.name in VIEWS:
                waiting += user.results
            elif not _only_reads(user, use.operand_number):
                return False
    return True


def _only_reads(user: ir.Operation, number: int) -> bool:
    if user.name.startswith("linalg."):
        return number < len(user.operands) - len(user.results)
    if user.name in UPDATES:
        return number != UPDATES[user.name]
    return user.name.startswith(("bufferization.", "tensor."))
