"""What is loaded by TMA: tensor maps of Q, K and the transpose of V, and the thread that loads.

A thread has of scores two neighbouring columns of each eight, and `wgmma` wants of it four
neighbouring keys of each sixteen (PTX ISA, fragments of D and of A in registers). A sum over keys
has no order: so rows of a tile of K are keys 0 1 4 5 8 9 12 13, then 2 3 6 7 10 11 14 15, and so on
for each sixteen, by a map whose dimensions are the bits of their numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.schedule import Work, work
from mlir_fp8.lowering.gpu.kernels.attention.shape import KEYS, Attention, Ring
from mlir_fp8.lowering.gpu.kernels.product.instructions import expect_bytes, load_box
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import SPAN
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import Tensor
from mlir_fp8.lowering.gpu.kernels.text import GpuText


@dataclass(frozen=True)
class Rings:
    """The stages of Q, K and V in shared memory."""

    q: Pipeline[Ring]
    k: Pipeline[Ring]
    v: Pipeline[Ring]

    @property
    def all(self) -> tuple[Pipeline[Ring], ...]:
        return self.q, self.k, self.v

    def start(self) -> list[str]:
        """The first place in each: a state of two words each, one after the other."""
        return [word for each in self.all for word in each.start()]


STATES = (*STATE, *STATE, *STATE)


def tensors(shape: Attention) -> tuple[Tensor, Tensor, Tensor]:
    """Of Q, K and the transpose of V, with the boxes that are loaded at a time."""
    depth, keys = shape.depth, shape.stored_keys
    heads = shape.batch * shape.shared
    q = Tensor(
        (depth, shape.rows, shape.all_heads),
        (depth, shape.rows * depth),
        (SPAN, shape.tile_rows, 1),
    )
    k = Tensor(
        (depth, 2, 4, 2, heads * keys // 16),
        (depth, 4 * depth, 2 * depth, 16 * depth),
        (SPAN, 2, 4, 2, KEYS // 16),
    )
    v = Tensor((keys, shape.width, heads), (keys, shape.width * keys), (SPAN, shape.tile_width, 1))
    return q, k, v


def load_all(
    text: GpuText,
    shape: Attention,
    rings: Rings,
    maps: Sequence[str],
    offsets: tuple[str, str] | None,
) -> None:
    """What the thread that loads does: all of the block's work, the last tile of keys first."""
    with work(text, shape, offsets, rings.start(), STATES) as (now, carried, _):
        carried[:2] = _load_queries(text, rings, maps[0], now, carried[:2])
        count = text.value(f"arith.subi {now.high}, {now.low} : i32")
        last = text.word_op("subi", now.high, 1)
        loop = text.fold(text.i32(0), count, text.i32(1), carried[2:], STATES[2:], counter="i32")
        with loop as (step, state, after):
            tile = text.value(f"arith.subi {last}, {step} : i32")
            state[:2] = _load_keys(text, shape, rings, maps[1], now, tile, state[:2])
            state[2:] = _load_values(text, rings, maps[2], now, tile, state[2:])
        carried[2:] = after


def _load_queries(
    text: GpuText, rings: Rings, map_: str, now: Work, state: Sequence[str]
) -> list[str]:
    return _loaded(rings.q, map_, [text.i32(0), now.first, now.head], state)


def _load_keys(
    text: GpuText,
    shape: Attention,
    rings: Rings,
    map_: str,
    now: Work,
    tile: str,
    state: Sequence[str],
) -> list[str]:
    zero = text.i32(0)
    first = text.word_op("muli", now.keys_head, shape.stored_keys // 16)
    group = text.value(f"arith.addi {first}, {text.word_op('muli', tile, KEYS // 16)} : i32")
    return _loaded(rings.k, map_, [zero, zero, zero, zero, group], state)


def _load_values(
    text: GpuText, rings: Rings, map_: str, now: Work, tile: str, state: Sequence[str]
) -> list[str]:
    column = text.word_op("muli", tile, KEYS)
    return _loaded(rings.v, map_, [column, text.i32(0), now.keys_head], state)


def _loaded(
    ring: Pipeline[Ring], map_: str, corner: Sequence[str], state: Sequence[str]
) -> list[str]:
    """Load a box into the next stage, once it is empty; the state behind it."""
    ring.wait_empty(state)
    full = ring.full(state[0])
    expect_bytes(ring.text, full, ring.shape.stage_bytes)
    load_box(ring.text, ring.tiles(state[0]), map_, corner, full)
    return ring.next(state)
