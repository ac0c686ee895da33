"""Upstream's inliner, after a check for what crashes it."""

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations


def inline_calls(module: ir.Operation, *then: str) -> None:
    """Inline calls without the inliner's canonicalization; then run passes.

    Raises `Fp8Error` for an op with regions that no dialect has registered.
    """
    refuse_unknown_regions(module)
    passes = ",".join(("inline{default-pipeline=}", *then))
    PassManager.parse(f"builtin.module({passes})", module.context).run(module)


def refuse_unknown_regions(module: ir.Operation) -> None:
    """Refuse unregistered ops with regions: the inliner needs their dialect's interface."""
    if not module.context.allow_unregistered_dialects:
        return
    for op in operations(module):
        if len(op.regions) and not module.context.is_registered_operation(op.name):
            raise op_error(op, "is unregistered and has regions: calls cannot be inlined beside it")
