"""f32, bf16 and f16 to small floats with AVX2.

The rounding is that of `lowering/codec/float_codec.py`: of a power of two and some places more,
less a number, the low half counts places down and the high half holds the exponent. So the code is
a sum of products of the two, by one instruction, `vpmaddwd`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from mlir_fp8.compiling.native import avx2
from mlir_fp8.compiling.native.avx2 import DWORDS, WORDS, op
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.codec.float_codec import bits_in
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_F32, _F16 = FORMATS["f32"], FORMATS["f16"]
_EXPONENT = 7
"""Where the exponent begins in the upper half of an f32."""


@dataclass(frozen=True)
class _Rounding:
    """The rounding of f32, its exponent less `scale`, to `fmt`."""

    fmt: FloatFormat
    limit: int
    """The largest code: larger numbers are clamped to it."""
    scale: int = 0

    @property
    def smallest(self) -> int:
        """The upper half of the smallest normal number."""
        return (bits_in(_F32, self.fmt.smallest_normal) >> 16) - (self.scale << _EXPONENT)

    @property
    def places(self) -> int:
        return _F32.mantissa_bits - self.fmt.mantissa_bits

    @property
    def bias(self) -> int:
        """The low half of the power of two: what its exponent and the smallest have too much."""
        exponent = (self.smallest >> _EXPONENT) + self.places
        return exponent << self.fmt.mantissa_bits

    @property
    def step(self) -> int:
        """How many bits the code lies above the lowest in the sum of products."""
        return _EXPONENT - self.fmt.mantissa_bits

    def clamp(self, source: FloatFormat) -> int:
        """The bits of the limit."""
        return bits_in(source, self.fmt.magnitude(self.limit))

    def codes(self, text: KernelText, power: str, number: str) -> str:
        """Codes, `step` bits up, in registers of i32."""
        floats = "vector<8xf32>"
        left, right = (
            text.value(f"vector.bitcast {each} : {DWORDS} to {floats}") for each in (power, number)
        )
        difference = text.value(f"arith.subf {left}, {right} : {floats}")
        bits = text.value(f"vector.bitcast {difference} : {floats} to {DWORDS}")
        return avx2.summed_pairs(text, bits, (-(1 << self.step), 1))


Block = Callable[[KernelText, str], list[tuple[str, str]]]
"""Converts the `avx2.BLOCK` elements at a pointer: registers of results, with their types."""


def encoding(source: FloatFormat, fmt: FloatFormat, *, saturate: bool) -> Block | None:
    """The block that rounds `source` to `fmt`, None where there is none."""
    limit = fmt.max_code if saturate else fmt.overflow_code
    if not fmt.signed:
        return None
    if source is _F32:
        return lambda text, pointer: _from_f32(text, pointer, _Rounding(fmt, limit))
    if source is FORMATS["bf16"]:
        rounding = _Rounding(fmt, limit)
        return lambda text, pointer: _from_words(text, pointer, source, rounding)
    if source is _F16 and (fmt.exponent_bits, fmt.bias) == (source.exponent_bits, source.bias):
        return lambda text, pointer: _cut_words(text, pointer, _Rounding(fmt, limit))
    # An f16 subnormal would become an f32 subnormal, which a flush-to-zero mode loses.
    if source is _F16 and fmt.smallest_subnormal / 2 >= _F16.smallest_normal:
        rounding = _Rounding(fmt, limit, _F32.bias - _F16.bias)
        return lambda text, pointer: _from_words(text, pointer, source, rounding)
    return None


def _from_f32(text: KernelText, pointer: str, rounding: _Rounding) -> list[tuple[str, str]]:
    given = [avx2.load(text, pointer, 32 * i, DWORDS) for i in range(4)]
    found = []
    for bits in given:
        number = op(text, "andi", bits, (1 << 31) - 1, DWORDS)
        number = op(text, "minui", number, rounding.clamp(_F32), DWORDS)
        power = op(text, "andi", number, _F32.infinity_code or 0, DWORDS)
        power = op(text, "maxui", power, rounding.smallest << 16, DWORDS)
        more = (rounding.places << _F32.mantissa_bits) + rounding.bias
        power = op(text, "addi", power, more, DWORDS)
        found.append(rounding.codes(text, power, number))
    words = _halved(text, found)
    nans = None
    if rounding.limit != rounding.fmt.nan_code:
        nans = avx2.packed_bytes(
            text, *_halved(text, [_is_nan(text, each) for each in given]), signed=True
        )
    signs = avx2.packed_bytes(text, *_halved(text, given), signed=True)
    return _finished(text, rounding, words, signs, nans, 32)


def _is_nan(text: KernelText, bits: str) -> str:
    number = text.value(f"vector.bitcast {bits} : {DWORDS} to vector<8xf32>")
    found = text.value(f"arith.cmpf uno, {number}, {number} : vector<8xf32>")
    return text.value(f"arith.extsi {found} : vector<8xi1> to {DWORDS}")


def _halved(text: KernelText, registers: list[str]) -> tuple[str, str]:
    first, second, third, fourth = registers
    return avx2.packed_words(text, first, second), avx2.packed_words(text, third, fourth)


def _from_words(
    text: KernelText, pointer: str, source: FloatFormat, rounding: _Rounding
) -> list[tuple[str, str]]:
    """16 lanes of 16 bits, where 16 bits are enough; products are on 8 lanes of 32."""
    given = [avx2.load(text, pointer, 32 * i, WORDS) for i in range(2)]
    magnitudes = [op(text, "andi", bits, (1 << 15) - 1, WORDS) for bits in given]
    words = []
    for magnitude in magnitudes:
        number = op(text, "minui", magnitude, rounding.clamp(source), WORDS)
        low, high = text.zeros(16, "i16"), number
        mantissa_bits = source.mantissa_bits
        if mantissa_bits > _EXPONENT:
            low = op(text, "shli", number, 16 + _EXPONENT - mantissa_bits, WORDS)
            high = op(text, "shrui", number, mantissa_bits - _EXPONENT, WORDS)
        mask = ((1 << source.exponent_bits) - 1) << _EXPONENT
        power = op(text, "andi", high, mask, WORDS)
        power = op(text, "maxui", power, rounding.smallest, WORDS)
        power = op(text, "addi", power, rounding.places << _EXPONENT, WORDS)
        bias = text.constant(f"dense<{rounding.bias}> : {WORDS}")
        powers = avx2.unpacked(text, bias, power, WORDS)
        numbers = avx2.unpacked(text, low, high, WORDS)
        parts = [
            rounding.codes(text, *(avx2.cast(text, each, WORDS, DWORDS) for each in pair))
            for pair in zip(powers, numbers, strict=True)
        ]
        words.append(avx2.packed_words(text, *parts))
    nans = None
    if rounding.limit != rounding.fmt.nan_code:
        nans = _nans_of_words(text, magnitudes, source)
    signs = avx2.packed_bytes(text, given[0], given[1], signed=True)
    return _finished(text, rounding, (words[0], words[1]), signs, nans, 16)


def _nans_of_words(text: KernelText, magnitudes: list[str], source: FloatFormat) -> str:
    infinity = source.infinity_code or 0
    found = [op(text, "cmpi sgt,", each, infinity, WORDS) for each in magnitudes]
    found = [text.value(f"arith.extsi {each} : vector<16xi1> to {WORDS}") for each in found]
    return avx2.packed_bytes(text, found[0], found[1], signed=True)


def _cut_words(text: KernelText, pointer: str, rounding: _Rounding) -> list[tuple[str, str]]:
    """f16 to a format with the same exponents: the upper bits after adding half an ulp."""
    given = [avx2.load(text, pointer, 32 * i, WORDS) for i in range(2)]
    magnitudes = [op(text, "andi", bits, (1 << 15) - 1, WORDS) for bits in given]
    cut = _F16.mantissa_bits - rounding.fmt.mantissa_bits
    words = []
    for magnitude in magnitudes:
        lowest = op(text, "andi", op(text, "shrui", magnitude, cut, WORDS), 1, WORDS)
        total = op(text, "addi", magnitude, (1 << (cut - 1)) - 1, WORDS)
        total = text.value(f"arith.addi {total}, {lowest} : {WORDS}")
        code = op(text, "shrui", total, cut, WORDS)
        words.append(op(text, "minui", code, rounding.limit, WORDS))
    codes = avx2.packed_bytes(text, words[0], words[1], signed=False)
    nans = _nans_of_words(text, magnitudes, _F16)
    signs = avx2.packed_bytes(text, given[0], given[1], signed=True)
    codes = avx2.with_signs(text, rounding.fmt, codes, signs, nans)
    return [(avx2.in_order(text, codes, 16), avx2.BYTES)]


def _finished(
    text: KernelText,
    rounding: _Rounding,
    words: tuple[str, str],
    signs: str,
    nans: str | None,
    element_bits: int,
) -> list[tuple[str, str]]:
    low, high = (op(text, "shrui", each, rounding.step, WORDS) for each in words)
    codes = avx2.packed_bytes(text, low, high, signed=False)
    codes = avx2.with_signs(text, rounding.fmt, codes, signs, nans)
    return [(avx2.in_order(text, codes, element_bits), avx2.BYTES)]
