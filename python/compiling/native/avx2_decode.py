"""Small floats to bf16, f16 and f32 with AVX2, on the two upper bytes of each result.

The upper half of an f32 holds every number of these formats. A normal number is its code shifted,
plus the difference of the biases. The codes of subnormals, infinity and NaN are the lowest and the
highest magnitudes: where they are 16 at most, their bytes come from lookup tables. For formats of
fewer than eight bits, all bytes do.
"""

import struct
from dataclasses import dataclass

from mlir_fp8.compiling.native import avx2
from mlir_fp8.compiling.native.avx2 import BYTES, DWORDS, WORDS, op
from mlir_fp8.compiling.native.avx2_encode import Block
from mlir_fp8.compiling.native.avx2_lookup import entries_of
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.dialects.float_reference import decode
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_TABLE = 16


def decoding(fmt: FloatFormat, target: FloatFormat) -> Block | None:
    """The block that takes codes of `fmt` to `target`, None where there is none."""
    if target.name not in ("bf16", "f16", "f32"):
        return None
    halves = FORMATS["bf16"] if target.name == "f32" else target
    found = _Decoding(fmt, halves, has_payloads=target.name != "bf16")
    if not fmt.signed or (fmt.bits == 8 and (found.rebias < 0 or len(found.ends) > _TABLE)):
        return None
    return lambda text, pointer: _block(text, pointer, found, target)


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
        if not (self.has_payloads and self.fmt.has_infinity):
            return nan
        payload = infinity | (code & (self.low - 1)) << self.places
        # The conversion instruction to f16 quiets NaNs.
        return payload | nan if self.halves.name == "f16" else payload


def _block(
    text: KernelText, pointer: str, decoding: _Decoding, target: FloatFormat
) -> list[tuple[str, str]]:
    given = avx2.load(text, pointer, 0, BYTES)
    codes = avx2.before_unpacking(text, given, target.bits)
    low, high = _bytes(text, codes, decoding)
    words = [avx2.cast(text, each, BYTES, WORDS) for each in avx2.unpacked(text, low, high, BYTES)]
    if target.bits == 16:
        return [(each, WORDS) for each in words]
    zeros = text.zeros(16, "i16")
    wide = [each for word in words for each in avx2.unpacked(text, zeros, word, WORDS)]
    return [(avx2.cast(text, each, WORDS, DWORDS), DWORDS) for each in wide]


def _bytes(text: KernelText, codes: str, decoding: _Decoding) -> tuple[str, str]:
    """The lower and the upper bytes."""
    fmt = decoding.fmt
    if fmt.bits < 8:
        low, high = _of_each([decoding.bits(code) for code in range(1 << fmt.bits)])
        return entries_of(text, low, codes), entries_of(text, high, codes)
    magnitude = op(text, "andi", codes, fmt.magnitude_mask, BYTES)
    # One range test for both ends: infinity and NaN wrap to negative, before 0.
    place = op(text, "addi", magnitude, decoding.high, BYTES)
    is_end = op(text, "cmpi slt,", place, len(decoding.ends), BYTES)
    index = op(text, "andi", place, _TABLE - 1, BYTES)
    tables = _of_each([decoding.bits(code) for code in decoding.ends])
    nans = _of_each([decoding.halves.nan_code or 0])
    is_nan = None
    if fmt.nan_code == fmt.sign_mask:
        is_nan = op(text, "cmpi eq,", codes, -128, BYTES)
    found = []
    for normal, table, nan in zip(
        _normal_bytes(text, magnitude, decoding), tables, nans, strict=True
    ):
        entry = avx2.looked_up(text, [*table, *(0 for _ in range(_TABLE - len(table)))], index)
        byte = avx2.selected(text, is_end, entry, normal)
        if is_nan is not None:
            constant = text.constant(f"dense<{avx2.signed_byte(nan[0])}> : {BYTES}")
            byte = avx2.selected(text, is_nan, constant, byte)
        found.append(byte)
    sign = op(text, "andi", codes, -128, BYTES)
    return found[0], op(text, "ori", found[1], sign, BYTES)


def _normal_bytes(text: KernelText, magnitude: str, decoding: _Decoding) -> tuple[str, str]:
    """The bytes of the shifted code plus the difference of the biases."""
    places, more = decoding.places, decoding.rebias % 256
    if more:  # the lowest exponent bit, which changes both bytes
        magnitude = op(text, "addi", magnitude, more >> places, BYTES)
    low = text.zeros(avx2.BLOCK, "i8")
    if places < 8:
        moved = avx2.shifted_words(text, "shli", magnitude, places)
        low = op(text, "andi", moved, ((255 << places) & 255) - 256, BYTES)
    high = magnitude
    if places < 8:
        moved = avx2.shifted_words(text, "shrui", magnitude, 8 - places)
        high = op(text, "andi", moved, 255 >> (8 - places), BYTES)
    if decoding.rebias >> 8:
        high = op(text, "addi", high, decoding.rebias >> 8, BYTES)
    return low, high


def _of_each(halves: list[int]) -> tuple[list[int], list[int]]:
    """The lower and the upper bytes."""
    return [half & 255 for half in halves], [half >> 8 for half in halves]
