"""Names of a function's arguments and results, in attributes that artifacts keep.

`mlir_fp8.name` is written by `mlir_fp8.torch.export`: the name of a weight in the model, of an
input, of what a result is. State of FP8 scaling is named by `mlir_fp8.state`.
"""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.compiling.entry import entry_function
from mlir_fp8.lowering.fp8.scaling.state import STATE
from mlir_fp8.lowering.fp8.weights.names import NAME as NAME
from mlir_fp8.lowering.frontend.stablehlo_flatten_signatures import flattened


def argument_names(module: ir.Module, entry: str = "main") -> list[str]:
    """The name of each argument of `entry` as `entry_signature` has them; empty without one."""
    return _names(entry_function(module, entry), "arg_attrs", 0)


def result_names(module: ir.Module, entry: str = "main") -> list[str]:
    """The name of each result of `entry`; empty without one."""
    return _names(entry_function(module, entry), "res_attrs", 1)


def give_names(module: ir.Module, arguments: Sequence[str], results: Sequence[str]) -> None:
    """Name the arguments and results of `main`."""
    function = entry_function(module, "main")
    with module.context:
        for key, names in (("arg_attrs", arguments), ("res_attrs", results)):
            given = [ir.DictAttr.get({NAME: ir.StringAttr.get(name)}) for name in names]
            function.attributes[key] = ir.ArrayAttr.get(given)


def _names(function: ir.Operation, key: str, which: int) -> list[str]:
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    types = (type_.inputs, type_.results)[which]
    taken = list(flattened(types))
    if key not in function.attributes or len(taken) != len(types):
        return [""] * len(taken)
    return [_name(ir.DictAttr(each)) for each in ir.ArrayAttr(function.attributes[key])]


def _name(attributes: ir.DictAttr) -> str:
    for key in (NAME, STATE):
        if key in attributes and isinstance(attributes[key], ir.StringAttr):
            return ir.StringAttr(attributes[key]).value
    return ""
