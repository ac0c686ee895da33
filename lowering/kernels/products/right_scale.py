"""Power-of-two factors deferred by decoding the right operand, and what applies them instead."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.byte_tables import looked_up_codes
from mlir_fp8.lowering.kernels.vector_code.code_blocks import bits_factor, has_marked_nan
from mlir_fp8.lowering.kernels.vector_code.decode import converts_by_half
from mlir_fp8.lowering.kernels.vector_code.nibbles import OF_WORD, reads_nibbles
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import BLOCK, ScaledCodes
from mlir_fp8.lowering.kernels.vector_code.spread import BYTES
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.word_scales import has_word_scales

_LEFT_FACTOR = 2.0**100
"""8-bit floats times this stay in f32's range, and so do products with f32's smallest numbers."""


@dataclass(frozen=True)
class RightScale:
    """Which factor is left out of the right operand's elements, and what applies it."""

    left: float = 1.0
    """The left operand's factor, applied while packing; exact."""
    result: float = 1.0
    """The results' factor."""
    is_short: bool = False
    by_tables: bool = False
    """Whether codes are looked up in tables, which have NaN too."""
    of_word: int = 0
    """Codes of a word, 8 bit-packed f4 or 4 bytes, where vectors are in their order; else 0."""
    by_bits: bool = False
    """Whether codes are decoded by shifting their bits into f32's, in `spread_order`. Subnormal
        codes then become subnormal f32 numbers."""

    @property
    def by_nibbles(self) -> bool:
        """Whether codes are bit-packed f4, of which `nibbles` looks 128 up."""
        return self.of_word == OF_WORD


def right_scale(
    product: Contraction, target: KernelTarget, *, rows: int, sums_inner: bool
) -> RightScale:
    """The cheapest exact choice; a deferred factor needs headroom in the left operand's range.

    Of several rows of contiguous results some vectors of a block are taken at a time: f16 decodes
    these alone.
    """
    codes = looked_up_codes(product.right, target) if rows == 1 or sums_inner else None
    if codes is not None and sums_inner:
        reader = Reader(product.right, product.n, product.k)
        if reads_nibbles(reader, codes):
            return RightScale(of_word=OF_WORD)
        if has_word_scales(reader, codes):
            return RightScale(by_tables=True, of_word=BYTES)
    if codes is not None and (not sums_inner or _has_blocks(product, codes)):
        return RightScale(by_tables=True)
    left, right = product.left.decoded_format(), product.right.decoded_format()
    has_room = left is not None and left.has_zero
    is_marked = right is not None and converts_by_half(right) and has_marked_nan(right)
    if right is not None and is_marked and target.fast_subnormals:
        if not has_room:
            return RightScale(by_bits=True)
        factor = bits_factor(right) / _LEFT_FACTOR
        return RightScale(_LEFT_FACTOR, factor, is_short=True, by_bits=True)
    if not has_room:
        return RightScale()
    factor = product.right.factor(target)
    return RightScale(left=factor, is_short=factor != 1.0)


def _has_blocks(product: Contraction, codes: ScaledCodes) -> bool:
    """Whether codes that are summed one after the other have one scale, or 16 of them have."""
    if codes.scale is None:
        return True
    leaf = product.right.leaves[codes.scale_leaf]
    return leaf.group(product.k) % BLOCK == 0 or not leaf.strides[product.k]
