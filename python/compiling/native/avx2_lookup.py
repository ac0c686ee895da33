"""Small floats to other small floats with AVX2, by lookup tables.

`vpshufb` looks up 16 entries: one lookup for each 16 codes, then selects by the upper bits of a
code.
"""

import math

from mlir_fp8.compiling.native import avx2
from mlir_fp8.compiling.native.avx2 import BYTES, op
from mlir_fp8.compiling.native.avx2_encode import Block
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.dialects.float_reference import decode, encode
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_SIGN, _ROW_BITS = 128, 4


def lookup(source: FloatFormat, target: FloatFormat, *, saturate: bool) -> Block | None:
    """The block that takes small `source` to small `target`, None where they are none."""
    if not (source.is_small and target.is_small):
        return None
    table = code_table(source, target, saturate=saturate)
    keeps_sign = len(table) == 2 * _SIGN and all(
        table[_SIGN + code] == _SIGN | table[code] for code in range(_SIGN)
    )
    entries = table[:_SIGN] if keeps_sign else table
    return lambda text, pointer: _block(text, pointer, entries, keeps_sign=keeps_sign)


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


def _block(
    text: KernelText, pointer: str, entries: list[int], *, keeps_sign: bool
) -> list[tuple[str, str]]:
    codes = avx2.load(text, pointer, 0, BYTES)
    found = entries_of(text, entries, codes)
    if keeps_sign:
        found = op(text, "ori", found, op(text, "andi", codes, -_SIGN, BYTES), BYTES)
    return [(found, BYTES)]


def entries_of(text: KernelText, entries: list[int], codes: str) -> str:
    """The entries of codes in a table of 2^n bytes; higher bits of a code are ignored."""
    row = 1 << _ROW_BITS
    index = op(text, "andi", codes, row - 1, BYTES)
    found = [
        avx2.looked_up(text, entries[start : start + row], index)
        for start in range(0, len(entries), row)
    ]
    for bit in range(_ROW_BITS, _ROW_BITS + int(math.log2(len(found)))):
        key = avx2.shifted_words(text, "shli", codes, 7 - bit)
        is_set = op(text, "cmpi slt,", key, 0, BYTES)
        found = [
            avx2.selected(text, is_set, odd, even)
            for even, odd in zip(found[::2], found[1::2], strict=True)
        ]
    return found[0]
