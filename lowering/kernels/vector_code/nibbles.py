"""Bit-packed f4 as f32 by `vpermd`, which looks 16 numbers up in a table of 16 at once.

Each word of 32 bits has eight codes: the words shifted by 4 j give code j of all, so that vector j
has the numbers 8 i + j in its lanes i. The other factor is permuted into this order.
"""

import numpy as np

from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.kernels.vector_code.word_scales import has_word_scales, word_scales

CODES, OF_WORD = 128, 8
"""Codes of a register, and of 32 bits."""
LOOK_UP = "llvm.x86.avx512.permvar.sf.512"
LOOK_UP_TYPE = "(vector<16xf32>, vector<16xi32>) -> vector<16xf32>"
_LANES = CODES // OF_WORD
_WORDS, _FLOATS = f"vector<{_LANES}xi32>", f"vector<{_LANES}xf32>"


def reads_nibbles(reader: Reader, codes: ScaledCodes) -> bool:
    """Whether `load` takes the operand: bit-packed f4, with scales of blocks or without."""
    leaf = reader.expression.leaves[codes.leaf]
    is_packed = leaf.bits == 4 and leaf.strides[reader.inner] == 1
    return is_packed and (codes.scale is None or has_word_scales(reader, codes))


def load(
    text: KernelText,
    target: KernelTarget,
    reader: Reader,
    codes: ScaledCodes,
    at: tuple[str, str],
) -> list[tuple[int, str]]:
    """Eight f32 vectors of the numbers of 128 codes from `at` on, with the place of each."""
    numbers = np.arange(_LANES, dtype=np.uint8).view(codes.format.dtype).astype(np.float32)
    literals = ", ".join(f"{number:.1f}" for number in numbers)
    table = text.constant(f"dense<[{literals}]> : {_FLOATS}")
    held = reader.bytes(text, *at, CODES // 2, codes.leaf)
    words = text.value(f"vector.bitcast {held} : vector<{CODES // 2}xi8> to {_WORDS}")
    scales = None
    if codes.scale is not None:
        scales = word_scales(text, target, reader, codes, at, OF_WORD)
    found: list[tuple[int, str]] = []
    for place in range(OF_WORD):
        shifted = words
        if place:
            by = text.constant(f"dense<{4 * place}> : {_WORDS}")
            shifted = text.value(f"arith.shrui {words}, {by} : {_WORDS}")
        value = text.value(f"func.call @{LOOK_UP}({table}, {shifted}) : {LOOK_UP_TYPE}")
        if scales is not None:
            value = text.value(f"arith.mulf {value}, {scales} : {_FLOATS}")
        found.append((place * _LANES, value))
    return found
