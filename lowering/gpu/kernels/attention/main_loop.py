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
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS
from mlir_fp8.lowering.gpu.kernels.text import GpuText


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
    group: "Warpgroup", now: Work, states: Sequence[str]
) -> tuple[list[str], Softmax, list[str]]:
    """The weighed sums of values of this thread's rows, f32, and their softmax; and the states of
    the rings behind this work. Q is there, and is released."""
    text, rings = group.text, group.rings
    q_state, k_state, v_state = list(states[:2]), list(states[2:4]), list(states[4:])
    last = text.word_op("subi", now.high, 1)
    first = group.first_tile(last, k_state)
    k_state = rings.k.next(k_state)
    one, count = text.i32(1), text.value(f"arith.subi {now.high}, {now.low} : i32")
    zeros = [text.f32(0.0)] * (group.shape.tile_width // 2)
    starts = [*k_state, *v_state, *first.flat(), *zeros]
    types = [*STATE, *STATE, *_FLAT, *["f32"] * len(zeros)]
    end = 4 + len(_FLAT)
    with text.fold(one, count, one, starts, types, counter="i32") as (step, carried, after):
        tile = text.value(f"arith.subi {last}, {step} : i32")
        before, values = _from_flat(carried[4:end]), carried[end:]
        made, values = group.next_tile(tile, before, values, carried[:4])
        k_state, v_state = rings.k.next(carried[:2]), rings.v.next(carried[2:4])
        carried[:] = [*k_state, *v_state, *made.flat(), *values]
    rings.q.release(q_state[0], group.lane)
    tile, values, v_state = _from_flat(after[4:end]), after[end:], list(after[2:4])
    sums = group.started_values(tile, v_state)
    sums = wait_sums(text, sums)
    rings.v.release(v_state[0], group.lane)
    values = _added(text, values, tile.softmax.by, sums)
    behind = [*rings.q.next(q_state), *after[:2], *rings.v.next(v_state)]
    assert len(behind) == len(STATES)
    return values, tile.softmax, behind


@dataclass(frozen=True)
class Warpgroup:
    """A warpgroup and its rows: where those of Q are in shared memory, i32; the `lane` of a thread,
    i32; what scores are multiplied by, f32; what the rows see."""

    text: GpuText
    shape: Attention
    rings: Rings
    turns: Turns
    queries: str
    lane: str
    factor: str
    seen: Sight

    def first_tile(self, tile: str, state: Sequence[str]) -> _Tile:
        text = self.text
        self.rings.k.wait_full(state)
        self.turns.wait()
        scores = self._started_scores(state)
        self.turns.give()
        scores = wait_sums(text, scores)
        self.rings.k.release(state[0], self.lane)
        lowest, zero = text.constant(LOWEST), text.f32(0.0)
        none = Softmax([lowest, lowest], [zero, zero], [zero, zero])
        numbers, softmax = self._softmax(tile, scores, none)
        return _Tile(fragments(text, numbers, self.shape.p_format), softmax)

    def next_tile(
        self, tile: str, before: _Tile, values: Sequence[str], states: Sequence[str]
    ) -> tuple[_Tile, list[str]]:
        """The tile, and `values` with those of the tile before."""
        text, rings = self.text, self.rings
        k_state, v_state = states[:2], states[2:]
        rings.k.wait_full(k_state)
        self.turns.wait()
        scores = self._started_scores(k_state)
        sums = self.started_values(before, v_state)
        self.turns.give()
        scores = wait_sums(text, scores, pending=1)
        numbers, softmax = self._softmax(tile, scores, before.softmax)
        # `ptxas` would wait for the values first, and compute exponentials then: but it keeps this
        # arrival, which depends on these, in front of the wait.
        rings.k.release(k_state[0], self.lane, _are_sums(text, softmax.sums))
        sums = wait_sums(text, sums)
        rings.v.release(v_state[0], self.lane)
        values = _added(text, values, before.softmax.by, sums)
        return _Tile(fragments(text, numbers, self.shape.p_format), softmax), values

    def started_values(self, tile: _Tile, state: Sequence[str]) -> list[str]:
        """A tile's e by its values: started, not there yet."""
        text, shape = self.text, self.shape
        self.rings.v.wait_full(state)
        fence_sums(text)
        sums = [""] * (shape.tile_width // 2)
        formats = (FORMATS[shape.p_format], FORMATS[shape.v_format])
        b = descriptor(text, self.rings.v.tiles(state[0]))
        for at, each in enumerate(tile.words):
            sums = multiply(text, formats, sums, each, moved(text, b, K * at), first=at == 0)
        commit(text)
        return sums

    def _started_scores(self, state: Sequence[str]) -> list[str]:
        fence_sums(self.text)
        keys = self.rings.k.tiles(state[0])
        scores = multiply_scores(self.text, self.shape, self.queries, keys)
        commit(self.text)
        return scores

    def _softmax(
        self, tile: str, scores: Sequence[str], before: Softmax
    ) -> tuple[list[str], Softmax]:
        scores = masked(self.text, self.shape, self.seen, tile, scores)
        return exponentials(self.text, scores, before, self.factor)


def _added(
    text: GpuText, values: Sequence[str], by: Sequence[str], sums: Sequence[str]
) -> list[str]:
    return [
        text.fma(value, by[at // 2 % 2], each)
        for at, (value, each) in enumerate(zip(values, sums, strict=True))
    ]


def _are_sums(text: GpuText, sums: Sequence[str]) -> str:
    """True, i1: sums of numbers that are not below 0 have no sign."""
    low, high = (text.bits(each, "f32", "i32") for each in sums)
    both = text.word_op("ori", low, high)
    return text.value(f"arith.cmpi sge, {both}, {text.i32(0)} : i32")
