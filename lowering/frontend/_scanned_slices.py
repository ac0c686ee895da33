"""A loop that reads slice i of one tensor and writes slice i of another, in one tensor.

`lax.scan` has what it takes a slice of in each iteration (`xs`) apart from what it stacks (`ys`).
"""

from torch_mlir import ir

from mlir_fp8.base.operations import producer, terminator
from mlir_fp8.lowering.rewriting.carries import carry_alone, counter_of
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape

_FOLLOWED = {
    "stablehlo.broadcast_in_dim": (0,),
    "stablehlo.dynamic_update_slice": (0,),
    "stablehlo.reshape": (0,),
    "stablehlo.scatter": (0,),
    "stablehlo.select": (1, 2),
}
"""Ops that may give what they take with rows in it, and which operand that is."""


def share_slices(loop: ir.Operation) -> None:
    """Let `loop`, a `stablehlo.while`, stack into the tensor that it takes the slices of.

    Where iteration i of as many as there are slices reads slice i of a tensor that it does not
    change, and writes what is made of that as slice i of another, of which it reads nothing: the
    second then starts as the first, whose slice i is in it until it is written.
    """
    while (found := _shared(loop)) is not None:
        number, read, outer, place = found
        loop.operands[number] = outer
        read.operands[0] = loop.regions[1].blocks[0].arguments[number]
        if place is None:
            continue
        loop = carry_alone(loop, [n for n in range(len(loop.operands)) if n != place])


def _shared(loop: ir.Operation) -> tuple[int, ir.Operation, ir.Value, int | None] | None:
    """The place of what is stacked, the read of slice i, what it reads, and the place of that."""
    counted = counter_of(loop)
    if counted is None:
        return None
    counter, trips = counted
    condition, body = (region.blocks[0] for region in loop.regions)
    for number, (value, stack) in enumerate(
        zip(terminator(body).operands, body.arguments, strict=True)
    ):
        write = producer(value)
        if write is None or write.name != "stablehlo.dynamic_update_slice":
            continue
        is_alone = _uses(stack) == 1 and _uses(condition.arguments[number]) == 0
        shape = ir.RankedTensorType(write.operands[1].type).shape
        if write.operands[0] != stack or not is_alone or not _is_slice(stack, shape, trips):
            continue
        if write.operands[2] != body.arguments[counter] or write.block != body:
            continue
        read = _read(write.operands[1], list(shape), body.arguments[counter], stack)
        if read is None or read.block != body:
            continue
        outer, place = _outside(loop, read.operands[0])
        if outer is not None:
            return number, read, outer, place
    return None


def _is_slice(stack: ir.Value, shape: list[int], trips: int) -> bool:
    whole = list(ir.RankedTensorType(stack.type).shape)
    return has_static_shape(stack) and list(shape) == [1, *whole[1:]] and whole[:1] == [trips]


def _read(
    value: ir.Value, shape: list[int], index: ir.Value, stack: ir.Value
) -> ir.Operation | None:
    """The `dynamic_slice` at `index` that `value` is made of, of another tensor like `stack`."""
    waiting, seen = [value], 0
    while waiting and seen < 64:
        seen += 1
        op = producer(waiting.pop())
        if op is None:
            continue
        if op.name == "stablehlo.dynamic_slice":
            sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
            source = op.operands[0]
            is_like = source.type == stack.type and source != stack and sizes == shape
            if is_like and op.operands[1] == index:
                return op
        waiting += [op.operands[i] for i in _FOLLOWED.get(op.name, ())]
    return None


def _outside(loop: ir.Operation, value: ir.Value) -> tuple[ir.Value | None, int | None]:
    """What `value`, read once in the body, is outside of `loop`, and its place if it is carried."""
    condition, body = (region.blocks[0] for region in loop.regions)
    if isinstance(value.owner, ir.Block) and value.owner == body:
        place = ir.BlockArgument(value).arg_number
        is_kept = terminator(body).operands[place] == value
        is_read_once = _uses(value) == 2 and _uses(condition.arguments[place]) == 0
        return (loop.operands[place], place) if is_kept and is_read_once else (None, None)
    holder = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
    inside = [use.owner.operation for use in value.uses if _is_inside(use.owner.operation, loop)]
    is_outer = holder != body and not _is_inside_block(holder, loop)
    return (value, None) if is_outer and len(inside) == 1 else (None, None)


def _is_inside(op: ir.Operation, loop: ir.Operation) -> bool:
    return _is_inside_block(op.block, loop)


def _is_inside_block(block: ir.Block, loop: ir.Operation) -> bool:
    holder = block.owner.operation
    while holder.name not in ("func.func", "builtin.module"):
        if holder == loop:
            return True
        holder = holder.block.owner.operation
    return False


def _uses(value: ir.Value) -> int:
    return len(list(value.uses))
