"""Decodes full vector registers of codes to f32, and detects NaN codes separately.

Detecting takes one op per register of codes; producing NaN lanes would take three ops for each of
the f32 registers that it decodes to.
"""

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.kernels.vector_code.decode import half_bits, halves_to_float
from mlir_fp8.lowering.kernels.vector_code.spread import BYTES
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

MULTIPLY_BYTES = "llvm.x86.avx2.pmadd.ub.sw"
"""AVX2's vpmaddubsw: unsigned by signed bytes, adjacent pairs added; for `taken_for_floats`."""
MULTIPLY_BYTES_TYPE = "(vector<32xi8>, vector<32xi8>) -> vector<16xi16>"
_SHUFFLED_BYTES = 16
"""Bytes of a 128-bit lane, within which AVX2 interleaves."""


def has_marked_nan(fmt: FloatFormat) -> bool:
    """Whether the only NaN codes are the largest magnitude, or the code of negative zero."""
    return not fmt.has_infinity and fmt.nan_code in (fmt.magnitude_mask, fmt.sign_mask)


def bits_factor(fmt: FloatFormat) -> float:
    """The factor of numbers of `fmt` whose bits were shifted into f32 without rebiasing."""
    return 2.0 ** (FORMATS["f32"].bias - fmt.bias)


def taken_for_floats(
    text: KernelText, fmt: FloatFormat, codes: str, size: int
) -> list[tuple[int, str]]:
    """f32 vectors with the bits of `size` codes below the sign, to be scaled by `bits_factor`.

    Vectors in `spread_order`, with the offset of each. NaN codes (`has_marked_nan`) give
    unspecified numbers; subnormal codes give subnormal f32 numbers.
    """
    lanes = size // BYTES
    words, pairs = f"vector<{lanes}xi32>", f"vector<{size // 2}xi16>"
    shift = FORMATS["f32"].mantissa_bits - fmt.mantissa_bits
    mask = text.constant(f"dense<{(fmt.magnitude_mask << shift) - (1 << 31)}> : {words}")
    high = text.constant(f"dense<16> : {words}")
    found = []
    for byte, halves in enumerate(_signed_halves(text, codes, size, shift - 16)):
        whole = text.value(f"vector.bitcast {halves} : {pairs} to {words}")
        low = text.value(f"arith.shli {whole}, {high} : {words}")
        for place, bits in ((byte, low), (byte + 2, whole)):
            bits = text.value(f"arith.andi {bits}, {mask} : {words}")
            number = text.value(f"arith.bitcast {bits} : {words} to vector<{lanes}xf32>")
            found.append((place * lanes, number))
    return found


def _signed_halves(text: KernelText, codes: str, size: int, shift: int) -> tuple[str, str]:
    """The even codes and the odd codes, sign-extended to i16 and shifted left by `shift`."""
    bytes_, pairs = f"vector<{size}xi8>", f"vector<{size // 2}xi16>"
    factors = text.constant(f"dense<{[1 << shift, 0] * (size // 2)}> : {bytes_}")
    types = f"({bytes_}, {bytes_}) -> {pairs}"
    first = text.value(f"func.call @{MULTIPLY_BYTES}({factors}, {codes}) : {types}")
    both = text.value(f"vector.bitcast {codes} : {bytes_} to {pairs}")
    down = text.constant(f"dense<{8 - shift}> : {pairs}")
    return first, text.value(f"arith.shrsi {both}, {down} : {pairs}")


def decoded_codes(
    text: KernelText, target: KernelTarget, fmt: FloatFormat, codes: str, size: int
) -> list[tuple[int, str]]:
    """f32 vectors of `size` codes, to be scaled by `half_factor`, with the offset of each.

    NaN codes (`has_marked_nan`) give unspecified numbers.
    """
    if target.lanes == 8 and size == 32:
        return _by_interleaving(text, fmt, codes)
    part = 2 * target.lanes
    found = []
    for start in range(0, size, part):
        some = sliced(text, codes, start, part, size, "i8")
        wide = text.value(f"arith.extsi {some} : vector<{part}xi8> to vector<{part}xi16>")
        bits = half_bits(text, fmt, wide, part, marks_nan=not has_marked_nan(fmt))
        found += _floats(text, bits, part, (start, start + target.lanes))
    return found


def _by_interleaving(text: KernelText, fmt: FloatFormat, codes: str) -> list[tuple[int, str]]:
    """Widen by interleaving with zeros, which on AVX2 is per 128-bit lane: lanes are permuted."""
    zeros = text.zeros(32, "i8")
    found = []
    for start in (0, 8):
        order = [
            each
            for lane in range(0, 32, _SHUFFLED_BYTES)
            for i in range(lane + start, lane + start + 8)
            for each in (i, 32 + i)
        ]
        types = "vector<32xi8>, vector<32xi8>"
        bytes_ = text.value(f"vector.shuffle {zeros}, {codes} {order} : {types}")
        wide = text.value(f"vector.bitcast {bytes_} : vector<32xi8> to vector<16xi16>")
        bits = half_bits(text, fmt, wide, 16, marks_nan=not has_marked_nan(fmt), shifted=8)
        found += _floats(text, bits, 16, (start, start + _SHUFFLED_BYTES))
    return found


def _floats(
    text: KernelText, bits: str, size: int, starts: tuple[int, int]
) -> list[tuple[int, str]]:
    """Both halves of the f16 `bits` as f32, with their offsets."""
    half = size // 2
    parts = [sliced(text, bits, start, half, size, "i16") for start in (0, half)]
    return [
        (start, halves_to_float(text, part, half))
        for start, part in zip(starts, parts, strict=True)
    ]


def sliced(text: KernelText, value: str, start: int, size: int, whole: int, element: str) -> str:
    if size == whole:
        return value
    return text.value(
        f"vector.extract_strided_slice {value} {{offsets = [{start}], sizes = [{size}],"
        f" strides = [1]}} : vector<{whole}x{element}> to vector<{size}x{element}>"
    )


class SeenNans:
    """A loop-carried vector of bytes that tells which lanes had a NaN code."""

    def __init__(self, fmt: FloatFormat, size: int) -> None:
        self.type = f"vector<{size}xi8>"
        self._fmt, self._size = fmt, size

    @property
    def _by_magnitude(self) -> bool:
        return self._fmt.nan_code == self._fmt.magnitude_mask

    def start(self, text: KernelText) -> str:
        return text.zeros(self._size, "i8")

    def with_codes(self, text: KernelText, seen: str, codes: str) -> str:
        """`seen` updated by a vector of codes."""
        if not self._by_magnitude:
            return text.value(f"arith.minsi {seen}, {codes} : {self.type}")
        doubled = text.value(f"arith.addi {codes}, {codes} : {self.type}")  # without the sign
        return text.value(f"arith.maxui {seen}, {doubled} : {self.type}")

    def is_any(self, text: KernelText, seen: str) -> str:
        """An i1: whether any lane had one (a horizontal reduction)."""
        kind, nan = ("maxui", -2) if self._by_magnitude else ("minsi", -128)
        most = text.value(f"vector.reduction <{kind}>, {seen} : {self.type} into i8")
        return text.value(f"arith.cmpi eq, {most}, {text.constant(f'{nan} : i8')} : i8")
