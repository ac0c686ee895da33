"""The function that is quantized, with all that it calls in it."""

from torch_mlir import ir

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.composite_to_fp8 import CompositeToFp8
from mlir_fp8.lowering.frontend.composite_to_ragged_dot import CompositeToRaggedDot
from mlir_fp8.lowering.rewriting.inlining import inline_calls


def inlined_entry(module: ir.Operation, entry: str) -> ir.Operation:
    """The `func.func` named `entry`, after calls are inlined; what is then unused is gone."""
    find_entry(module, entry)
    CompositeToRaggedDot().run(module)
    CompositeToFp8().run(module)  # what an artifact made of an earlier pass
    inline_calls(module, "symbol-dce")
    function = find_entry(module, entry)
    for op in operations(module):
        if entry in _callees(op):
            raise op_error(
                op, f"calls '{entry}', whose arguments change: give it a copy of its own"
            )
    return function


def called_functions(module: ir.Operation, function: ir.Operation) -> list[ir.Operation]:
    """The functions that `function` still needs: by calls that stay, and by composites."""
    functions = {symbol_name(op): op for op in _functions(module)}
    reached: dict[str, ir.Operation] = {}
    unseen = [function]
    while unseen:
        for op in operations(unseen.pop()):
            for name in _callees(op):
                if name in functions and name not in reached and functions[name] != function:
                    reached[name] = functions[name]
                    unseen.append(functions[name])
    return list(reached.values())


def _callees(op: ir.Operation) -> list[str]:
    found = [op.attributes[name] for name in ("callee", "decomposition") if name in op.attributes]
    return [each.value for each in found if isinstance(each, ir.FlatSymbolRefAttr)]


def _functions(module: ir.Operation) -> list[ir.Operation]:
    found = [op.operation for op in module.regions[0].blocks[0].operations]
    return [op for op in found if op.name == "func.func"]


def find_entry(module: ir.Operation, entry: str) -> ir.Operation:
    """The public `func.func` named `entry`, which has a body of one block."""
    functions = _functions(module)
    found = [op for op in functions if symbol_name(op) == entry]
    if not found:
        known = ", ".join(map(symbol_name, functions)) or "none"
        raise Fp8Error(f"there is no function '{entry}' (functions: {known}): name one by entry=")
    (function,) = found
    if len(function.regions[0].blocks) != 1:
        raise op_error(function, "is to be quantized, and has no body of one block: give it one")
    visibility = function.attributes
    if "sym_visibility" in visibility and str(visibility["sym_visibility"]) == '"private"':
        raise op_error(function, f"'{entry}' is private: quantize a public function")
    return function
