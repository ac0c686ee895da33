"""The type of the elements of packed blocks."""

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

UNITS = {"f32": 1, "bf16": 2, "i16": 2, "i8": 4}
"""Elements of the reduction in a word of 32 bits, which is a step of the micro-kernel."""


def packed_form(product: Contraction, target: KernelTarget) -> str:
    """bf16 where both operands are codes and the processor multiplies pairs of it, else f32.

    With AMX operands may be bf16 themselves. Not so codes of f8E8M0FNU: its 2^-127 would count as
    zero. Bytes stay such where the processor adds up products of four, and are i16 elsewhere.
    """
    if product.is_integer:
        return "i8" if target.byte_dots else "i16"
    sides = (product.left, product.right)
    exact = all(_is_exact(side) or (target.tiles and side.is_bf16) for side in sides)
    return "bf16" if exact and target.pair_dots else "f32"


def element_bytes(product: Contraction, target: KernelTarget) -> int:
    """Bytes of a packed element."""
    return 4 // UNITS[packed_form(product, target)]


def _is_exact(side: Expression) -> bool:
    fmt = side.decoded_format()
    return fmt is not None and fmt.has_zero
