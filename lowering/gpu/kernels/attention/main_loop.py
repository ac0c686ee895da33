"""What a warpgroup that multiplies does for its 64 rows: two products for each tile of keys.

The scores of a tile and the values of the tile before are multiplied at once; while the tensor
cores do the second, and the other warpgroup's, this one computes exponentials (Shah et al.,
FlashAttention-3, arXiv:2407.08608, section 3). The values of a tile are added to those before in
f32, as the tensor cores' own sums of f8 keep fewer bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.loads import STATES, Rings
from mlir_fp8.lowering.gpu.kernels.attention.schedule import Work
from mlir_fp8.lowering.gpu.kernels.attention.scores import (
    LOWEST,
    K,
    Sight,
    masked,
    multiply_scores,
)
from mlir_fp8.lowering.gpu.kernels.attention.shape import KEYS, Attention
from mlir_fp8.lowering.gpu.kernels.attention.softmax import (
    Softmax,
    exponentials,
    fma,
    fragments,
)
from mlir_fp8.lowering.gpu.kernels.attention.turns import Turns
from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    commit,
    fence_sums,
    multiply,
    wait_sums,
)
from mlir_fp8.lowering.gpu.kernels.product.main_loop import descriptor, moved
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, ROWS, SPAN
from mlir_fp8.lowering.gpu.kernels.text import GpuText


@dataclass(frozen=True)
class Rows:
    """A warpgroup and its rows: `group` and `lane`, i32; what scores are multiplied by, f32."""

    group: str
    lane: str
    factor: str
    seen: Sight


@dataclass(frozen=True)
class _Tile:
    """What a tile of keys leaves: its e as f8 codes, for each 32 keys four words, and the softmax
    behind it."""

    words: list[list[str]]
    softmax: Softmax

    def flat(self) -> list[str]:
        three = (self.softmax.largest, self.softmax.sums, self.softmax.by)
        return [
            *(word for each in self.words for word in each),
            *(x for each in three for x in each),
        ]


_WORDS = KEYS // 8
_FLAT = (*["i32"] * _WORDS, *["f32"] * 6)


def _from_flat(flat: Sequence[str]) -> _Tile:
    words = [list(flat[i : i + 4]) for i in range(0, _WORDS, 4)]
    rest = list(flat[_WORDS:])
    return _Tile(words, Softmax(rest[:2], rest[2:4], rest[4:]))


def attended(
    text: GpuText,
    shape: Attention,
    rings: Rings,
    turns: Turns,
    now: Work,
    rows: Rows,
    states: Sequence[str],
) -> tuple[list[str], Softmax, list[str]]:
    """The weighed sums of values of this thread's rows, f32, and their softmax; and the states of
    the rings behind this work. Q is there, and is released."""
    queries = rings.q.tiles(states[0])
    mine = text.word_op("muli", rows.group, ROWS * SPAN)
    queries = text.value(f"arith.addi {queries}, {mine} : i32")
    q_state, k_state, v_state = list(states[:2]), list(states[2:4]), list(states[4:])
    last = text.word_op("subi", now.high, 1)
    first = _first_tile(text, shape, rings, turns, queries, rows, last, k_state)
    k_state = rings.k.next(k_state)
    one, count = text.i32(1), text.value(f"arith.subi {now.high}, {now.low} : i32")
    zeros = [text.f32(0.0)] * (shape.tile_width // 2)
    starts = [*k_state, *v_state, *first.flat(), *zeros]
    types = [*STATE, *STATE, *_FLAT, *["f32"] * len(zeros)]
    with text.fold(one, count, one, starts, types, counter="i32") as (step, carried, after):
        tile = text.value(f"arith.subi {last}, {step} : i32")
        end = 4 + len(_FLAT)
        before, values = _from_flat(carried[4:end]), carried[end:]
        made, values = _next_tile(
            text, shape, rings, turns, queries, rows, tile, before, values, carried[:4]
        )
        carried[:] = [
            *rings.k.next(carried[:2]),
            *rings.v.next(carried[2:4]),
            *made.flat(),
            *values,
        ]
    rings.q.release(q_state[0], rows.lane)
    end = 4 + len(_FLAT)
    tile, values, v_state = _from_flat(after[4:end]), after[end:], list(after[2:4])
    rings.v.wait_full(v_state)
    fence_sums(text)
    sums = _multiply_values(text, shape, tile.words, rings.v.tiles(v_state[0]))
    commit(text)
    sums = wait_sums(text, sums)
    rings.v.release(v_state[0], rows.lane)
    values = _added(text, values, tile.softmax.by, sums)
    behind = [*rings.q.next(q_state), *after[:2], *rings.v.next(v_state)]
    assert len(behind) == len(STATES)
    return values, tile.softmax, behind


def _first_tile(
    text: GpuText,
    shape: Attention,
    rings: Rings,
    turns: Turns,
    queries: str,
    rows: Rows,
    tile: str,
    state: Sequence[str],
) -> _Tile:
    rings.k.wait_full(state)
    turns.wait()
    fence_sums(text)
    scores = multiply_scores(text, shape, queries, rings.k.tiles(state[0]))
    commit(text)
    turns.give()
    scores = wait_sums(text, scores)
    rings.k.release(state[0], rows.lane)
    lowest, zero = text.constant(LOWEST), text.f32(0.0)
    none = Softmax([lowest, lowest], [zero, zero], [zero, zero])
    scores = masked(text, shape, rows.seen, tile, scores)
    numbers, softmax = exponentials(text, scores, none, rows.factor)
    return _Tile(fragments(text, numbers, shape.p_format), softmax)


def _next_tile(
    text: GpuText,
    shape: Attention,
    rings: Rings,
    turns: Turns,
    queries: str,
    rows: Rows,
    tile: str,
    before: _Tile,
    values: Sequence[str],
    states: Sequence[str],
) -> tuple[_Tile, list[str]]:
    """The tile, and `values` with those of the tile before."""
    k_state, v_state = states[:2], states[2:]
    rings.k.wait_full(k_state)
    turns.wait()
    fence_sums(text)
    scores = multiply_scores(text, shape, queries, rings.k.tiles(k_state[0]))
    commit(text)
    rings.v.wait_full(v_state)
    fence_sums(text)
    sums = _multiply_values(text, shape, before.words, rings.v.tiles(v_state[0]))
    commit(text)
    turns.give()
    scores = wait_sums(text, scores, pending=1)
    scores = masked(text, shape, rows.seen, tile, scores)
    numbers, softmax = exponentials(text, scores, before.softmax, rows.factor)
    # `ptxas` would wait for the values first, and compute exponentials then: but it keeps this
    # arrival, which depends on these, in front of the wait.
    rings.k.release(k_state[0], rows.lane, _are_sums(text, softmax.sums))
    sums = wait_sums(text, sums)
    rings.v.release(v_state[0], rows.lane)
    values = _added(text, values, before.softmax.by, sums)
    return _Tile(fragments(text, numbers, shape.p_format), softmax), values


def _multiply_values(
    text: GpuText, shape: Attention, words: Sequence[Sequence[str]], tile: str
) -> list[str]:
    """A tile's e by its values: started, not there yet."""
    sums = [""] * (shape.tile_width // 2)
    formats = (FORMATS[shape.p_format], FORMATS[shape.v_format])
    b = descriptor(text, tile)
    for at, each in enumerate(words):
        sums = multiply(text, formats, sums, each, moved(text, b, K * at), first=at == 0)
    return sums


def _added(
    text: GpuText, values: Sequence[str], by: Sequence[str], sums: Sequence[str]
) -> list[str]:
    return [
        fma(text, value, by[at // 2 % 2], each)
        for at, (value, each) in enumerate(zip(values, sums, strict=True))
    ]


def _are_sums(text: GpuText, sums: Sequence[str]) -> str:
    """True, i1: sums of numbers that are not below 0 have no sign."""
    low, high = (text.bits(each, "f32", "i32") for each in sums)
    both = text.word_op("ori", low, high)
    return text.value(f"arith.cmpi sge, {both}, {text.i32(0)} : i32")
