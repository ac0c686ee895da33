"""`bf16-functions-to-math`: functions whose operand and result are bf16 may be approximated.

On f32 such a function computes in f64 to round correctly. From bf16 to bf16 an approximation with a
far larger error gives the same result, which is verified on all 65,536 operands.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant
from mlir_fp8.lowering.real_functions.expansions import approximate
from mlir_fp8.lowering.real_functions.of_constants import of_constants
from mlir_fp8.lowering.rewriting.linalg_ops import elementwise
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape


@dataclass(frozen=True)
class Bf16FunctionsToMath(ModulePass):
    """Turn erf, exponential, logistic and tanh on f32, between converts from and to bf16, to math.

    The math ops have `fastmath<afn>`, which `math-expand-in-f64` keeps in f32. Scalars and dynamic
    shapes are left alone.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            found = [op for op in operations(module) if op.name in _FUNCTIONS and _is_of_bf16(op)]
            for op, is_constant in zip(found, of_constants(found), strict=True):
                function, operand = _FUNCTIONS[op.name], op.operands[0]
                with ir.InsertionPoint(op), op.location:
                    result = elementwise(function, operand) if is_constant else function(operand)
                replace_op(op, [result])


def _is_of_bf16(op: ir.Operation) -> bool:
    """Whether the operand is exact in bf16, and all uses of the result round it to bf16."""
    (operand,), result = op.operands, op.results[0]
    source = operand.owner
    return (
        has_static_shape(result)
        and ir.RankedTensorType(result.type).rank > 0
        and isinstance(element_type(result), ir.F32Type)
        and not isinstance(source, ir.Block)
        and source.name == "stablehlo.convert"
        and isinstance(element_type(source.operands[0]), ir.BF16Type)
        and all(_is_convert_to_bf16(use.owner) for use in result.uses)
    )


def _is_convert_to_bf16(op: ir.Operation | ir.OpView) -> bool:
    is_convert = op.operation.name == "stablehlo.convert"
    return is_convert and isinstance(element_type(op.operation.results[0]), ir.BF16Type)


def _erf(x: ir.Value) -> ir.Value:
    return math.erf(x, fastmath=approximate())


def _exp(x: ir.Value) -> ir.Value:
    return math.exp(x, fastmath=approximate())


def _tanh(x: ir.Value) -> ir.Value:
    return math.tanh(x, fastmath=approximate())


def _logistic(x: ir.Value) -> ir.Value:
    """1 / (1 + e**-x), and e**x / (1 + e**x) where x is negative: neither overflows."""
    one = constant(x.type, ir.F32Type.get(), 1.0)
    zero = constant(x.type, ir.F32Type.get(), 0.0)
    is_negative = arith.cmpf(arith.CmpFPredicate.OLT, x, zero)
    power = _exp(arith.select(is_negative, x, arith.negf(x)))
    return arith.divf(arith.select(is_negative, power, one), arith.addf(one, power))


_FUNCTIONS: dict[str, Callable[[ir.Value], ir.Value]] = {
    "chlo.erf": _erf,
    "stablehlo.exponential": _exp,
    "stablehlo.logistic": _logistic,
    "stablehlo.tanh": _tanh,
}
