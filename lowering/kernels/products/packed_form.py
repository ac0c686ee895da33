"""The type of the elements of packed blocks."""

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget


def packed_form(product: Contraction, target: KernelTarget) -> str:
    """bf16 where both operands are codes and the processor multiplies pairs of it, else f32.

    With AMX operands may be bf16 themselves. Not so codes of f8E8M0FNU: its 2^-127 would count as
    zero.
    """
    sides = (product.left, product.right)
    exact = all(_is_exact(side) or (target.tiles and side.is_bf16) for side in sides)
    return "bf16" if exact and target.pair_dots else "f32"


def element_bytes(product: Contraction, target: KernelTarget) -> int:
    """Bytes of a packed element."""
    return 4 if packed_form(product, target) == "f32" else 2


def _is_exact(side: Expression) -> bool:
    fmt = side.decoded_format()
    return fmt is not None and fmt.has_zero
