"""A branch result in a loop has one buffer, never a choice of two existing ones.

One-shot analysis puts the two buffers that a branch chooses from into one alias set: a write to one
then seems to conflict with a read of the other, and the analysis fails.
"""

from itertools import chain

from torch_mlir import ir
from torch_mlir.dialects import bufferization, scf

from mlir_fp8.base.operations import operations, replace_op, terminator
from mlir_fp8.lowering.buffers._buffer_origins import (
    BRANCHES,
    LOOPS,
    carried_arguments,
    is_inside,
    may_move,
    origins,
)
from mlir_fp8.lowering.buffers._buffer_updates import (
    separate_loops,
    separate_update,
    updated,
)


def separate_branches(module: ir.Operation) -> None:
    """Give each result of a branch in a loop one buffer: that of a carried tensor, or its own.

    A tensor that is yielded to its own place in the loop may be updated in place on some sides and
    new on others; the loop joins them. Any other result is written to one new buffer.
    """
    inside = [op for op in operations(module, inner_first=True) if _is_in_loop(op)]
    for op in inside:
        if op.name in BRANCHES:
            _separate(op)
        elif op.name == "arith.select" and isinstance(op.results[0].type, ir.RankedTensorType):
            _separate(_as_branch(op))


def _is_in_loop(op: ir.Operation) -> bool:
    while op.name not in ("func.func", "builtin.module"):
        op = op.block.owner.operation
        if op.name in LOOPS:
            return True
    return False


def _as_branch(select: ir.Operation) -> ir.Operation:
    condition, *sides = select.operands
    with select.location, ir.InsertionPoint(select):
        branch = scf.IfOp(condition, [select.results[0].type], has_else=True)
    for region, value in zip(branch.operation.regions, sides, strict=True):
        with select.location, ir.InsertionPoint(region.blocks[0]):
            scf.YieldOp([value])
    replace_op(select, branch.results)
    return branch.operation


def _separate(branch: ir.Operation) -> None:
    for region in branch.regions:
        separate_twice(terminator(region.blocks[0]))
    for result in branch.results:
        if isinstance(result.type, ir.RankedTensorType):
            _separate_result(branch, result)


def separate_twice(end: ir.Operation) -> None:
    """Copy what `end` yields once more."""
    seen: set[ir.Value] = set()
    with end.location, ir.InsertionPoint(end):
        for index, value in enumerate(list(end.operands)):
            if value in seen and isinstance(value.type, ir.RankedTensorType):
                end.operands[index] = bufferization.alloc_tensor(value.type, [], copy=value)
            seen.add(value)


def _separate_result(branch: ir.Operation, result: ir.OpResult) -> None:
    number = result.result_number
    sides = [region.blocks[0] for region in branch.regions]
    values = [terminator(side).operands[number] for side in sides]
    for value, side in zip(values, sides, strict=True):
        separate_update(value, side)
    given = [origins(value, lambda each: not is_inside(each, branch)) for value in values]
    bases = [updated(value, side) for value, side in zip(values, sides, strict=True)]
    if not any(given) or all(base == bases[0] for base in bases):
        return
    joined = [_joined(value, side) for value, side in zip(values, sides, strict=True)]
    kept = next((base for base in chain(*joined) if _goes_back(result, base)), None)
    if kept is not None:
        # One-shot analysis sees a conflict between a loop's read in one iteration and any later
        # write.
        for value, side, found, shared in zip(values, sides, joined, given, strict=True):
            if kept in found:
                separate_loops(value, side)
            elif shared or _is_made_by_regions(value):
                with branch.location, ir.InsertionPoint(terminator(side)):
                    copy = bufferization.alloc_tensor(value.type, [], copy=value)
                    terminator(side).operands[number] = copy
        return
    with branch.location, ir.InsertionPoint(branch):
        destination = bufferization.alloc_tensor(result.type, [])
    for side in sides:
        end = terminator(side)
        value = end.operands[number]
        with end.location, ir.InsertionPoint(end):
            if not may_move(value, end, [number]):
                value = bufferization.alloc_tensor(value.type, [], copy=value)
            end.operands[number] = bufferization.materialize_in_destination(
                result.type, value, destination
            )


def _is_made_by_regions(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name in (
        *LOOPS,
        *BRANCHES,
    )


def _joined(value: ir.Value, side: ir.Block) -> list[ir.Value]:
    """What `value` updates: where a branch in `side` gives it, what each side of that updates."""
    base = updated(value, side)
    if isinstance(base.owner, ir.Block) or base.owner.operation.name not in BRANCHES:
        return [base]
    branch = base.owner.operation
    if branch.block != side:
        return [base]
    number = ir.OpResult(base).result_number
    blocks = [region.blocks[0] for region in branch.regions]
    return [each for block in blocks for each in _joined(terminator(block).operands[number], block)]


def _goes_back(value: ir.Value, base: ir.Value) -> bool:
    """Whether `base` is loop-carried, and `value` is what is yielded in its place."""
    if not isinstance(base.owner, ir.Block) or base.owner.owner.operation.name not in LOOPS:
        return False
    ends = [use for use in value.uses if use.owner.operation.name == "scf.yield"]
    return bool(ends) and all(_ends_in(use, base) for use in ends)


def _ends_in(use: ir.OpOperand, base: ir.Value) -> bool:
    end = use.owner.operation
    holder = end.block.owner.operation
    if holder.name in BRANCHES:
        return _goes_back(holder.results[use.operand_number], base)
    return carried_arguments(holder)[use.operand_number] == base
