"""Which tensor another updates in place; copies where one-shot analysis misses a conflict."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import bufferization

from mlir_fp8.base.operations import callee, terminator
from mlir_fp8.lowering.buffers._buffer_origins import (
    BRANCHES,
    LOOPS,
    UPDATES,
    VIEWS,
    inits,
    is_inside,
    possible_origins,
)


def updated(value: ir.Value, block: ir.Block) -> ir.Value:
    """The first of the tensors that `value` updates in place, step by step in `block`.

    The steps are updates by insertion, loops that carry the tensor in place, branches that do so on
    all sides, and calls of functions that give an argument after such steps. The walk ends where
    the tensor before the step is still read after it.
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


def separate_update(
    value: ir.Value, block: ir.Block, tensors: Sequence[ir.Value] | None = None
) -> None:
    """Let the first step of those in `block` that give `value` update a copy of its own.

    Only where the tensor that it updates, one of `tensors` if given, is still live: across loops
    and branches one-shot analysis does not insert that copy itself.
    """
    value = updated(value, block)
    if isinstance(value.owner, ir.Block):
        return
    op = value.owner.operation
    number = ir.OpResult(value).result_number
    if op.block != block or op.name in BRANCHES or _before(op, number) is None:
        return
    if tensors is None or op.operands[_updated_operand(op, number)] in tensors:
        _copy_operand(op, number)


def separate_loops(value: ir.Value, block: ir.Block) -> None:
    """Let loops in `block`, branches in it too, that give `value` in place carry copies."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.block == block:
        op = value.owner.operation
        number = ir.OpResult(value).result_number
        if op.name in BRANCHES:
            for region in op.regions:
                side = region.blocks[0]
                separate_loops(terminator(side).operands[number], side)
            return
        before = _before(op, number)
        if before is None:
            return
        if op.name in LOOPS:
            _copy_operand(op, number)
            return
        value = before


def _copy_operand(op: ir.Operation, number: int) -> None:
    """Let result `number` of `op` alias a copy."""
    place = _updated_operand(op, number)
    value = op.operands[place]
    with op.location, ir.InsertionPoint(op):
        op.operands[place] = bufferization.alloc_tensor(value.type, [], copy=value)


def _updated_operand(op: ir.Operation, number: int) -> int:
    if op.name in UPDATES:
        return UPDATES[op.name]
    if op.name == "func.call":
        place = _updated_argument(op, number)
        assert place is not None
        return place
    return len(op.operands) - len(inits(op)) + number


def _updated_argument(call: ir.Operation, number: int) -> int | None:
    """The number of the argument that the function that `call` calls gives as result `number`."""
    module = call.parent
    while module is not None and module.name != "builtin.module":
        module = module.parent
    assert module is not None
    function = ir.SymbolTable(module)[callee(call)].operation
    if not len(function.regions[0].blocks):
        return None
    block = function.regions[0].blocks[0]
    value = updated(terminator(block).operands[number], block)
    return ir.BlockArgument(value).arg_number if isinstance(value.owner, ir.Block) else None


def _before(op: ir.Operation, number: int) -> ir.Value | None:
    if op.name in UPDATES:
        return op.operands[UPDATES[op.name]]
    if op.name in LOOPS:
        starts = inits(op)
        return starts[number] if number < len(starts) else None
    if op.name == "func.call":
        place = _updated_argument(op, number)
        return None if place is None else op.operands[place]
    if op.name not in BRANCHES:
        return None
    ends = [(terminator(region.blocks[0]), region.blocks[0]) for region in op.regions]
    first, *others = [updated(end.operands[number], block) for end, block in ends]
    is_outer = isinstance(first.owner, ir.Block) or first.owner.operation.parent != op
    return first if is_outer and all(other == first for other in others) else None


def _is_read_before(tensor: ir.Value, op: ir.Operation) -> bool:
    """Whether every other use of what may alias `tensor` comes before `op`."""
    around = _around(op, tensor)
    users = _users(tensor, around)
    if users.count(op) > 1:
        return False
    if any(holder.name in LOOPS for holder in around[1:]):
        return False  # the next iteration reads it
    return not any(_is_after(user, op, around) for user in users if user != op)


def _users(tensor: ir.Value, around: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Users of `tensor`, its views and the branch results that alias it; not through ops
    `around`."""
    found: list[ir.Operation] = []
    seen: set[ir.Value] = set()
    waiting = [tensor]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.owner.operation
            found.append(user)
            holder = user.block.owner.operation
            if user.name in VIEWS and user not in around:
                waiting += user.results
            elif user.name == "scf.yield" and holder.name in BRANCHES and holder not in around:
                waiting.append(holder.results[use.operand_number])
    return found


def _around(op: ir.Operation, tensor: ir.Value) -> list[ir.Operation]:
    """`op` and its ancestors, up to the block that defines `tensor`."""
    owner = tensor.owner
    home = owner if isinstance(owner, ir.Block) else owner.operation.block
    found = [op]
    while found[-1].block != home:
        found.append(found[-1].block.owner.operation)
    return found


def _is_after(user: ir.Operation, op: ir.Operation, around: Sequence[ir.Operation]) -> bool:
    """Whether `user` may run once `op`, whose ancestors are `around`, has begun."""
    while True:
        for holder in around:
            if user == holder:  # inside of `op`, or on another side of a branch around it
                return holder == op and op.name in LOOPS
            if user.block == holder.block:
                return not user.is_before_in_block(holder)
        user = user.block.owner.operation


def is_read_before_branch(tensor: ir.Value, value: ir.Value) -> bool:
    """Whether a branch that yields `value` may write to the buffer of `tensor`: no read comes
    later.

    On each side, too, before the op that defines `value` there. `tensor` is a loop-carried
    argument.
    """
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name not in BRANCHES:
        return True
    if not is_inside(value, ir.BlockArgument(tensor).owner.owner.operation):
        return True  # defined before the loop
    branch, number = owner.operation, ir.OpResult(value).result_number
    given = [terminator(region.blocks[0]).operands[number] for region in branch.regions]
    return (
        _is_read_before(tensor, branch)
        and all(is_read_before_branch(tensor, each) for each in given)
        and all(not _is_read_after(tensor, each) for each in given if is_inside(each, branch))
    )


def _is_read_after(tensor: ir.Value, value: ir.Value) -> bool:
    if isinstance(value.owner, ir.Block):
        return False
    op = value.owner.operation
    around = _around(op, tensor)
    return any(_is_after(user, op, around) for user in _users(tensor, around) if user != op)


def is_plain(value: ir.Value, place: int, carried: Sequence[ir.Value], block: ir.Block) -> bool:
    """Whether it is certain that `value` aliases `carried[place]`, or certain that it does not.

    On each side of a branch it may alias that tensor or be new, but not alias another carried one.
    """
    if updated(value, block) == carried[place]:
        return True
    places = possible_origins(value, carried)
    if place not in places:
        return True
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name not in BRANCHES:
        return False
    number = ir.OpResult(value).result_number
    sides = [region.blocks[0] for region in owner.operation.regions]
    return places == {place} and all(
        is_plain(terminator(side).operands[number], place, carried, side) for side in sides
    )
