"""Small floats to bf16, f16 and f32 with AVX2 and AVX-512, on the two upper bytes of each result.

The upper half of an f32 holds every number of these formats. A normal number is its code shifted,
plus the difference of the biases. The codes of subnormals, infinity and NaN are the lowest and the
highest magnitudes: where they are 16 at most, their bytes come from lookup tables. For formats of
fewer than eight bits all bytes do, and with AVX-512 VBMI, whose tables have 128.
"""

import struct
from dataclasses import dataclass

from mlir_fp8.compiling.native.x86_lookup import entries_of
from mlir_fp8.compiling.native.x86_vectors import Block, Vectors
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.dialects.float_reference import decode

_TABLE = 16


def decoding(fmt: FloatFormat, target: FloatFormat, *, has_tables: bool) -> Block | None:
    """The block that takes codes of `fmt` to `target`, None where there is none."""
    if target.name not in ("bf16", "f16", "f32"):
        return None
    halves = FORMATS["bf16"] if target.name == "f32" else target
    found = _Decoding(fmt, halves, has_payloads=target.name != "bf16")
    if has_tables and (fmt.signed or target.name != "f16"):
        return lambda x, pointer: _block(x, pointer, found, target)
    if not fmt.signed or (fmt.bits == 8 and (found.rebias < 0 or len(found.ends) > _TABLE)):
        return None
    return lambda x, pointer: _block(x, pointer, found, target)


@dataclass(frozen=True)
class _Decoding:
    """From `fmt` to `halves`, of 16 bits."""

    fmt: FloatFormat
    halves: FloatFormat
    has_payloads: bool
    """Whether NaNs keep their payloads, or become the one NaN."""

    @property
    def low(self) -> int:
        """How many magnitudes are subnormal."""
        return 1 << self.fmt.mantissa_bits

    @property
    def high(self) -> int:
        """How many magnitudes are infinity or NaN."""
        return self.fmt.magnitude_mask - self.fmt.max_code

    @property
    def places(self) -> int:
        """The left shift that aligns the mantissas."""
        return self.halves.mantissa_bits - self.fmt.mantissa_bits

    @property
    def rebias(self) -> int:
        return (self.halves.bias - self.fmt.bias) << self.halves.mantissa_bits

    @property
    def ends(self) -> list[int]:
        """The codes that are not normal: infinity and NaN upwards, then wrapping to 0, the
        subnormals."""
        mask = self.fmt.magnitude_mask
        return [(place - self.high) & mask for place in range(self.low + self.high)]

    def bits(self, code: int) -> int:
        """What a code becomes."""
        value = decode(self.fmt, code)
        infinity, nan = self.halves.infinity_code or 0, self.halves.nan_code or 0
        if value == value:
            if self.halves.name == "f16":
                return int.from_bytes(struct.pack("<e", float(value)), "little")
            return int.from_bytes(struct.pack("<f", float(value)), "little") >> 16
        sign = 1 << 15 if self.fmt.signed and code & self.fmt.sign_mask else 0
        if not (self.has_payloads and self.fmt.has_infinity):
            return sign | nan
        payload = sign | infinity | (code & (self.low - 1)) << self.places
        # The conversion instruction to f16 quiets NaNs.
        return payload | nan if self.halves.name == "f16" else payload


def _block(
    x: Vectors, pointer: str, decoding: _Decoding, target: FloatFormat
) -> list[tuple[str, str]]:
    given = x.load(pointer, 0, x.bytes)
    codes = x.before_unpacking(given, target.bits)
    low, high = _bytes(x, codes, decoding)
    words = [x.cast(each, x.bytes, x.words) for each in x.unpacked(low, high, x.bytes)]
    if target.bits == 16:
        return [(each, x.words) for each in words]
    zeros = x.text.constant(f"dense<0> : {x.words}")
    wide = [each for word in words for each in x.unpacked(zeros, word, x.words)]
    return [(x.cast(each, x.words, x.dwords), x.dwords) for each in wide]


def _bytes(x: Vectors, codes: str, decoding: _Decoding) -> tuple[str, str]:
    """The lower and the upper bytes."""
    fmt = decoding.fmt
    if fmt.bits < 8 or x.has_tables:
        low, high = _of_each([decoding.bits(code) for code in range(1 << fmt.bits)])
        return entries_of(x, low, codes), entries_of(x, high, codes)
    magnitude = x.op("andi", codes, fmt.magnitude_mask, x.bytes)
    # One range test for both ends: infinity and NaN wrap to negative, before 0.
    place = x.op("addi", magnitude, decoding.high, x.bytes)
    is_end = x.op("cmpi slt,", place, len(decoding.ends), x.bytes)
    index = x.op("andi", place, _TABLE - 1, x.bytes)
    tables = _of_each([decoding.bits(code) for code in decoding.ends])
    nans = _of_each([decoding.halves.nan_code or 0])
    is_nan = None
    if fmt.nan_code == fmt.sign_mask:
        is_nan = x.op("cmpi eq,", codes, -128, x.bytes)
    found = []
    for normal, table, nan in zip(_normal_bytes(x, magnitude, decoding), tables, nans, strict=True):
        entry = x.looked_up([*table, *(0 for _ in range(_TABLE - len(table)))], index)
        byte = x.selected(is_end, entry, normal)
        if is_nan is not None:
            byte = x.selected(is_nan, x.splat(nan[0]), byte)
        found.append(byte)
    sign = x.op("andi", codes, -128, x.bytes)
    return found[0], x.op("ori", found[1], sign, x.bytes)


def _normal_bytes(x: Vectors, magnitude: str, decoding: _Decoding) -> tuple[str, str]:
    """The bytes of the shifted code plus the difference of the biases."""
    places, more = decoding.places, decoding.rebias % 256
    if more:  # the lowest exponent bit, which changes both bytes
        magnitude = x.op("addi", magnitude, more >> places, x.bytes)
    low = x.text.zeros(x.size, "i8")
    if places < 8:
        moved = x.shifted_words("shli", magnitude, places)
        low = x.op("andi", moved, ((255 << places) & 255) - 256, x.bytes)
    high = magnitude
    if places < 8:
        moved = x.shifted_words("shrui", magnitude, 8 - places)
        high = x.op("andi", moved, 255 >> (8 - places), x.bytes)
    if decoding.rebias >> 8:
        high = x.op("addi", high, decoding.rebias >> 8, x.bytes)
    return low, high


def _of_each(halves: list[int]) -> tuple[list[int], list[int]]:
    """The lower and the upper bytes."""
    return [half & 255 for half in halves], [half >> 8 for half in halves]
