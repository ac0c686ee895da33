"""The accumulator type of dots, convolutions and einsums."""

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_EXACT_IN_F32 = 16  # integers up to this width are exact in f32


def accumulator(op: ir.Operation) -> ir.Type | None:
    """The element type of the sums of a dot, convolution or einsum; None where it is quantized.

    Integers add in the result's type, where they wrap around. Floats add in f64 where an operand or
    the result is f64, or an operand is an integer that f32 does not hold; in f32 otherwise. Raises
    `Fp8Error` where the sums of such operands are not of the result's kind.
    """
    result = element_type(op.results[0])
    elements = [element_type(value) for value in factors(op)]
    if not all(map(_is_plain, [result, *elements])):
        return None
    is_complex = any(isinstance(each, ir.ComplexType) for each in elements)
    if is_complex and not isinstance(result, ir.ComplexType):
        raise op_error(op, f"of complex numbers gives {result}: give it a complex result")
    if isinstance(result, ir.IntegerType):
        if not all(isinstance(each, ir.IntegerType) for each in elements):
            raise op_error(op, f"of floats gives {result}: give it a float result and convert that")
        return result
    is_wide = any(map(_needs_f64, [result, *elements]))
    real = ir.F64Type.get(op.context) if is_wide else ir.F32Type.get(op.context)
    return ir.ComplexType.get(real) if isinstance(result, ir.ComplexType) else real


def _is_plain(element: ir.Type | None) -> bool:
    return isinstance(element, ir.IntegerType | ir.FloatType | ir.ComplexType)


def _needs_f64(element: ir.Type | None) -> bool:
    if isinstance(element, ir.IntegerType):
        return element.width > _EXACT_IN_F32
    real = element.element_type if isinstance(element, ir.ComplexType) else element
    return isinstance(real, ir.F64Type)


def factors(op: ir.Operation) -> list[ir.Value]:
    """The operands that are multiplied; those after them are indices or padding."""
    return list(op.operands)[:2]
