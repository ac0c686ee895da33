"""`verify-convertible`: what the passes below crash on or get wrong is refused before them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.base.symbols import PREFIX
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend._specification import CONSTRAINTS
from mlir_fp8.lowering.rewriting.inlining import refuse_unknown_regions
from mlir_fp8.lowering.rewriting.retype import element_type


@dataclass(frozen=True)
class VerifyConvertible(ModulePass):
    """Refuse recursion, nested modules, and ops that crash the conversion or break constraints.

    Those are the specification's that the library's verifier does not check.
    """

    def run(self, module: ir.Operation) -> None:
        refuse_unknown_regions(module)
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


def _function(op: ir.Operation) -> str:
    for block in op.regions[0].blocks:
        end = block.operations[-1].operation.name if len(block.operations) else "nothing"
        if end not in _ENDS:
            return f"ends in {end}: let it end in func.return"
    return ""


_ENDS = frozenset(("func.return", "cf.br", "cf.cond_br", "cf.switch", "ub.unreachable"))


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
    "func.func": _function,
    "chlo.broadcast_remainder": _remainder,
    "stablehlo.constant": _constant,
    "stablehlo.remainder": _remainder,
}


def _refuse_recursion(ops: list[ir.Operation]) -> None:
    """Refuse functions that reach themselves, by calls and composites, in chains of any length."""
    functions = {symbol_name(op): op for op in ops if op.name == "func.func"}
    callees = {name: dict(_callees(function)) for name, function in functions.items()}
    finished: set[str] = set()
    for name in callees:
        # Not by recursion: chains of calls are deeper than Python's stack.
        chain = {name: iter(callees[name].items())}
        while chain:
            caller, rest = next(reversed(chain.items()))
            callee, op = next(rest, ("", None))
            if op is None:
                del chain[caller]
                finished.add(caller)
            elif callee in chain:
                shown = callee.removeprefix(PREFIX)
                raise op_error(op, f"of @{shown} is recursion, which is not compiled: use a loop")
            elif callee in callees and callee not in finished:
                chain[callee] = iter(callees[callee].items())


def _callees(function: ir.Operation) -> Iterator[tuple[str, ir.Operation]]:
    """The functions that `function` calls or has composites of, each with an op that does."""
    for op in operations(function):
        attribute = _REFERENCES.get(op.name)
        if attribute is not None:
            yield ir.FlatSymbolRefAttr(op.attributes[attribute]).value, op


_REFERENCES = {
    "func.call": "callee",
    "func.constant": "value",
    "stablehlo.composite": "decomposition",
}
