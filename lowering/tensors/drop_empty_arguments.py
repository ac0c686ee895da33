"""`drop-empty-arguments`: tensors without elements leave the signatures of public functions.

The bare-pointer calling convention can't pass a memref with a zero size.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class DropEmptyArguments(ModulePass):
    """Drop arguments and results of zero size from public functions."""

    def run(self, module: ir.Operation) -> None:
        # List all functions first: their returns are replaced, and an erased op must not be
        # visited.
        top = [op.operation for region in module.regions for block in region for op in block]
        for function in [op for op in top if op.name == "func.func"]:
            if len(function.regions[0].blocks) == 1 and _is_public(function):
                _drop(function)


def _is_public(function: ir.Operation) -> bool:
    visibility = function.attributes.get("sym_visibility")
    return visibility is None or ir.StringAttr(visibility).value == "public"


def _is_empty(type_: ir.Type) -> bool:
    return (
        isinstance(type_, ir.RankedTensorType)
        and type_.has_static_shape
        and math.prod(type_.shape) == 0
    )


def _drop(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    arguments = [index for index, a in enumerate(block.arguments) if _is_empty(a.type)]
    returned = [op.operation for op in block.operations][-1]
    results = [index for index, r in enumerate(returned.operands) if _is_empty(r.type)]
    if not arguments and not results:
        return
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for index in reversed(arguments):
            argument = block.arguments[index]
            empty = tensor.empty(argument.type.shape, argument.type.element_type)
            argument.replace_all_uses_with(empty)
            block.erase_argument(index)
    with ir.InsertionPoint(returned), returned.location:
        kept = [value for index, value in enumerate(returned.operands) if index not in results]
        ir.Operation.create("func.return", [], kept)
    returned.erase()
    with function.location:
        function.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(
                [t for index, t in enumerate(signature.inputs) if index not in arguments],
                [t for index, t in enumerate(signature.results) if index not in results],
            )
        )
        for name, dropped in (("arg_attrs", arguments), ("res_attrs", results)):
            if name in function.attributes:
                entries = list(ir.ArrayAttr(function.attributes[name]))
                kept_entries = [entry for i, entry in enumerate(entries) if i not in dropped]
                function.attributes[name] = ir.ArrayAttr.get(kept_entries)
