"""`linalg-detensorize`: in loops and branches, linalg on rank-0 tensors becomes scalar code.

A rank-0 tensor becomes a buffer: a counter or a comparison would go through memory in each
iteration. Outside of loops rank-0 tensors stay, and fuse into the ops that use them; but where they
only have `tensor.extract` users, as the bounds of a clamp do, they become scalars too.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class LinalgDetensorize(ModulePass):
    """Inline each rank-0 `linalg.generic` that is in an scf op, or only has extracts as users."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "linalg.generic"):
            if (_is_inside_scf(op) or _is_only_extracted(op)) and _is_rank_0(op):
                with op.location, ir.InsertionPoint(op):
                    _inline(op)


def _is_inside_scf(op: ir.Operation) -> bool:
    return op.block.owner.operation.name.startswith("scf.")


def _is_only_extracted(op: ir.Operation) -> bool:
    return all(use.owner.name == "tensor.extract" for result in op.results for use in result.uses)


def _is_rank_0(op: ir.Operation) -> bool:
    return all(
        not isinstance(value.type, ir.ShapedType)
        or (isinstance(value.type, ir.RankedTensorType) and value.type.rank == 0)
        for value in op.operands
    )


def _inline(op: ir.Operation) -> None:
    block = op.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        is_tensor = isinstance(operand.type, ir.RankedTensorType)
        argument.replace_all_uses_with(tensor.extract(operand, []) if is_tensor else operand)
    *body, returned = [inner.operation for inner in block.operations]
    for inner in body:
        inner.move_before(op)
    types = [result.type for result in op.results]
    replace_op(op, map(tensor.from_elements, types, [[value] for value in returned.operands]))
