"""What a first stage has of the group before: 0 is in its place. Behind a group its maps end."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.grouped.schedule import ALIGNED, Tile
from mlir_fp8.lowering.gpu.kernels.product.instructions import emit, word
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import SPAN, WARPGROUP, Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_BARRIER = 1
"""Barrier 0 is that of the whole block."""


def hide_before(pipeline: Pipeline[Product], tile: Tile, state: Sequence[str], thread: str) -> None:
    """Let the first stage of a tile be 0 before its group begins, in both operands.

    By all threads that multiply, `thread` is i32, which wait for each other; NaN times 0 is no 0.
    """
    text, shape = pipeline.text, pipeline.shape
    lead = text.value(f"arith.index_cast {text.sub(tile.begin, tile.start)} : index to i32")
    starts_within = text.value(f"arith.cmpi ne, {lead}, {text.i32(0)} : i32")
    has_any = text.value(f"arith.cmpi ne, {tile.steps}, {text.index(0)} : index")
    with text.when(text.both(starts_within, has_any)):
        pipeline.wait_full(state)
        masks = _masks(text, lead)
        a = pipeline.tiles(state[0])
        threads = WARPGROUP * shape.consumers
        for base, rows in (
            (a, shape.tile_m),
            (text.word_op("addi", a, shape.a_bytes), shape.tile_n),
        ):
            for first in range(0, rows, threads):
                row = text.word_op("addi", thread, first)
                inside = text.value(f"arith.cmpi ult, {row}, {text.i32(rows)} : i32")
                with text.when(inside):
                    _mask_row(text, base, row, masks)
        emit(text, "fence.proxy.async.shared::cta;")
        emit(text, f"bar.sync {_BARRIER}, {threads};")


def _masks(text: GpuText, lead: str) -> list[str]:
    """Of the four words of a piece: the bits that stay where `lead` bytes do not."""
    found: list[str] = []
    for first in range(0, ALIGNED, 4):
        bytes_ = text.word_op("maxsi", text.word_op("subi", lead, first), 0)
        bits = text.word_op("shli", text.word_op("minsi", bytes_, 3), 3)
        mask = text.value(f"arith.shli {text.i32(-1)}, {bits} : i32")
        is_hidden = text.value(f"arith.cmpi sge, {bytes_}, {text.i32(4)} : i32")
        found.append(text.value(f"arith.select {is_hidden}, {text.i32(0)}, {mask} : i32"))
    return found


def _mask_row(text: GpuText, base: str, row: str, masks: Sequence[str]) -> None:
    """The first piece of a row; the swizzle moves it by the row's number within eight."""
    at = text.word_op("muli", row, SPAN)
    piece = text.word_op("muli", text.word_op("andi", row, 7), ALIGNED)
    at = text.word_op("addi", base, text.word_op("addi", at, piece))
    for i, mask in enumerate(masks):
        code = "{ .reg .b32 v; ld.shared.b32 v, [$0]; and.b32 v, v, $1; st.shared.b32 [$0], v; }"
        to = text.word_op("addi", at, 4 * i) if i else at
        emit(text, code, [word(to), word(mask)])
