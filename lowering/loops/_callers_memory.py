"""The memory of a layer's function, given by its callers.

An allocation of its own would be one of the system in each call, which clears it page by page.
"""

from torch_mlir import ir
from torch_mlir.dialects import func, memref

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import callee, function_type, operations


def take_from_callers(module: ir.Operation, function: ir.Operation, memory: ir.Value) -> None:
    """Make `memory`, which `function` allocates and frees, one more argument of it."""
    allocation = ir.OpResult(memory).owner.operation
    argument = function.regions[0].blocks[0].add_argument(memory.type, allocation.location)
    for user in [use.owner.operation for use in memory.uses]:
        if user.name == "memref.dealloc":
            user.erase()
    memory.replace_all_uses_with(argument)
    old = function_type(function)
    new = ir.FunctionType.get([*old.inputs, memory.type], old.results)
    function.attributes["function_type"] = ir.TypeAttr.get(new)
    if "arg_attrs" in function.attributes:
        entries = [*ir.ArrayAttr(function.attributes["arg_attrs"]), ir.DictAttr.get({})]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)
    for call in operations(module, "func.call"):
        if callee(call) == symbol_name(function):
            _give(call, ir.MemRefType(memory.type))
    allocation.erase()


def _give(call: ir.Operation, type_: ir.MemRefType) -> None:
    """Call with new memory, which is freed then."""
    with ir.InsertionPoint(call), call.location:
        memory = memref.alloc(type_, [], [])
        func.CallOp([each.type for each in call.results], callee(call), [*call.operands, memory])
        memref.dealloc(memory)
    call.erase()
