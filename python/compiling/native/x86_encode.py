"""f32, bf16 and f16 to small floats with AVX2 and AVX-512.

The rounding is that of `lowering/codec/float_codec.py`: of a power of two and some places more,
less a number, the low half counts places down and the high half holds the exponent. So the code is
a sum of products of the two, by one instruction, `vpmaddwd`.
"""

from dataclasses import dataclass

from mlir_fp8.compiling.native.x86_vectors import Block, Vectors, at_byte
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.codec.float_codec import bits_in

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

    def codes(self, x: Vectors, power: str, number: str) -> str:
        """Codes, `step` bits up, in registers of i32."""
        left, right = (x.cast(each, x.dwords, x.floats) for each in (power, number))
        difference = x.text.value(f"arith.subf {left}, {right} : {x.floats}")
        bits = x.cast(difference, x.floats, x.dwords)
        return x.summed_pairs(bits, (-(1 << self.step), 1))


def encoding(source: FloatFormat, fmt: FloatFormat, *, saturate: bool) -> Block | None:
    """The block that rounds `source` to `fmt`, None where there is none."""
    limit = fmt.max_code if saturate else fmt.overflow_code
    if not fmt.signed:
        return None
    if source is _F32:
        return lambda x, pointer: _from_f32(x, _loaded(x, pointer), _Rounding(fmt, limit))
    if source is FORMATS["bf16"]:
        rounding = _Rounding(fmt, limit)
        return lambda x, pointer: _from_words(x, pointer, source, rounding)
    if source is _F16 and (fmt.exponent_bits, fmt.bias) == (source.exponent_bits, source.bias):
        return lambda x, pointer: _cut_words(x, pointer, _Rounding(fmt, limit))
    # An f16 subnormal would become an f32 subnormal, which a flush-to-zero mode loses.
    if source is _F16 and fmt.smallest_subnormal / 2 >= _F16.smallest_normal:
        rounding = _Rounding(fmt, limit, _F32.bias - _F16.bias)
        return lambda x, pointer: _from_words(x, pointer, source, rounding)
    if source is _F16:
        return lambda x, pointer: _from_f32(x, _widened(x, pointer), _Rounding(fmt, limit))
    return None


def _loaded(x: Vectors, pointer: str) -> list[str]:
    return [x.load(pointer, i, x.dwords) for i in range(4)]


def _widened(x: Vectors, pointer: str) -> list[str]:
    """f16 numbers as f32, by an instruction which takes subnormals in every mode."""
    half, floats = x.floats.replace("f32", "f16"), x.floats
    found = []
    for i in range(4):
        place = at_byte(x.text, pointer, x.size // 2 * i)
        given = x.text.value(f"llvm.load {place} {{alignment = 2}} : !llvm.ptr -> {half}")
        wide = x.text.value(f"arith.extf {given} : {half} to {floats}")
        found.append(x.cast(wide, floats, x.dwords))
    return found


def _from_f32(x: Vectors, given: list[str], rounding: _Rounding) -> list[tuple[str, str]]:
    found = []
    for bits in given:
        number = x.op("andi", bits, (1 << 31) - 1, x.dwords)
        number = x.op("minui", number, rounding.clamp(_F32), x.dwords)
        power = x.op("andi", number, _F32.infinity_code or 0, x.dwords)
        power = x.op("maxui", power, rounding.smallest << 16, x.dwords)
        more = (rounding.places << _F32.mantissa_bits) + rounding.bias
        power = x.op("addi", power, more, x.dwords)
        found.append(rounding.codes(x, power, number))
    words = _halved(x, found)
    nans = None
    if rounding.limit != rounding.fmt.nan_code:
        are_nan = [_is_nan(x, each) for each in given]
        nans = x.packed_bytes(*_halved(x, are_nan), signed=True)
    signs = x.packed_bytes(*_halved(x, given), signed=True)
    return _finished(x, rounding, words, signs, nans, 32)


def _is_nan(x: Vectors, bits: str) -> str:
    number = x.cast(bits, x.dwords, x.floats)
    found = x.text.value(f"arith.cmpf uno, {number}, {number} : {x.floats}")
    return x.text.value(f"arith.extsi {found} : {x.dwords.replace('i32', 'i1')} to {x.dwords}")


def _halved(x: Vectors, registers: list[str]) -> tuple[str, str]:
    first, second, third, fourth = registers
    return x.packed_words(first, second), x.packed_words(third, fourth)


def _from_words(
    x: Vectors, pointer: str, source: FloatFormat, rounding: _Rounding
) -> list[tuple[str, str]]:
    """Lanes of 16 bits, where 16 bits are enough; products are on lanes of 32."""
    given = [x.load(pointer, i, x.words) for i in range(2)]
    magnitudes = [x.op("andi", bits, (1 << 15) - 1, x.words) for bits in given]
    words = []
    for magnitude in magnitudes:
        number = x.op("minui", magnitude, rounding.clamp(source), x.words)
        low, high = x.text.constant(f"dense<0> : {x.words}"), number
        mantissa_bits = source.mantissa_bits
        if mantissa_bits > _EXPONENT:
            low = x.op("shli", number, 16 + _EXPONENT - mantissa_bits, x.words)
            high = x.op("shrui", number, mantissa_bits - _EXPONENT, x.words)
        mask = ((1 << source.exponent_bits) - 1) << _EXPONENT
        power = x.op("andi", high, mask, x.words)
        power = x.op("maxui", power, rounding.smallest, x.words)
        power = x.op("addi", power, rounding.places << _EXPONENT, x.words)
        bias = x.text.constant(f"dense<{rounding.bias}> : {x.words}")
        powers = x.unpacked(bias, power, x.words)
        numbers = x.unpacked(low, high, x.words)
        parts = [
            rounding.codes(x, *(x.cast(each, x.words, x.dwords) for each in pair))
            for pair in zip(powers, numbers, strict=True)
        ]
        words.append(x.packed_words(*parts))
    nans = None
    if rounding.limit != rounding.fmt.nan_code:
        nans = _nans_of_words(x, magnitudes, source)
    signs = x.packed_bytes(given[0], given[1], signed=True)
    return _finished(x, rounding, (words[0], words[1]), signs, nans, 16)


def _nans_of_words(x: Vectors, magnitudes: list[str], source: FloatFormat) -> str:
    infinity = source.infinity_code or 0
    found = [x.op("cmpi sgt,", each, infinity, x.words) for each in magnitudes]
    mask = x.words.replace("i16", "i1")
    found = [x.text.value(f"arith.extsi {each} : {mask} to {x.words}") for each in found]
    return x.packed_bytes(found[0], found[1], signed=True)


def _cut_words(x: Vectors, pointer: str, rounding: _Rounding) -> list[tuple[str, str]]:
    """f16 to a format with the same exponents: the upper bits after adding half an ulp."""
    given = [x.load(pointer, i, x.words) for i in range(2)]
    magnitudes = [x.op("andi", bits, (1 << 15) - 1, x.words) for bits in given]
    cut = _F16.mantissa_bits - rounding.fmt.mantissa_bits
    words = []
    for magnitude in magnitudes:
        lowest = x.op("andi", x.op("shrui", magnitude, cut, x.words), 1, x.words)
        total = x.op("addi", magnitude, (1 << (cut - 1)) - 1, x.words)
        total = x.text.value(f"arith.addi {total}, {lowest} : {x.words}")
        code = x.op("shrui", total, cut, x.words)
        words.append(x.op("minui", code, rounding.limit, x.words))
    codes = x.packed_bytes(words[0], words[1], signed=False)
    nans = _nans_of_words(x, magnitudes, _F16)
    signs = x.packed_bytes(given[0], given[1], signed=True)
    codes = x.with_signs(rounding.fmt, codes, signs, nans)
    return [(x.in_order(codes, 16), x.bytes)]


def _finished(
    x: Vectors,
    rounding: _Rounding,
    words: tuple[str, str],
    signs: str,
    nans: str | None,
    element_bits: int,
) -> list[tuple[str, str]]:
    low, high = (x.op("shrui", each, rounding.step, x.words) for each in words)
    codes = x.packed_bytes(low, high, signed=False)
    codes = x.with_signs(rounding.fmt, codes, signs, nans)
    return [(x.in_order(codes, element_bits), x.bytes)]
