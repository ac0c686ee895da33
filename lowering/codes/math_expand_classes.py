"""`math-expand-classes`: `math.isinf`, `isnormal` and `clampf` become comparisons.

Upstream has no patterns for `isinf` and `isnormal`, nor one for `clampf` to LLVM. A subnormal of f8
or f16 is normal in f32: `isnormal` is expanded before these types are widened.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, FloatFormat
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.rewriting.retype import element_type


@dataclass(frozen=True)
class MathExpandClasses(ModulePass):
    """Expand `math.isinf`, `math.isnormal` and `math.clampf` on scalars and static tensors.

    Narrow floats are compared in f32, which holds all their numbers. `clampf` is the `maximumf` of
    its first two operands, and the `minimumf` of that and the third: NaN stays NaN.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            expansion = _EXPANSIONS.get(op.name)
            if expansion is None or not _is_known(op.operands[0].type):
                continue
            with ir.InsertionPoint(op), op.location:
                value = expansion(op)
            replace_op(op, [value])


def _is_known(type_: ir.Type) -> bool:
    """Whether constants of the type can be written, and its format is in the table."""
    if isinstance(type_, ir.ShapedType) and not (type_.has_rank and type_.has_static_shape):
        return False
    return str(element_type(type_)) in FORMATS


def _is_infinite(op: ir.Operation) -> ir.Value:
    magnitude, _ = _magnitude(op)
    return _compare(arith.CmpFPredicate.OEQ, magnitude, float("inf"))


def _is_normal(op: ir.Operation) -> ir.Value:
    magnitude, fmt = _magnitude(op)
    is_large = _compare(arith.CmpFPredicate.OGE, magnitude, float(fmt.smallest_normal))
    return arith.andi(is_large, _compare(arith.CmpFPredicate.OLT, magnitude, float("inf")))


def _clamp(op: ir.Operation) -> ir.Value:
    value, low, high = op.operands
    return arith.minimumf(arith.maximumf(value, low), high)


def _magnitude(op: ir.Operation) -> tuple[ir.Value, FloatFormat]:
    """The operand without its sign, in a wide type, and the format that it has."""
    value = op.operands[0]
    name = str(element_type(value.type))
    if name in NARROW_FLOATS:
        value = arith.extf(with_element(value.type, ir.F32Type.get()), value)
    return math.absf(value), FORMATS[name]


def _compare(predicate: arith.CmpFPredicate, value: ir.Value, number: float) -> ir.Value:
    return arith.cmpf(predicate, value, constant(value.type, element_type(value.type), number))


_EXPANSIONS: dict[str, Callable[[ir.Operation], ir.Value]] = {
    "math.clampf": _clamp,
    "math.isinf": _is_infinite,
    "math.isnormal": _is_normal,
}
