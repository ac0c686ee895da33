"""`verify-convertible`: what the passes below crash on or get wrong is refused before them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.context import op_error, symbol_name
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import element_type, operations
from mlir_fp8.lowering._specification import CONSTRAINTS


@dataclass(frozen=True)
class VerifyConvertible(ModulePass):
    """Refuse recursion, nested modules, and ops that crash the conversion or break constraints.

    Those are the specification's that the library's verifier does not check.
    """

    def run(self, module: ir.Operation) -> None:
        ops = operations(module)
        _refuse_recursion(ops)
        for op in ops[1:]:
            reason = _REFUSED.get(op.name, _accepted)(op)
            reason = reason or CONSTRAINTS.get(op.name, _accepted)(op)
            if reason:
                raise op_error(op, reason)


def _accepted(op: ir.Operation) -> str:
    return ""


def _constant(op: ir.Operation) -> str:
    type_ = op.results[0].type
    if not isinstance(type_, ir.RankedTensorType) or math.prod(type_.shape) < 1 << 32:
        return ""
    return f"of {type_} has too many elements: broadcast a smaller constant"


def _nested_module(op: ir.Operation) -> str:
    return "inside a module is not compiled: make its functions the outer module's"


def _remainder(op: ir.Operation) -> str:
    if not isinstance(element_type(op.results[0].type), ir.ComplexType):
        return ""
    return (
        "of complex numbers is not defined by the specification: divide, round both parts and "
        "subtract"
    )


_REFUSED: dict[str, Callable[[ir.Operation], str]] = {
    "builtin.module": _nested_module,
    "chlo.broadcast_remainder": _remainder,
    "stablehlo.constant": _constant,
    "stablehlo.remainder": _remainder,
}


def _refuse_recursion(ops: list[ir.Operation]) -> None:
    functions = {symbol_name(op): op for op in ops if op.name == "func.func"}
    callees = {name: dict(_calls(function)) for name, function in functions.items()}
    finished: set[str] = set()

    def visit(name: str, callers: tuple[str, ...]) -> None:
        for callee, call in callees[name].items():
            if callee in (*callers, name):
                reason = f"of @{callee} is recursion, which is not compiled: use a loop"
                raise op_error(call, reason)
            if callee in callees and callee not in finished:
                visit(callee, (*callers, name))
        finished.add(name)

    for name in callees:
        if name not in finished:
            visit(name, ())


def _calls(function: ir.Operation) -> Iterator[tuple[str, ir.Operation]]:
    for op in operations(function):
        if op.name == "func.call":
            yield ir.FlatSymbolRefAttr(op.attributes["callee"]).value, op
