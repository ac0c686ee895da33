"""Small floats to other small floats with AVX2 and AVX-512, by lookup tables.

`vpshufb` looks up 16 entries: one lookup for each 16 codes, then selects by the upper bits of a
code. `vpermb` and `vpermi2b` of AVX-512 VBMI look up 64 and 128.
"""

import math

from mlir_fp8.compiling.native.x86_vectors import Block, Vectors
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.dialects.float_reference import decode, encode

_SIGN, _ROW_BITS = 128, 4
_LEAST = 64
"""Entries of the smallest table of AVX-512 VBMI."""


def lookup(source: FloatFormat, target: FloatFormat, *, saturate: bool) -> Block | None:
    """The block that takes small `source` to small `target`, None where they are none."""
    if not (source.is_small and target.is_small):
        return None
    entries = code_table(source, target, saturate=saturate)
    return lambda x, pointer: [(entries_of(x, entries, x.load(pointer, 0, x.bytes)), x.bytes)]


def code_table(source: FloatFormat, target: FloatFormat, *, saturate: bool) -> list[int]:
    """What each code of `source` becomes; NaNs keep their sign."""
    codes = range(1 << source.bits)
    return [
        encode(
            target,
            value,
            saturate=saturate,
            negative=bool(code & source.sign_mask) if value != value else None,
        )
        for code, value in ((code, decode(source, code)) for code in codes)
    ]


def entries_of(x: Vectors, entries: list[int], codes: str) -> str:
    """The entries of codes in a table of 2^n bytes; higher bits of a code are ignored."""
    if len(entries) > _SIGN:
        return _by_sign(x, entries, codes)
    if x.has_tables:
        return x.in_large_table(entries * max(1, _LEAST // len(entries)), codes)
    row = 1 << _ROW_BITS
    index = x.op("andi", codes, row - 1, x.bytes)
    found = [
        x.looked_up(entries[start : start + row], index) for start in range(0, len(entries), row)
    ]
    for bit in range(_ROW_BITS, _ROW_BITS + int(math.log2(len(found)))):
        key = x.shifted_words("shli", codes, 7 - bit)
        is_set = x.op("cmpi slt,", key, 0, x.bytes)
        found = [
            x.selected(is_set, odd, even) for even, odd in zip(found[::2], found[1::2], strict=True)
        ]
    return found[0]


def _by_sign(x: Vectors, entries: list[int], codes: str) -> str:
    """One half of the table, where the other has the same entries, or these with the sign; the
    first of them may differ, as a NaN."""
    lower, upper = entries[:_SIGN], entries[_SIGN:]
    found = entries_of(x, lower, codes)
    for sign in (0, _SIGN):
        if upper[1:] != [each | sign for each in lower[1:]]:
            continue
        if sign:
            found = x.op("ori", found, x.op("andi", codes, -_SIGN, x.bytes), x.bytes)
        if upper[0] == lower[0] | sign:
            return found
        is_first = x.op("cmpi eq,", codes, -_SIGN, x.bytes)
        return x.selected(is_first, x.splat(upper[0]), found)
    is_upper = x.op("cmpi slt,", codes, 0, x.bytes)
    return x.selected(is_upper, entries_of(x, upper, codes), found)
