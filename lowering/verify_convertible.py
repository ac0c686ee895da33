"""`verify-convertible`: what upstream's conversion to linalg crashes on is refused before it."""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.context import op_error
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import element_type, operations


@dataclass(frozen=True)
class VerifyConvertible(ModulePass):
    """Refuse the StableHLO ops that stablehlo-legalize-to-linalg crashes on."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            reason = _CRASHES.get(op.name, _never)(op)
            if reason:
                raise op_error(op, reason)


def _never(op: ir.Operation) -> str:
    return ""


def _bitcast_convert(op: ir.Operation) -> str:
    types = [element_type(value.type) for value in (*op.operands, *op.results)]
    if not any(isinstance(type_, ir.ComplexType) for type_ in types):
        return ""
    return "on complex numbers has no lowering: bitcast their real and imaginary parts"


_CRASHES: dict[str, Callable[[ir.Operation], str]] = {
    "stablehlo.bitcast_convert": _bitcast_convert,
}
