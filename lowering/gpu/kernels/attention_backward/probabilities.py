"""Probabilities and gradients of scores of a tile, from its two products."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.frame import any_of
from mlir_fp8.lowering.gpu.kernels.attention.softmax import exp2
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import COLUMNS, AttentionBackward
from mlir_fp8.lowering.gpu.kernels.product.instructions import load_shared_pair
from mlir_fp8.lowering.gpu.kernels.product.rounding import packed
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class Statistic:
    """lse or delta of a tile's queries: two numbers, of this thread's two rows, or the address in
    shared memory of those of this thread's first column, i32."""

    rows: Sequence[str] = ()
    address: str = ""

    def of(self, text: GpuText, count: int) -> list[str]:
        """For each of this thread's `count` numbers of a tile."""
        if self.rows:
            return [self.rows[at // 2 % 2] for at in range(count)]
        found: list[str] = []
        for eight in range(count // 4):
            found += load_shared_pair(text, self.address, 32 * eight) * 2
        return found


@dataclass(frozen=True)
class Place:
    """Where a thread is, i32: its first held row, that of its warpgroup, its lane."""

    row: str
    first: str
    lane: str


def probabilities(
    text: GpuText, shape: AttentionBackward, scores: Sequence[str], lse: Statistic
) -> list[str]:
    """exp(scale s - lse)."""
    factor = text.f32(shape.scale * _LOG2_E)
    found: list[str] = []
    for score, least in zip(scores, lse.of(text, len(scores)), strict=True):
        less = text.value(f"arith.negf {least} : f32")
        found.append(exp2(text, text.fma(score, factor, less)))
    return found


def score_gradients(
    text: GpuText, p: Sequence[str], gradients: Sequence[str], delta: Statistic
) -> list[str]:
    """P (dP - delta)."""
    found: list[str] = []
    for share, gradient, mean in zip(p, gradients, delta.of(text, len(p)), strict=True):
        apart = text.value(f"arith.subf {gradient}, {mean} : f32")
        found.append(text.value(f"arith.mulf {share}, {apart} : f32"))
    return found


def fragments(text: GpuText, numbers: Sequence[str], element: str) -> list[list[str]]:
    """A tile as `wgmma` takes it from registers: for each 16 columns four words."""
    return [
        [packed(text, numbers[at], numbers[at + 1], element) for at in range(start, start + 8, 2)]
        for start in range(0, len(numbers), 8)
    ]


def masked(
    text: GpuText, shape: AttentionBackward, place: Place, tile: str, p: Sequence[str]
) -> list[str]:
    """The probabilities of a tile, 0 for keys that are hidden, or that no head has."""
    condition = _needs_mask(text, shape, place, tile)
    if condition is None:
        return list(p)
    return text.chosen_list(
        condition, ["f32"] * len(p), lambda: _replaced(text, shape, place, tile, p), lambda: p
    )


def _needs_mask(text: GpuText, shape: AttentionBackward, place: Place, tile: str) -> str | None:
    """Whether some key of the tile is hidden from some row of the warpgroup, i1; None: never."""
    conditions: list[str] = []
    if not shape.is_of_keys and shape.keys % COLUMNS:
        last = text.i32(shape.streamed_tiles - 1)
        conditions.append(text.value(f"arith.cmpi eq, {tile}, {last} : i32"))
    if shape.causal:
        start = text.word_op("muli", tile, COLUMNS)
        if shape.is_of_keys:
            key, query = text.word_op("addi", place.first, ROWS - 1), start
        else:
            key, query = text.word_op("addi", start, COLUMNS - 1), place.first
        conditions.append(text.value(f"arith.cmpi sgt, {key}, {query} : i32"))
    return any_of(text, conditions)


def _replaced(
    text: GpuText, shape: AttentionBackward, place: Place, tile: str, p: Sequence[str]
) -> list[str]:
    zero = text.f32(0.0)
    start = text.word_op("muli", tile, COLUMNS)
    mine = text.word_op("shli", text.word_op("andi", place.lane, 3), 1)
    # Counted from this thread's first column of the tile.
    start = text.value(f"arith.addi {start}, {mine} : i32")
    found = list(p)
    for half in range(2):
        row = text.word_op("addi", place.row, 8 * half)
        own = text.value(f"arith.subi {row}, {start} : i32")
        last = text.value(f"arith.subi {text.i32(shape.keys - 1)}, {start} : i32")
        end = text.value(f"arith.minsi {own}, {last} : i32") if shape.causal else last
        for at, share in enumerate(p):
            if at // 2 % 2 != half:
                continue
            column = text.i32(8 * (at // 4) + at % 2)
            if shape.is_of_keys:  # columns are queries, rows are keys
                is_seen = text.value(f"arith.cmpi sge, {column}, {own} : i32")
            else:
                is_seen = text.value(f"arith.cmpi sle, {column}, {end} : i32")
            found[at] = text.value(f"arith.select {is_seen}, {share}, {zero} : f32")
    return found
