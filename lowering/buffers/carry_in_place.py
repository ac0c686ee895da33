"""`carry-in-place`: each loop-carried tensor stays in one buffer.

One-shot bufferization needs every yielded tensor to alias its iteration argument, or allocates and
copies in each iteration. `bufferization.materialize_in_destination` makes it so: it costs a copy at
most, and none for an elementwise op, which then writes to that buffer.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.buffers._aligned_loops import align
from mlir_fp8.lowering.buffers._buffer_origins import LOOPS, carried_arguments
from mlir_fp8.lowering.buffers._kept_in_place import keep_in_place
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
    yielded = terminator(loop.regions[LOOPS[loop.name]].blocks[0])
    carried = carried_arguments(loop)
    keep_in_place(yielded, range(len(carried)), carried)
