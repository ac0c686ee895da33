"""Which queries a block has one after the other, and which tiles of keys these see."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.shape import KEYS, Attention
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_SHIFT = KEYS.bit_length() - 1


@dataclass(frozen=True)
class Work:
    """Rows from `first` on of one head of Q, and that of K and V; all are i32."""

    first: str
    head: str
    keys_head: str
    offset: str
    """The position of row 0 among the keys."""
    low: str
    high: str
    """The tiles of keys that some row sees, from `low` on: one at least."""


@contextlib.contextmanager
def work(
    text: GpuText,
    shape: Attention,
    offsets: tuple[str, str] | None,
    starts: Sequence[str],
    types: Sequence[str],
) -> Iterator[tuple[Work, list[str], list[str]]]:
    """A loop over the work of this block; `offsets` is the memory with them.

    Heads that fit into the L2 cache together are done together; with `causal` the longest rows of
    them first, so that blocks end at about the same time.
    """
    sizes = (shape.row_tiles, shape.all_heads, shape.head_group)
    with tiles_of_heads(text, sizes, shape.grid, starts, types, is_last_first=shape.causal) as loop:
        tile, head, carried, results = loop
        first = text.word_op("muli", tile, shape.tile_rows)
        yield _work(text, shape, offsets, first, head), carried, results


@contextlib.contextmanager
def tiles_of_heads(
    text: GpuText,
    sizes: tuple[int, int, int],
    grid: int,
    starts: Sequence[str],
    types: Sequence[str],
    *,
    is_last_first: bool,
) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """A loop over the tiles of this block of `grid`: a tile and its head, i32, and what is carried.

    `sizes` are tiles of a head, heads, and how many heads are done together.
    """
    count = text.i32(sizes[0] * sizes[1])
    # As read here, and not before, it takes no register of the other warpgroups' loop.
    block = text.value('llvm.inline_asm has_side_effects "mov.u32 $0, %ctaid.x;", "=r" : () -> i32')
    with text.fold(block, count, text.i32(grid), starts, types, counter="i32") as loop:
        item, carried, results = loop
        yield *_place(text, item, sizes, is_last_first=is_last_first), carried, results


def _place(
    text: GpuText, item: str, sizes: tuple[int, int, int], *, is_last_first: bool
) -> tuple[str, str]:
    tiles, heads, most = sizes
    group, within = (text.word_op(name, item, most * tiles) for name in ("divui", "remui"))
    start = text.word_op("muli", group, most)
    size = text.i32(most)
    if heads % most:
        left = text.value(f"arith.subi {text.i32(heads)}, {start} : i32")
        size = text.word_op("minui", size, left)
    tile, head = (text.word_op(name, within, size) for name in ("divui", "remui"))
    head = text.word_op("addi", start, head)
    if is_last_first:
        tile = text.word_op("subi", text.i32(tiles - 1), tile)
    return tile, head


def _work(
    text: GpuText, shape: Attention, offsets: tuple[str, str] | None, first: str, head: str
) -> Work:
    # Heads that share K and V are neighbours, and all batches have as many.
    keys_head = text.word_op("divui", head, shape.heads // shape.shared)
    offset = text.i32(0)
    if offsets is not None:
        name, type_ = offsets
        at = text.index(0)
        if shape.offsets > 1:
            at = as_index(text, text.word_op("divui", head, shape.heads))
        offset = text.value(f"memref.load {name}[{at}] : {type_}")
    low, high = _key_tiles(text, shape, first, offset)
    return Work(first, head, keys_head, offset, low, high)


def _key_tiles(text: GpuText, shape: Attention, first: str, offset: str) -> tuple[str, str]:
    low, high = text.i32(0), text.i32(shape.key_tiles)
    start = end = offset
    if shape.row_step:
        start = text.word_op("addi", first, offset)
        last = text.word_op("addi", first, shape.tile_rows - 1)
        end = text.word_op("addi", text.word_op("minsi", last, shape.rows - 1), offset)
    blind: str | None = None
    if shape.causal:
        seen = text.word_op("addi", text.word_op("shrsi", end, _SHIFT), 1)
        high = text.word_op("minsi", text.word_op("maxsi", seen, 1), shape.key_tiles)
        blind = text.value(f"arith.cmpi slt, {start}, {text.i32(0)} : i32")
    if shape.window:
        seen = text.word_op("maxsi", text.word_op("addi", start, 1 - shape.window), 0)
        low = text.word_op("minsi", text.word_op("shrsi", seen, _SHIFT), shape.key_tiles - 1)
        low = text.word_op("minsi", low, text.word_op("subi", high, 1))
        limit = text.i32(shape.keys - 1 + shape.window)
        behind = text.value(f"arith.cmpi sge, {end}, {limit} : i32")
        blind = behind if blind is None else text.value(f"arith.ori {blind}, {behind} : i1")
    if shape.blind == "mean" and blind is not None:
        low = text.value(f"arith.select {blind}, {text.i32(0)}, {low} : i32")
        high = text.value(f"arith.select {blind}, {text.i32(shape.key_tiles)}, {high} : i32")
    return low, high


def as_word(text: GpuText, index: str) -> str:
    return text.value(f"arith.index_cast {index} : index to i32")


def as_index(text: GpuText, word: str) -> str:
    return text.value(f"arith.index_cast {word} : i32 to index")
