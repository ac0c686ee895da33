"""The ops to hoist above a product so that a value dominates it."""

from torch_mlir import ir

from mlir_fp8.lowering.kernels.contractions.buffer_uses import VIEWS, BlockOrder
from mlir_fp8.lowering.rewriting.stablehlo import names

_BUFFERS = VIEWS | names("memref", "alloc get_global")


def moved_before(value: ir.Value, op: ir.Operation, order: BlockOrder) -> list[ir.Operation] | None:
    """The ops after `op`, in order, that `value` depends on; None if one cannot be hoisted."""
    found: dict[ir.Operation, None] = {}

    def visit(value: ir.Value) -> bool:
        if isinstance(value.owner, ir.Block):
            return True
        maker = value.owner.operation
        if maker in found or not order.comes_before(op, maker):
            return True
        is_load = maker.name == "memref.load"
        if is_load and not order.is_unchanged(maker.operands[0], op, maker):
            return False
        if not is_load and maker.name not in _BUFFERS and not maker.name.startswith("arith."):
            return False
        if not all(map(visit, maker.operands)):
            return False
        found[maker] = None
        return True

    return list(found) if visit(value) else None
