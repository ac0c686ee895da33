"""The transposed copy of an f8 result: columns of a tile from registers, 16 bytes at a time.

A warp has 16 rows; of a column each of eight threads has two codes, eight rows apart. Eight threads
exchange codes of eight columns in three rounds, so that each has one column.
"""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.elements import common_piece, store_bytes
from mlir_fp8.lowering.gpu.kernels.product.rows import Rows, exchanged
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_ROWS = 16


def store_columns(
    text: GpuText, to: Rows, memory: tuple[str, str], upper: Sequence[str], lower: Sequence[str]
) -> None:
    """The codes of two rows, words of four columns each; `to.row` is the upper one."""
    wide = text.value(f"arith.index_cast {to.lane} : i32 to index")
    line = text.div(wide, 4)
    first = text.sub(to.row, line)
    own = text.add(
        text.mul(text.div(line, 2), 8), text.add(text.mul(text.rem(wide, 4), 2), text.rem(line, 2))
    )
    for i in range(0, len(upper), 2):
        words = _column(text, to.lane, _paired(text, upper[i : i + 2], lower[i : i + 2]))
        column = text.add(text.add(to.column, 16 * i), own)
        _store(text, to, memory, first, column, words)


def _paired(text: GpuText, upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """Of two words of four columns each: word i has the codes of column i and those of i + 4."""
    found: list[str] = []
    for selector in (0x5140, 0x7362):
        low, high = (
            text.permuted(above, below, selector) for above, below in zip(upper, lower, strict=True)
        )
        found += [text.permuted(low, high, 0x5410), text.permuted(low, high, 0x7632)]
    return found


def _column(text: GpuText, lane: str, words: Sequence[str]) -> list[str]:
    """The 16 codes of this thread's column, by rows."""
    words = exchanged(text, words, lane, (4, 8))
    bit = text.word_op("andi", lane, 16)
    is_second = text.value(f"arith.cmpi ne, {bit}, {text.i32(0)} : i32")
    selector = text.value(f"arith.select {is_second}, {text.i32(0x3276)}, {text.i32(0x5410)} : i32")
    words = [text.permuted(word, text.shuffled(word, 16), selector) for word in words]
    # Of four rows each word has the first codes of the upper half, then those of the lower.
    found: dict[int, list[str]] = {}
    for byte, pick in ((0, 0x5140), (2, 0x7362)):
        low, high = (text.permuted(words[i], words[i + 1], pick) for i in (0, 2))
        found[byte] = [text.permuted(low, high, 0x5410), text.permuted(low, high, 0x7632)]
    (rows_0, rows_8), (rows_4, rows_12) = found[0], found[2]
    return [rows_0, rows_4, rows_8, rows_12]


def _store(
    text: GpuText,
    to: Rows,
    memory: tuple[str, str],
    row: str,
    column: str,
    words: Sequence[str],
) -> None:
    shape = to.shape
    piece = common_piece(shape.m, _ROWS)
    starts = [text.add(row, i) for i in range(0, _ROWS, piece)]
    inside = None if shape.n % shape.tile_columns == 0 else text.below(column, shape.n)
    conditions = [inside] * len(starts)
    if shape.m % (shape.tile_m * shape.cluster):
        conditions = [text.both(inside, text.below(at, shape.m)) for at in starts]
    place = text.add(text.mul(column, shape.m), row)
    store_bytes(text, memory, place, words, piece, conditions)
