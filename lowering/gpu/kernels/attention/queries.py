"""What a row's scores are multiplied by, and queries where that is below 0."""

from mlir_fp8.lowering.gpu.kernels.attention.schedule import Work, as_index
from mlir_fp8.lowering.gpu.kernels.attention.turns import Turns
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import load_words, store_words
from mlir_fp8.lowering.gpu.kernels.product.instructions import emit
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS, SPAN, WARPGROUP
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_SIGNS = -0x7F7F7F80
"""Those of the four codes in a word."""
_MINE = ROWS * SPAN // WARPGROUP


def score_factor(text: GpuText, memory: tuple[str, str], now: Work) -> tuple[str, str]:
    """What scores are multiplied by, at least 2^-126 or NaN; whether Q has to be negated, i1.

    The largest product has the largest score only where the factor is above 0. Times 2^-126 all
    scores are so near to 0 that 2 to the power of them is 1, and a hidden one stays -infinity.
    """
    name, type_ = memory
    factor = text.value(f"memref.load {name}[{as_index(text, now.head)}] : {type_}")
    is_negative = text.value(f"arith.cmpf olt, {factor}, {text.f32(0.0)} : f32")
    bits = text.word_op("andi", text.bits(factor, "f32", "i32"), (1 << 31) - 1)
    size = text.bits(bits, "i32", "f32")
    least = text.f32(2.0**-126)
    is_small = text.value(f"arith.cmpf olt, {size}, {least} : f32")
    return text.value(f"arith.select {is_small}, {least}, {size} : f32"), is_negative


def turn_negative(text: GpuText, turns: Turns, queries: str, thread: str, is_negative: str) -> None:
    """Negate this warpgroup's rows of Q in shared memory, where the factor of scores is below 0."""
    with text.when(is_negative):
        mine = text.word_op("muli", thread, _MINE)
        start = text.value(f"arith.addi {queries}, {mine} : i32")
        for at in range(0, _MINE, 16):
            place = text.word_op("addi", start, at)
            words = [text.word_op("xori", each, _SIGNS) for each in load_words(text, place)]
            store_words(text, place, words)
        emit(text, "fence.proxy.async.shared::cta;")
        turns.meet()
