"""`carry-in-place`: each loop-carried tensor stays in one buffer.

One-shot bufferization needs every yielded tensor to alias its iteration argument, or allocates and
copies in each iteration. `bufferization.materialize_in_destination` makes it so: it costs a copy at
most, and none for an elementwise op, which then writes to that buffer.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import bufferization

from mlir_fp8.base.operations import operations, terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.buffers._aligned_loops import align
from mlir_fp8.lowering.buffers._buffer_origins import (
    LOOPS,
    carried_arguments,
    may_move,
    possible_origins,
)
from mlir_fp8.lowering.buffers._buffer_updates import (
    is_plain,
    is_read_before_branch,
    separate_update,
    updated,
)
from mlir_fp8.lowering.buffers._separate_branches import separate_branches


@dataclass(frozen=True)
class CarryInPlace(ModulePass):
    """Materialize the tensors that `scf.for` and `scf.while` yield in those that they carry.

    What is updated in place anyway stays as it is. A yielded tensor that may alias another carried
    one is read before that is written; where they form a cycle, such as a swap, one is copied.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "scf.while", inner_first=True):
            align(op)
        separate_branches(module)
        for op in operations(module, *LOOPS):
            _separate_empty(op)
            _carry(op)


def _separate_empty(loop: ir.Operation) -> None:
    """Give each carried `tensor.empty` one of its own: without contents there is no conflict."""
    seen: set[ir.Value] = set()
    for index, value in enumerate(loop.operands):
        if isinstance(value.owner, ir.Block) or value.owner.operation.name != "tensor.empty":
            continue
        if value in seen:
            with ir.InsertionPoint(loop):
                loop.operands[index] = value.owner.operation.clone().results[0]
        seen.add(value)


def _carry(loop: ir.Operation) -> None:
    block = loop.regions[LOOPS[loop.name]].blocks[0]
    yielded = terminator(block)
    carried = carried_arguments(loop)
    for argument, value in zip(carried, yielded.operands, strict=True):
        if isinstance(argument.type, ir.RankedTensorType):
            separate_update(value, block, carried)
    pending = {
        place: value
        for place, (argument, value) in enumerate(zip(carried, yielded.operands, strict=True))
        if isinstance(argument.type, ir.RankedTensorType) and updated(value, block) != argument
    }
    origins = {place: possible_origins(value, carried) for place, value in pending.items()}
    reads = {place: (found & pending.keys()) - {place} for place, found in origins.items()}
    with yielded.location, ir.InsertionPoint(yielded):
        for place, value in pending.items():
            # Where aliasing is known too late or never, one-shot analysis fails.
            is_safe = is_plain(value, place, carried, block)
            is_safe = is_safe and is_read_before_branch(carried[place], value)
            if not is_safe or not may_move(value, yielded, range(len(carried))):
                pending[place] = _copy(value)
                reads[place] = set()
        while pending:
            place = _next(pending, reads)
            value = pending.pop(place)
            kept = bufferization.materialize_in_destination(
                carried[place].type, value, carried[place]
            )
            yielded.operands[place] = kept
            # Once more elsewhere: from where it now is, since it was made there at best.
            pending = {other: kept if each == value else each for other, each in pending.items()}


def _next(pending: dict[int, ir.Value], reads: dict[int, set[int]]) -> int:
    """A place that no other pending value may alias, after copying those that do."""

    def readers(place: int) -> list[int]:
        return [other for other in pending if place in reads[other]]

    place = min(pending, key=lambda place: len(readers(place)))
    for other in readers(place):
        pending[other] = _copy(pending[other])
        reads[other] = set()
    return place


def _copy(value: ir.Value) -> ir.Value:
    return bufferization.alloc_tensor(value.type, [], copy=value)
