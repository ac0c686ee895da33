"""`protect-arguments`: no buffer of the caller is written to, and no two results alias.

One-shot bufferization assumes that every function argument is writable and updates it in place. A
tensor that is returned twice would be one buffer, where callers (and the upstream pass that turns
results into arguments) expect two. Of a function that is called the analysis knows which arguments
it writes to: there the caller makes a copy, and only where it reads the tensor again.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import callee, operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.buffers._separate_branches import separate_twice


@dataclass(frozen=True)
class ProtectArguments(ModulePass):
    """Mark tensor arguments `bufferization.writable = false`; copy tensors returned twice.

    Arguments of functions that the module calls are not marked.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            ops = operations(module)
            called = {callee(op) for op in ops if op.name == "func.call"}
            for op in ops:
                if op.name == "func.return":
                    separate_twice(op)
                elif (
                    op.name == "func.func"
                    and len(op.regions[0].blocks)
                    and symbol_name(op) not in called
                ):
                    _protect(op)


def _protect(function: ir.Operation) -> None:
    read_only = ir.BoolAttr.get(False)
    old = function.attributes.get("arg_attrs")
    protected: list[ir.Attribute] = []
    for index, argument in enumerate(function.regions[0].blocks[0].arguments):
        entries = {}
        if old is not None:
            entries = {named.name: named.attr for named in ir.DictAttr(ir.ArrayAttr(old)[index])}
        if isinstance(argument.type, ir.RankedTensorType):
            entries["bufferization.writable"] = read_only
        protected.append(ir.DictAttr.get(entries))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(protected)
