"""Which tiles a block holds one after the other, and which tiles go by them."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.attention.schedule import tiles_of_heads
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import COLUMNS, AttentionBackward
from mlir_fp8.lowering.gpu.kernels.text import GpuText


@dataclass(frozen=True)
class Work:
    """Held rows from `first` on of one head; the streamed tiles are `low` to `high`, one at least,
    of one head or of each that shares the held one; all are i32."""

    first: str
    head: str
    low: str
    high: str
    steps: str
    """Streamed tiles of all heads."""


@contextlib.contextmanager
def work(
    text: GpuText, shape: AttentionBackward, starts: Sequence[str], types: Sequence[str]
) -> Iterator[tuple[Work, list[str], list[str]]]:
    """A loop over the work of this block; with `causal` the longest of a few heads comes first."""
    sizes = (shape.held_tiles, shape.held_heads, shape.head_group)
    is_last_first = shape.causal and not shape.is_of_keys
    with tiles_of_heads(
        text, sizes, shape.grid, starts, types, is_last_first=is_last_first
    ) as loop:
        tile, head, carried, results = loop
        first = text.word_op("muli", tile, shape.held)
        low, high = _streamed(text, shape, first)
        steps = text.value(f"arith.subi {high}, {low} : i32")
        if shape.is_of_keys and shape.group > 1:
            steps = text.word_op("muli", steps, shape.group)
        yield Work(first, head, low, high, steps), carried, results


def _streamed(text: GpuText, shape: AttentionBackward, first: str) -> tuple[str, str]:
    low, high = text.i32(0), text.i32(shape.streamed_tiles)
    if not shape.causal:
        return low, high
    shift = COLUMNS.bit_length() - 1
    if shape.is_of_keys:
        low = text.word_op("shrui", first, shift)
        return text.word_op("minui", low, shape.streamed_tiles - 1), high
    last = text.word_op("addi", first, shape.held - 1)
    last = text.word_op("minui", last, shape.rows - 1)
    seen = text.word_op("addi", text.word_op("shrui", last, shift), 1)
    return low, text.word_op("minui", seen, shape.streamed_tiles)


def streamed(text: GpuText, shape: AttentionBackward, now: Work, step: str) -> tuple[str, str]:
    """The tile and the head of a step, i32."""
    if not shape.is_of_keys:
        head = now.head if shape.group == 1 else text.word_op("divui", now.head, shape.group)
        return text.value(f"arith.addi {now.low}, {step} : i32"), head
    if shape.group == 1:
        return text.value(f"arith.addi {now.low}, {step} : i32"), now.head
    count = text.value(f"arith.subi {now.high}, {now.low} : i32")
    behind, within = (
        text.value(f"arith.{name} {step}, {count} : i32") for name in ("divui", "remui")
    )
    head = text.word_op("muli", now.head, shape.group)
    tile = text.value(f"arith.addi {now.low}, {within} : i32")
    return tile, text.value(f"arith.addi {head}, {behind} : i32")


def next_tile(text: GpuText, shape: AttentionBackward, now: Work, tile: str) -> str:
    """The tile of the next step, without the divisions of `streamed`."""
    after = text.word_op("addi", tile, 1)
    if not shape.is_of_keys or shape.group == 1:
        return after
    is_last = text.value(f"arith.cmpi eq, {after}, {now.high} : i32")
    return text.value(f"arith.select {is_last}, {now.low}, {after} : i32")
