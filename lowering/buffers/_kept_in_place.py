"""Tensors that the end of a block gives in the buffers of arguments of the block."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import bufferization

from mlir_fp8.lowering.buffers._buffer_origins import may_move, possible_origins
from mlir_fp8.lowering.buffers._buffer_updates import (
    is_plain,
    is_read_before_branch,
    separate_update,
    updated,
)


def keep_in_place(end: ir.Operation, numbers: Sequence[int], arguments: Sequence[ir.Value]) -> None:
    """Materialize operand `numbers[i]` of `end` in `arguments[i]`, unless it updates that anyway.

    An operand that may alias another of the arguments is read before that is written; where they
    form a cycle, such as a swap, one is copied.
    """
    block = end.block
    for number, argument in zip(numbers, arguments, strict=True):
        if isinstance(argument.type, ir.RankedTensorType):
            separate_update(end.operands[number], block, arguments)
    pending: dict[int, ir.Value] = {
        place: end.operands[number]
        for place, (number, argument) in enumerate(zip(numbers, arguments, strict=True))
        if isinstance(argument.type, ir.RankedTensorType)
        and updated(end.operands[number], block) != argument
    }
    origins = {place: possible_origins(value, arguments) for place, value in pending.items()}
    reads = {place: (found & pending.keys()) - {place} for place, found in origins.items()}
    with end.location, ir.InsertionPoint(end):
        for place, value in pending.items():
            # Where aliasing is known too late or never, one-shot analysis fails.
            is_safe = is_plain(value, place, arguments, block)
            is_safe = is_safe and is_read_before_branch(arguments[place], value)
            if not is_safe or not may_move(value, end, numbers):
                pending[place] = _copy(value)
                reads[place] = set()
        while pending:
            place = _next(pending, reads)
            value = pending.pop(place)
            kept = bufferization.materialize_in_destination(
                arguments[place].type, value, arguments[place]
            )
            end.operands[numbers[place]] = kept
            # Once more elsewhere: from where it now is, since it was made there at best.
            pending = {other: kept if each == value else each for other, each in pending.items()}


def _next(pending: dict[int, ir.Value], reads: Mapping[int, set[int]]) -> int:
    """A place that no other pending value may alias, after copying those that do."""

    def readers(place: int) -> list[int]:
        return [other for other in pending if place in reads[other]]

    place = min(pending, key=lambda place: len(readers(place)))
    for other in readers(place):
        pending[other] = _copy(pending[other])
        reads[other].clear()
    return place


def _copy(value: ir.Value) -> ir.Value:
    return bufferization.alloc_tensor(value.type, [], copy=value)
