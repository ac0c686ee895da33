"""`one-shot-bufferize-or-copy`: bufferization, with copies where its analysis fails.

What `carry-in-place` asks for may conflict with a read that one-shot analysis sees, or wrongly
assumes where branches choose between tensors. The analysis fails before it changes anything.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import bufferization
from torch_mlir.passmanager import PassManager

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass

_BUFFERIZE = (
    "eliminate-empty-tensors,empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{{bufferize-function-boundaries allow-return-allocs-from-loops={}"
    " function-boundary-type-conversion=identity-layout-map"
    " unknown-type-conversion=identity-layout-map}}"
)


@dataclass(frozen=True)
class OneShotBufferizeOrCopy(ModulePass):
    """Run `one-shot-bufferize` on whole modules, with identity layouts at functions.

    Before it, `eliminate-empty-tensors`, which does the same analysis. Where one of them finds an
    unavoidable read-after-write conflict, each `bufferization.materialize_in_destination` becomes a
    copy into a new buffer. That is slower, and as right.
    """

    def run(self, module: ir.Operation) -> None:
        context = module.context
        are_shown, context.emit_error_diagnostics = context.emit_error_diagnostics, False
        try:
            _bufferize(module, may_return_allocations=False)
        except ir.MLIRError as error:
            if not any(_CONFLICT in each.message for each in error.error_diagnostics):
                raise
            for op in operations(module):
                if op.name == "bufferization.materialize_in_destination" and len(op.results):
                    _copy_instead(op)
            _bufferize(module, may_return_allocations=True)
        finally:
            context.emit_error_diagnostics = are_shown


_CONFLICT = "cannot avoid RaW conflict"


def _bufferize(module: ir.Operation, *, may_return_allocations: bool) -> None:
    text = _BUFFERIZE.format(str(may_return_allocations).lower())
    manager = PassManager.parse(f"builtin.module({text})", module.context)
    manager.enable_verifier(False)  # the caller of this pass chooses
    manager.run(module)


def _copy_instead(op: ir.Operation) -> None:
    source, destination = op.operands
    with op.location, ir.InsertionPoint(op):
        copy = bufferization.alloc_tensor(destination.type, [], copy=source)
    replace_op(op, [copy])
