"""The form of the elements of packed blocks."""

from collections.abc import Sequence

from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import scaled_codes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

UNITS = {"f32": 1, "bf16": 2, "fours": 4, "codes": 4, "i16": 2, "i8": 4}
"""Forms, and how many consecutive elements of the reduction lie side by side in each: f32; bf16 in
pairs, bf16 in fours, for `bfmmla`; codes in fours, for `fdot`; integers in words of 32 bits."""
_BYTES = {"f32": 4, "bf16": 2, "fours": 2, "codes": 1, "i16": 2, "i8": 1}
_NATIVE = ("f8E4M3FN", "f8E5M2")
"""What `fdot` multiplies: the formats of the Open Compute Project."""


def packed_form(product: Contraction, target: KernelTarget) -> str:
    """bf16 where both operands are codes and the processor multiplies it, codes where it multiplies
    these, else f32.

    With AMX and `bfmmla` operands may be bf16 themselves. Not so codes of f8E8M0FNU: its 2^-127
    would count as zero. Bytes stay such where the processor adds up products of four, and are i16
    elsewhere.
    """
    if product.is_integer:
        return "i8" if target.byte_dots else "i16"
    sides = (product.left, product.right)
    if product.in_f32:
        return "f32"
    if _are_scaled(product, target):
        return "bf16"
    if target.code_dots and all(native_format(side) is not None for side in sides):
        return "codes"
    takes_bf16 = target.tiles or target.mmla
    if not all(_is_exact(side) or (takes_bf16 and side.is_bf16) for side in sides):
        return "f32"
    if target.mmla:
        return "fours"
    return "bf16" if target.pair_dots else "f32"


def form_of(elements: Sequence[str], target: KernelTarget) -> str:
    """`packed_form` of a product of floats, of the element types that its operands are read in."""
    formats = [SMALL_FLOATS.get(each) for each in elements]
    codes = [each is not None and each.bits == 8 and each.has_zero for each in formats]
    if target.code_dots and all(each in _NATIVE for each in elements):
        return "codes"
    takes_bf16 = target.tiles or target.mmla
    pairs = zip(codes, elements, strict=True)
    if not all(is_code or (takes_bf16 and each == "bf16") for is_code, each in pairs):
        return "f32"
    if target.mmla:
        return "fours"
    return "bf16" if target.pair_dots else "f32"


def native_format(side: Expression) -> str | None:
    """The name of the format of an operand that `fdot` takes as it is; else None."""
    fmt = side.decoded_format()
    return fmt.name if fmt is not None and fmt.name in _NATIVE else None


def element_bytes(product: Contraction, target: KernelTarget) -> int:
    """Bytes of a packed element."""
    return _BYTES[packed_form(product, target)]


def _are_scaled(product: Contraction, target: KernelTarget) -> bool:
    """Whether operands are codes, of which some are short or have scales, and exact in bf16.

    Where numbers may be subnormal, only AMX's kernels look for these.
    """
    if not target.pair_dots:
        return False
    sides = [scaled_codes(side) for side in (product.left, product.right)]
    return all(
        each is not None and each.is_exact and (target.tiles or not each.has_wide_range)
        for each in sides
    )


def _is_exact(side: Expression) -> bool:
    fmt = side.decoded_format()
    return fmt is not None and fmt.has_zero
