"""`saturate-float-to-int`: conversions to integers are defined for every number.

LLVM's own give poison for NaN and out of range. StableHLO leaves that case open
(openxla/stablehlo#180); this saturates and gives 0 for NaN, as XLA does.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant
from mlir_fp8.lowering.rewriting.retype import element_type


@dataclass(frozen=True)
class SaturateFloatToInt(ModulePass):
    """Saturate conversions to integers, and convert NaN to 0."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "arith.fptosi", "arith.fptoui"):
            _saturate(op)


def _saturate(op: ir.Operation) -> None:
    """Selects, not branches: they vectorize, and poison that is not selected is harmless."""
    number, integers = op.operands[0], op.results[0].type
    element = ir.IntegerType(element_type(integers))
    signed = op.name == "arith.fptosi"
    most = (1 << (element.width - signed)) - 1
    least = -most - 1 if signed else 0
    with ir.InsertionPoint.after(op), op.location:

        def float_constant(value: int) -> ir.Value:
            return constant(number.type, element_type(number.type), float(value))

        above = arith.cmpf(arith.CmpFPredicate.OGE, number, float_constant(most + 1))
        below = arith.cmpf(arith.CmpFPredicate.OLE, number, float_constant(least - (not signed)))
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, number, number)
        in_range = arith.select(above, constant(integers, element, most), op.results[0])
        result = arith.select(below, constant(integers, element, least), in_range)
        result = arith.select(is_nan, constant(integers, element, 0), result)
    op.results[0].replace_all_uses_except(result, in_range.owner.operation)
