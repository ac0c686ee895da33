"""Upstream's inliner, after a check for what crashes it."""

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import callee, operations
from mlir_fp8.lowering.rewriting.shardings import BODY


def inline_calls(module: ir.Operation, *then: str) -> None:
    """Inline calls without the inliner's canonicalization; then run passes.

    Those of manual computations of Shardy's stay: what they compute is of one device.
    Raises `Fp8Error` for an op with regions that no dialect has registered.
    """
    refuse_unknown_regions(module)
    passes = ",".join(("inline{default-pipeline=}", *then))
    # The body of a manual computation is told by being a function.
    kept = [op for op in operations(module, "func.call") if callee(op).startswith(BODY)]
    for op in kept:
        op.attributes["no_inline"] = ir.UnitAttr.get(op.context)
    PassManager.parse(f"builtin.module({passes})", module.context).run(module)
    for op in kept and operations(module, "func.call"):
        if callee(op).startswith(BODY) and "no_inline" in op.attributes:
            del op.attributes["no_inline"]


def refuse_unknown_regions(module: ir.Operation) -> None:
    """Refuse unregistered ops with regions: the inliner needs their dialect's interface."""
    if not module.context.allow_unregistered_dialects:
        return
    for op in operations(module):
        if len(op.regions) and not module.context.is_registered_operation(op.name):
            raise op_error(op, "is unregistered and has regions: calls cannot be inlined beside it")
