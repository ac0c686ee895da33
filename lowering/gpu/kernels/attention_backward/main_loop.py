"""What a warpgroup that multiplies does for its 64 held rows: products with each tile that goes by.

Of keys four: K Q^T and V dO^T, whose results are P and dS, turned; these are in registers where
`wgmma` wants them, and by dO and Q they add to dV and dK. Of queries three: Q K^T and dO V^T, and
dS by K. The last products of a tile are under way while the first of the next start.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention_backward.loads import STATES, Rings
from mlir_fp8.lowering.gpu.kernels.attention_backward.probabilities import (
    Place,
    Statistic,
    fragments,
    masked,
    probabilities,
    score_gradients,
)
from mlir_fp8.lowering.gpu.kernels.attention_backward.schedule import Work, next_tile
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import COLUMNS, HALF, AttentionBackward
from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    commit,
    fence_sums,
    multiply,
    wait_groups,
    wait_sums,
)
from mlir_fp8.lowering.gpu.kernels.product.main_loop import descriptor, moved
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS, SPAN
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_K = 16
"""Numbers that one `wgmma` sums over."""


@dataclass(frozen=True)
class Warpgroup:
    """A warpgroup and its rows: `group` is its number, `place` where a thread is; `statistics` of
    rows, lse and delta, where these are queries."""

    text: GpuText
    shape: AttentionBackward
    rings: Rings
    group: str
    place: Place
    statistics: tuple[Statistic, Statistic] | None

    def gradients(self, now: Work, states: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """The sums of P^T dO (none of queries) and of dS, f32, and the states behind this work."""
        text, shape, rings = self.text, self.shape, self.rings
        held = rings.held.tiles(states[0])
        rings.held.wait_full(states[:2])
        values = shape.tile_width // 2 if shape.is_of_keys else 0
        count = values + shape.tile_depth // 2
        starts = [*states[2:], states[2], now.low, *[text.f32(0.0)] * count]
        types = [*STATE, "i32", "i32", *["f32"] * count]
        zero, one = text.i32(0), text.i32(1)
        with text.fold(zero, now.steps, one, starts, types, counter="i32") as loop:
            step, carried, after = loop
            is_later = text.value(f"arith.cmpi ne, {step}, {zero} : i32")
            state, before, tile, sums = carried[:2], carried[2], carried[3], carried[4:]
            # Else descriptors of what is held stay in registers around the loop.
            here = text.value(
                f'llvm.inline_asm has_side_effects "mov.b32 $0, $1;", "=r,r" {held} : (i32) -> i32'
            )
            sums = self._added(here, tile, state, (before, is_later), sums[:values], sums[values:])
            carried[:] = [
                *rings.streamed.next(state), state[0], next_tile(text, shape, now, tile), *sums
            ]  # fmt: skip
        sums = wait_sums(text, after[4:])
        rings.streamed.release(after[2], self.place.lane)
        rings.held.release(states[0], self.place.lane)
        behind = [*rings.held.next(states[:2]), *after[:2]]
        assert len(behind) == len(STATES)
        return sums[:values], sums[values:], behind

    def _added(
        self,
        held: str,
        tile: str,
        state: Sequence[str],
        before: tuple[str, str],
        values: Sequence[str],
        sums: Sequence[str],
    ) -> list[str]:
        """`values` and `sums` with those of a tile, which are under way; those `before` are not."""
        text, shape, ring = self.text, self.shape, self.rings.streamed
        ring.wait_full(state)
        first = ring.tiles(state[0])
        second = text.word_op("addi", first, COLUMNS * 2 * shape.tile_depth)
        statistics = self.statistics or self._of_columns(second)
        fence_sums(text)
        scores = self._scores(held, first, shape.tile_depth)
        commit(text)
        # Before more is started, so that the fragments of the tile before leave their registers.
        wait_groups(text, 1)
        ring.release(before[0], self.place.lane, before[1])
        behind = text.word_op("addi", held, shape.held * 2 * shape.tile_depth)
        gradients = self._scores(behind, second, shape.tile_width)
        commit(text)
        scores = wait_sums(text, scores, pending=1)
        p = masked(text, shape, self.place, tile, probabilities(text, shape, scores, statistics[0]))
        values = list(values)
        if values:
            values = self._weighed(p, second, values)
        gradients = wait_sums(text, gradients, pending=1 if values else 0)
        ds = score_gradients(text, p, gradients, statistics[1])
        if values:
            # While both are under way the fragments of both would need registers.
            values = wait_sums(text, values)
        return [*values, *self._weighed(ds, first, sums)]

    def _of_columns(self, second: str) -> tuple[Statistic, Statistic]:
        text, shape = self.text, self.shape
        behind = text.word_op("addi", second, COLUMNS * 2 * shape.tile_width)
        column = text.word_op("shli", text.word_op("andi", self.place.lane, 3), 3)
        lse = text.value(f"arith.addi {behind}, {column} : i32")
        delta = text.word_op("addi", lse, 4 * COLUMNS)
        return Statistic(address=lse), Statistic(address=delta)

    def _scores(self, held: str, streamed_: str, size: int) -> list[str]:
        """This warpgroup's rows of a held tile by a streamed one, both of heads of `size`."""
        text, shape = self.text, self.shape
        mine = text.word_op("muli", self.group, ROWS * SPAN)
        a = descriptor(text, text.value(f"arith.addi {held}, {mine} : i32"))
        b = descriptor(text, streamed_)
        sums = [""] * (COLUMNS // 2)
        formats = (shape.element, shape.element)
        for k in range(0, size, _K):
            half, within = k // HALF, 2 * (k % HALF)
            a_k = moved(text, a, half * shape.held * SPAN + within)
            b_k = moved(text, b, half * COLUMNS * SPAN + within)
            sums = multiply(text, formats, sums, a_k, b_k, first=k == 0)
        return sums

    def _weighed(self, numbers: Sequence[str], tile: str, sums: Sequence[str]) -> list[str]:
        """`sums` with `numbers` by the rows of a streamed tile: started, not there yet."""
        text, shape = self.text, self.shape
        words = fragments(text, numbers, shape.element)
        b = descriptor(text, tile, apart=COLUMNS * SPAN)
        formats = (shape.element, shape.element)
        fence_sums(text)
        found = list(sums)
        for at, each in enumerate(words):
            b_k = moved(text, b, at * _K * SPAN)
            found = multiply(text, formats, found, each, b_k, first=False, transposed=True)
        commit(text)
        return found
