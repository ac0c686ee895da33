"""Scales of blocks for vectors whose lanes each stand for codes that follow each other.

In the order of nibbles.py, and in `spread_order`, lane i of all vectors has codes of word i, which
are of one block. So one vector of scales is that of them all.
"""

from dataclasses import replace

from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_LANES = 16
_WORDS = f"vector<{_LANES}xi32>"
_BLOCKS = (16, 32)
"""Codes that have one scale."""


def has_word_scales(reader: Reader, codes: ScaledCodes) -> bool:
    """Whether the scales are of blocks along the inner dimension, and contiguous there."""
    if codes.scale is None:
        return False
    leaf = reader.expression.leaves[codes.scale_leaf]
    return leaf.group(reader.inner) in _BLOCKS and leaf.strides[reader.inner] == 1


def word_scales(
    text: KernelText,
    target: KernelTarget,
    reader: Reader,
    codes: ScaledCodes,
    at: tuple[str, str],
    of_word: int,
) -> str:
    """An f32 vector of the scales of 16 words, of so many codes each, from `at` on."""
    block = reader.expression.leaves[codes.scale_leaf].group(reader.inner)
    count = _LANES * of_word // block
    held = reader.bytes(text, *at, count, codes.scale_leaf)
    bits = 8 * count
    one = text.value(f"vector.bitcast {held} : vector<{count}xi8> to vector<1xi{bits}>")
    if bits < 32:
        one = text.value(f"arith.extui {one} : vector<1xi{bits}> to vector<1xi32>")
        bits = 32
    lanes = _LANES * 32 // bits
    whole = f"vector<{lanes}xi{bits}>"
    all_ = text.value(f"vector.broadcast {one} : vector<1xi{bits}> to {whole}")
    places = [8 * (lane * count // lanes) for lane in range(lanes)]
    by, low = text.constant(f"dense<{places}> : {whole}"), text.constant(f"dense<255> : {whole}")
    own = text.value(f"arith.shrui {all_}, {by} : {whole}")
    own = text.value(f"arith.andi {own}, {low} : {whole}")
    if bits == 64:  # two words have it
        half = text.constant(f"dense<32> : {whole}")
        upper = text.value(f"arith.shli {own}, {half} : {whole}")
        own = text.value(f"arith.ori {own}, {upper} : {whole}")
        own = text.value(f"vector.bitcast {own} : {whole} to {_WORDS}")
    code = text.value(f"arith.trunci {own} : {_WORDS} to vector<{_LANES}xi8>")
    assert codes.scale_root is not None
    scale = replace(reader.expression, root=codes.scale_root)
    return scale.write(text, target, _LANES, lambda _: code)
