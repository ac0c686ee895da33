"""Rows of a tile from registers to memory, 16 bytes at a time where D's rows allow it.

Four threads have the columns of a row, two of each eight. They exchange words, as a transpose of
four by four in two rounds, so that each has neighbouring columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS, common_piece, store_bytes
from mlir_fp8.lowering.gpu.kernels.product.rounding import packed, rounded
from mlir_fp8.lowering.gpu.kernels.product.shape import RESULTS, Epilogue, Product
from mlir_fp8.lowering.gpu.kernels.scaling import Divisor, codes, quantized
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_STORE = 16


@dataclass(frozen=True)
class Rows:
    """Where a thread stores: a row, whether D has it (None: all), and the first column, index."""

    shape: Product
    memory: tuple[str, str]
    row: str
    inside: str | None
    column: str
    lane: str


def chunk_columns(result: str) -> int:
    """Columns that four threads store at once."""
    return 64 if RESULTS[result] == 1 else 32


def store_row(
    text: GpuText,
    to: Rows,
    steps: Epilogue,
    numbers: Sequence[str],
    by: Divisor | None,
    scale: str | None,
) -> list[str]:
    """The numbers of one row, two of each eight columns, by `scale`, which `by` is made of.

    Gives the words of them before they are exchanged.
    """
    size = RESULTS[steps.result]
    if size == 1 and by is not None and steps.scaling_type == "f32":
        words = _f8_words(text, steps, numbers, by)
    else:
        numbers = [_scaled(text, steps, x, scale) for x in numbers]
        words = _words(text, steps.result, numbers)
    if size == 4:
        even, odd = (exchanged(text, words[i::2], to.lane) for i in range(2))
        mine = [word for pair in zip(even, odd, strict=True) for word in pair]
    else:
        mine = exchanged(text, words, to.lane)
    if size == 1:
        low, high = (
            [text.permuted(mine[i], mine[i + 1], selector) for i in (0, 2)]
            for selector in (0x5410, 0x7632)
        )
        mine = [*low, *high]
    _store(text, to, mine, size)
    return words


def _scaled(text: GpuText, steps: Epilogue, x: str, scale: str | None) -> str:
    if scale is None:
        return x
    name = "mulf" if steps.d_scale == "multiply" else "divf"
    return rounded(text, text.value(f"arith.{name} {x}, {scale} : f32"), steps.scaling_type)


def _words(text: GpuText, result: str, numbers: Sequence[str]) -> list[str]:
    if result == "f32":
        return [text.bits(x, "f32", "i32") for x in numbers]
    if RESULTS[result] == 1:
        return codes(text, numbers, result)
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return [packed(text, low, high, result) for low, high in pairs]


def _f8_words(text: GpuText, steps: Epilogue, numbers: Sequence[str], by: Divisor) -> list[str]:
    f32 = ELEMENTS["f32"]
    listed = ", ".join(text.bits(x, "f32", "i32") for x in numbers)
    vector = text.value(f"vector.from_elements {listed} : {f32.vector(len(numbers))}")
    return quantized(text, f32, [vector], len(numbers), by, steps.result)[0]


def exchanged(
    text: GpuText, words: Sequence[str], lane: str, bits: tuple[int, int] = (1, 2)
) -> list[str]:
    """Word i of a thread to the i-th of its four, word by word of them; which is told by `bits` of
    its lane, the low one first."""
    found = list(words)
    for bit, pairs in ((bits[0], ((0, 1), (2, 3))), (bits[1], ((0, 2), (1, 3)))):
        is_second = text.value(
            f"arith.cmpi ne, {text.word_op('andi', lane, bit)}, {text.i32(0)} : i32"
        )
        for i, j in pairs:
            sent = text.value(f"arith.select {is_second}, {found[i]}, {found[j]} : i32")
            other = text.shuffled(sent, bit)
            first = text.value(f"arith.select {is_second}, {other}, {found[i]} : i32")
            found[j] = text.value(f"arith.select {is_second}, {found[j]}, {other} : i32")
            found[i] = first
    return found


def _store(text: GpuText, to: Rows, words: Sequence[str], size: int) -> None:
    """Neighbouring columns of this thread, those that D has."""
    shape, count = to.shape, 4 * len(words) // size
    lane = text.value(f"arith.index_cast {to.lane} : i32 to index")
    column = text.add(to.column, text.mul(text.rem(lane, 4), count))
    piece = common_piece(shape.n, min(count, _STORE // size))
    starts = [text.add(column, i) for i in range(0, count, piece)]
    conditions = [to.inside] * len(starts)
    if shape.n % shape.tile_columns:
        conditions = [text.both(to.inside, text.below(at, shape.n)) for at in starts]
    place = text.mul(text.add(text.mul(to.row, shape.n), column), size)
    store_bytes(text, to.memory, place, words, piece * size, conditions)
