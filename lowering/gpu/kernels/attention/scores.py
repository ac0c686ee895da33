"""The first product, and which of its columns a query sees."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.frame import any_of
from mlir_fp8.lowering.gpu.kernels.attention.schedule import Work
from mlir_fp8.lowering.gpu.kernels.attention.shape import KEYS, Attention
from mlir_fp8.lowering.gpu.kernels.product.instructions import multiply
from mlir_fp8.lowering.gpu.kernels.product.main_loop import descriptor, moved
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, ROWS
from mlir_fp8.lowering.gpu.kernels.text import GpuText

K = 32
"""Numbers that one `wgmma` sums over."""
LOWEST = "0xFF800000 : f32"
"""-infinity."""


def key_of(column: int, number: int) -> int:
    """The key of one of the two numbers that a thread has of eight columns, for its lane 0 of four:
    the other lanes have those 4, 8 and 12 behind."""
    return 16 * (column // 2) + 2 * (column % 2) + number


def multiply_scores(text: GpuText, shape: Attention, queries: str, keys: str) -> list[str]:
    """Q K^T of 64 rows and a tile, whose addresses, i32, are given: started, not there yet."""
    sums = [""] * (KEYS // 2)
    formats = (FORMATS[shape.q_format], FORMATS[shape.k_format])
    a, b = descriptor(text, queries), descriptor(text, keys)
    for k in range(0, shape.depth, K):
        sums = multiply(text, formats, sums, moved(text, a, k), moved(text, b, k), first=k == 0)
    return sums


@dataclass(frozen=True)
class Sight:
    """Where a thread is, i32: the position of its first row; that of the first row of its
    warpgroup; its lane."""

    position: str
    first: str
    lane: str


def sight(text: GpuText, shape: Attention, now: Work, row: str, lane: str) -> Sight:
    """Of the rows `row` and `row` + 8, i32."""
    if not shape.row_step:
        return Sight(now.offset, now.offset, lane)
    position = text.value(f"arith.addi {row}, {now.offset} : i32")
    within = text.word_op("andi", row, ROWS - 1)
    return Sight(position, text.value(f"arith.subi {position}, {within} : i32"), lane)


def needs_mask(text: GpuText, shape: Attention, seen: Sight, tile: str) -> str | None:
    """Whether some row of the warpgroup does not see some key of the tile, i1; None: never."""
    conditions: list[str] = []
    start = text.word_op("muli", tile, KEYS)
    if shape.keys % KEYS:
        conditions.append(
            text.value(f"arith.cmpi eq, {tile}, {text.i32(shape.key_tiles - 1)} : i32")
        )
    if shape.causal:
        end = text.word_op("addi", start, KEYS - 1)
        conditions.append(text.value(f"arith.cmpi sgt, {end}, {seen.first} : i32"))
    if shape.window:
        behind = text.word_op("addi", seen.first, shape.row_step * (ROWS - 1) - shape.window)
        conditions.append(text.value(f"arith.cmpi sle, {start}, {behind} : i32"))
    return any_of(text, conditions)


def masked(
    text: GpuText, shape: Attention, seen: Sight, tile: str, sums: Sequence[str]
) -> list[str]:
    """The scores of a tile, those of hidden keys replaced."""
    condition = needs_mask(text, shape, seen, tile)
    if condition is None:
        return list(sums)
    types = ["f32"] * len(sums)
    return text.chosen_list(
        condition, types, lambda: _replaced(text, shape, seen, tile, sums), lambda: sums
    )


def _replaced(
    text: GpuText, shape: Attention, seen: Sight, tile: str, sums: Sequence[str]
) -> list[str]:
    start = text.word_op("muli", tile, KEYS)
    lane_key = text.word_op("shli", text.word_op("andi", seen.lane, 3), 2)
    # Counted from this thread's first key of the tile.
    last = text.value(f"arith.subi {text.i32(shape.keys - 1)}, {start} : i32")
    last = text.value(f"arith.subi {last}, {lane_key} : i32")
    position = text.value(f"arith.subi {seen.position}, {start} : i32")
    position = text.value(f"arith.subi {position}, {lane_key} : i32")
    found = list(sums)
    for half in range(2):
        below = 8 * half * shape.row_step
        own = text.word_op("addi", position, below)
        end = text.word_op("minsi", own, last) if shape.causal else last
        behind = text.word_op("subi", own, shape.window) if shape.window else None
        hidden = _hidden(text, shape, text.word_op("addi", seen.position, below))
        for at, score in enumerate(sums):
            if at // 2 % 2 != half:
                continue
            key = text.i32(key_of(at // 4, at % 2))
            is_seen = text.value(f"arith.cmpi sle, {key}, {end} : i32")
            if behind is not None:
                is_near = text.value(f"arith.cmpi sgt, {key}, {behind} : i32")
                is_seen = text.both(is_seen, is_near)
            found[at] = text.value(f"arith.select {is_seen}, {score}, {hidden} : f32")
            if shape.blind == "mean" and shape.keys % KEYS:
                exists = text.value(f"arith.cmpi sle, {key}, {last} : i32")
                lowest = text.constant(LOWEST)
                found[at] = text.value(f"arith.select {exists}, {found[at]}, {lowest} : f32")
    return found


def _hidden(text: GpuText, shape: Attention, position: str) -> str:
    """What hidden scores of the row at `position` become: where it sees no key, all the same."""
    lowest = text.constant(LOWEST)
    if shape.blind != "mean":
        return lowest
    conditions: list[str] = []
    if shape.causal:
        conditions.append(text.value(f"arith.cmpi slt, {position}, {text.i32(0)} : i32"))
    if shape.window:
        limit = text.i32(shape.keys - 1 + shape.window)
        conditions.append(text.value(f"arith.cmpi sge, {position}, {limit} : i32"))
    for is_blind in conditions:
        zero = text.f32(0.0)
        lowest = text.value(f"arith.select {is_blind}, {zero}, {lowest} : f32")
    return lowest
