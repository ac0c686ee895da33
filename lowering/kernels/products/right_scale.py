"""Powers of two that the right operand of few rows is short of, and who makes up for them."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.code_blocks import bits_factor, has_marked_nan
from mlir_fp8.lowering.kernels.vector_code.decode import converts_by_half
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_LEFT = 2.0**100
"""Numbers of 8 bits times this stay in f32's range, and their products with f32's smallest ones."""


@dataclass(frozen=True)
class RightScale:
    """How elements of the right operand are short of a factor, if at all."""

    left: float = 1.0
    """What the left operand is multiplied by instead: an exact product."""
    result: float = 1.0
    """What results are multiplied by, too."""
    is_short: bool = False
    by_bits: bool = False
    """Whether the bits of codes become those of f32, in `spread_order`; subnormal codes too."""


def right_scale(product: Contraction, target: KernelTarget) -> RightScale:
    """The fastest way that rounds no product: for less the left numbers must have room."""
    left, right = product.left.decoded_format(), product.right.decoded_format()
    has_room = left is not None and left.has_zero
    is_marked = right is not None and converts_by_half(right) and has_marked_nan(right)
    if right is not None and is_marked and target.fast_subnormals:
        if not has_room:
            return RightScale(by_bits=True)
        return RightScale(_LEFT, bits_factor(right) / _LEFT, is_short=True, by_bits=True)
    if not has_room:
        return RightScale()
    factor = product.right.factor(target)
    return RightScale(left=factor, is_short=factor != 1.0)
