"""An op replaced by a StableHLO program in text: the form in which an algorithm is best read."""

import math
from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import clone_op, operations, replace_op
from mlir_fp8.lowering.rewriting.stablehlo import has_static_shape


def expand_all(module: ir.Operation, programs: dict[str, Callable[[ir.Operation], str]]) -> None:
    """Replace each op named in `programs` by the function that its entry writes for it.

    The text is a `func.func` with the op's operand and result types, and calls nothing. Ops without
    any elements are left to `stablehlo-fold-empty`.
    """
    for op in operations(module, inner_first=True):
        program = programs.get(op.name)
        if program is not None:
            expand(op, program)


def expand(op: ir.Operation, program: Callable[[ir.Operation], str]) -> None:
    """Replace one op by its program; see `expand_all`."""
    for value in (*op.operands, *op.results):
        if not has_static_shape(value):
            raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")
    if any(math.prod(result.type.shape) for result in op.results):
        replace_by(op, program(op), list(op.operands))


def _function(parsed: ir.Module, op: ir.Operation, arguments: Sequence[ir.Value]) -> ir.Operation:
    """The function of `parsed`; `ValueError` where there is not one, of the types asked for."""
    functions = [each.operation for each in parsed.body.operations]
    if len(functions) != 1 or functions[0].name != "func.func":
        raise ValueError(f"it has {len(functions)} ops, where one func.func is expected")
    (function,) = functions
    if len(function.regions[0].blocks) != 1:
        raise ValueError(f"its function has {len(function.regions[0].blocks)} blocks, not one")
    type_ = ir.TypeAttr(function.attributes["function_type"]).value
    results = [result.type for result in op.results]
    wanted = ir.FunctionType.get([each.type for each in arguments], results, op.context)
    if type_ != wanted:
        raise ValueError(f"it is {type_}, not {wanted}")
    return function


def replace_by(op: ir.Operation, text: str, arguments: Sequence[ir.Value]) -> None:
    """Put the body of the one function in `text`, on `arguments`, into the place of `op`."""
    parsed = ir.Module.parse(text, op.context)  # owns the block
    block = _function(parsed, op, arguments).regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, arguments, strict=True))
    *body, returned = block.operations
    for inner in body:
        for each in operations(clone_op(inner.operation, values, ir.InsertionPoint(op))):
            each.location = op.location
    replace_op(op, [values[value] for value in returned.operation.operands])
