"""What is loaded by TMA: tensor maps of Q, K, V and dO, and the thread that loads."""

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.shape import Ring
from mlir_fp8.lowering.gpu.kernels.attention_backward.schedule import streamed, work
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import COLUMNS, HALF, AttentionBackward
from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    expect_bytes,
    load_box,
    load_bytes,
)
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import SPAN
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import Tensor
from mlir_fp8.lowering.gpu.kernels.text import GpuText

STATES = (*STATE, *STATE)


@dataclass(frozen=True)
class Rings:
    """The stages of what is held and of what goes by, in shared memory."""

    held: Pipeline[Ring]
    streamed: Pipeline[Ring]

    @property
    def all(self) -> tuple[Pipeline[Ring], ...]:
        return self.held, self.streamed

    def start(self) -> list[str]:
        """The first place in each: a state of two words each, one after the other."""
        return [word for each in self.all for word in each.start()]


@dataclass(frozen=True)
class Statistics:
    """Where lse and delta are, i64."""

    lse: str
    delta: str


def operands(shape: AttentionBackward) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two that are held, and the two that go by: scores are of the first of each."""
    of_keys, of_queries = ("k", "v"), ("q", "do")
    return (of_keys, of_queries) if shape.is_of_keys else (of_queries, of_keys)


def tensor(shape: AttentionBackward, name: str) -> Tensor:
    """Of one operand, with the box that is loaded at a time: half of a long head."""
    is_of_queries = name in ("q", "do")
    size = shape.depth if name in ("q", "k") else shape.width
    rows = shape.rows if is_of_queries else shape.keys
    heads = shape.batch * (shape.heads if is_of_queries else shape.shared)
    is_held = name in operands(shape)[0]
    box = (SPAN, shape.held if is_held else COLUMNS, 1)
    return Tensor((2 * size, rows, heads), (2 * size, rows * 2 * size), box)


def load_all(
    text: GpuText,
    shape: AttentionBackward,
    rings: Rings,
    maps: Sequence[str],
    statistics: Statistics,
) -> None:
    """What the thread that loads does: all of the block's work."""
    with work(text, shape, rings.start(), STATES) as (now, carried, _):
        held = rings.held
        held.wait_empty(carried[:2])
        full = held.full(carried[0])
        expect_bytes(text, full, held.shape.stage_bytes)
        _load_pair(
            text, shape, held.tiles(carried[0]), maps[:2], (now.first, now.head), shape.held, full
        )
        carried[:2] = held.next(carried[:2])
        zero, one = text.i32(0), text.i32(1)
        loop = text.fold(zero, now.steps, one, carried[2:], STATE, counter="i32")
        with loop as (step, state, after):
            tile, head = streamed(text, shape, now, step)
            _load_streamed(text, shape, rings.streamed, maps[2:], statistics, (tile, head), state)
            state[:] = rings.streamed.next(state)
        carried[2:] = after


def _load_streamed(
    text: GpuText,
    shape: AttentionBackward,
    ring: Pipeline[Ring],
    maps: Sequence[str],
    statistics: Statistics,
    place: tuple[str, str],
    state: Sequence[str],
) -> None:
    tile, head = place
    ring.wait_empty(state)
    full, stage = ring.full(state[0]), ring.tiles(state[0])
    each = 4 * COLUMNS
    tiles = COLUMNS * 2 * (shape.tile_depth + shape.tile_width)
    expect_bytes(text, full, tiles + (2 * each if shape.is_of_keys else 0))
    first = text.word_op("muli", tile, COLUMNS)
    _load_pair(text, shape, stage, maps, (first, head), COLUMNS, full)
    if not shape.is_of_keys:
        return
    start = text.word_op("muli", head, shape.stored_rows)
    number = text.value(f"arith.addi {start}, {first} : i32")
    wide = text.value(f"arith.extui {number} : i32 to i64")
    behind = text.value(f"arith.muli {wide}, {text.constant('4 : i64')} : i64")
    for at, memory in enumerate((statistics.lse, statistics.delta)):
        source = text.value(f"arith.addi {memory}, {behind} : i64")
        load_bytes(text, text.word_op("addi", stage, tiles + at * each), source, each, full)


def _load_pair(
    text: GpuText,
    shape: AttentionBackward,
    to: str,
    maps: Sequence[str],
    place: tuple[str, str],
    rows: int,
    full: str,
) -> None:
    """`rows` of two operands, in halves of heads, one behind the other."""
    first, head = place
    at = 0
    for map_, size in zip(maps, (shape.tile_depth, shape.tile_width), strict=True):
        for half in range(0, size, HALF):
            corner = [text.i32(2 * half), first, head]
            load_box(text, text.word_op("addi", to, at), map_, corner, full)
            at += rows * SPAN
