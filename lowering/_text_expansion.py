"""An op replaced by a StableHLO program in text: the form in which an algorithm is best read."""

import math
from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.context import op_error
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import has_static_shape


def expand_all(module: ir.Operation, programs: dict[str, Callable[[ir.Operation], str]]) -> None:
    """Replace each op named in `programs` by the function that its entry writes for it.

    The text is a `func.func` with the op's operand and result types, and calls nothing. Ops without
    any elements are left to `stablehlo-fold-empty`.
    """
    for op in operations(module, inner_first=True):
        program = programs.get(op.name)
        if program is None:
            continue
        _require_static_shapes(op)
        if math.prod(op.results[0].type.shape):
            _replace_by(op, program(op))


def _require_static_shapes(op: ir.Operation) -> None:
    for value in (*op.operands, *op.results):
        if not has_static_shape(value):
            raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")


def _replace_by(op: ir.Operation, text: str) -> None:
    """Put the body of the one function in `text` into the place of `op`, at its location."""
    parsed = ir.Module.parse(text, op.context)
    block = parsed.body.operations[0].operation.regions[0].blocks[0]
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, op.operands, strict=True))
    *body, returned = block.operations
    for inner in body:
        copy = inner.operation.clone(ir.InsertionPoint(op))
        for each in operations(copy, inner_first=True):
            each.location = op.location
            for index, operand in enumerate(each.operands):
                each.operands[index] = values.get(operand, operand)
        values.update(zip(inner.operation.results, copy.results, strict=True))
    for result, value in zip(op.results, returned.operation.operands, strict=True):
        result.replace_all_uses_with(values[value])
    op.erase()
