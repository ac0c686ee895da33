"""The softmax of a tile's scores, and how it changes what earlier tiles gave.

Milakov and Gimelshein, Online normalizer calculation for softmax (arXiv:1805.02867), as in
FlashAttention: of the scores s so far m is the largest, and e = 2^(factor (s - m) + 8). The sum of
e and what was added up before are multiplied by 2^(factor (m_before - m)) when m grows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.scores import LOWEST
from mlir_fp8.lowering.gpu.kernels.functions import approximate
from mlir_fp8.lowering.gpu.kernels.scaling import codes
from mlir_fp8.lowering.gpu.kernels.text import GpuText

ROOM = 8.0
"""e is from 0 to 2^8, which an f8 holds, so that what is small has more codes."""
NAN = "0x7FC00000 : f32"
_FARTHEST = 2.0**22


@dataclass(frozen=True)
class Softmax:
    """Of a thread's two rows: the largest scores and the sums of e so far, and what the sums before
    this tile were multiplied by; all f32."""

    largest: list[str]
    sums: list[str]
    by: list[str]


def half_of(values: Sequence[str], half: int) -> list[str]:
    """The numbers of one of the two rows in a thread's part of a result of `wgmma`."""
    return [each for at, each in enumerate(values) if at // 2 % 2 == half]


def exponentials(
    text: GpuText, scores: Sequence[str], before: Softmax, factor: str
) -> tuple[list[str], Softmax]:
    """e of a tile, in the places of its scores, and what `before` becomes."""
    found = [""] * len(scores)
    after = Softmax([], [], [])
    for half in range(2):
        row = half_of(scores, half)
        largest = _over_lanes(text, _tree(text, [*row, before.largest[half]], "maxnum"), "maxnum")
        scaled = text.value(f"arith.mulf {largest}, {factor} : f32")
        lowest = text.constant(LOWEST)
        is_none = text.value(f"arith.cmpf oeq, {scaled}, {lowest} : f32")
        safe = text.value(f"arith.select {is_none}, {text.f32(0.0)}, {scaled} : f32")
        shift = text.value(f"arith.subf {text.f32(ROOM)}, {safe} : f32")
        old = text.value(f"arith.mulf {before.largest[half]}, {factor} : f32")
        by = exp2(text, text.value(f"arith.subf {old}, {safe} : f32"))
        numbers = [exp2(text, text.fma(each, factor, shift)) for each in row]
        total = text.fma(before.sums[half], by, _tree(text, numbers, "add"))
        after.largest.append(largest)
        after.sums.append(total)
        after.by.append(by)
        places = [at for at in range(len(scores)) if at // 2 % 2 == half]
        for at, each in zip(places, numbers, strict=True):
            found[at] = each
    return found, after


def exp2(text: GpuText, x: str) -> str:
    return approximate(text, "ex2.approx.ftz", x)


def checked_sums(text: GpuText, softmax: Softmax, factor: str) -> list[str]:
    """The sums of e of whole rows, of which each of four lanes has a part.

    NaN where the largest score, in units of log 2, is so far from 0 that its product in f32 is off
    by more than a quarter: e would be another number than what is added up of it in f8.
    """
    found: list[str] = []
    for largest, part in zip(softmax.largest, softmax.sums, strict=True):
        total = _over_lanes(text, part, "add")
        scaled = text.value(f"arith.mulf {largest}, {factor} : f32")
        bits = text.word_op("andi", text.bits(scaled, "f32", "i32"), (1 << 31) - 1)
        size = text.bits(bits, "i32", "f32")
        is_far = text.value(f"arith.cmpf ogt, {size}, {text.f32(_FARTHEST)} : f32")
        is_some = text.value(f"arith.cmpf one, {scaled}, {text.constant(LOWEST)} : f32")
        is_far = text.both(is_far, is_some)
        found.append(text.value(f"arith.select {is_far}, {text.constant(NAN)}, {total} : f32"))
    return found


def fragments(text: GpuText, numbers: Sequence[str], format_: str) -> list[list[str]]:
    """e as f8 codes: for each 32 keys the four words that `wgmma` takes from registers."""
    found: list[list[str]] = []
    for start in range(0, len(numbers), 16):
        words = []
        for at in (0, 2, 8, 10):
            four = [numbers[start + at + i] for i in (0, 1, 4, 5)]
            words += codes(text, four, format_)
        found.append(words)
    return found


def _tree(text: GpuText, values: Sequence[str], name: str) -> str:
    found = list(values)
    while len(found) > 1:
        pairs = zip(found[::2], found[1::2], strict=False)
        rest = found[len(found) // 2 * 2 :]
        found = [_joined(text, name, a, b) for a, b in pairs] + rest
    return found[0]


def _over_lanes(text: GpuText, value: str, name: str) -> str:
    """Of the four lanes that have a row."""
    for bit in (1, 2):
        other = text.bits(text.shuffled(text.bits(value, "f32", "i32"), bit), "i32", "f32")
        value = _joined(text, name, value, other)
    return value


def _joined(text: GpuText, name: str, a: str, b: str) -> str:
    """The sum, or the larger number, not a NaN."""
    if name == "add":
        return text.value(f"arith.addf {a}, {b} : f32")
    return text.value(f'llvm.call_intrinsic "llvm.maxnum.f32"({a}, {b}) : (f32, f32) -> f32')
