"""The two roles of a product's warpgroups: to load tiles, and to multiply them."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.product.instructions import (
    commit,
    expect_bytes,
    fence_sums,
    load_tile,
    multiply,
    wait_groups,
    wait_sums,
)
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.schedule import tiles
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, ROWS, Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_K = 32
"""Of one `wgmma`."""
_DESCRIPTOR = (1 << 62) | (64 << 32) | (1 << 16)
"""Of a tile whose rows are swizzled by 128 bytes: eight rows are 1024 bytes, counted by 16."""


def load_tiles(pipeline: Pipeline[Product], maps: Sequence[str]) -> None:
    """What the thread that loads does: all tiles of the block, then it waits until all are read,
    as another block's arrivals must find this one there."""
    text, shape = pipeline.text, pipeline.shape
    half = shape.tile_n // shape.cluster
    rank = text.rem(text.block(), shape.cluster)
    with tiles(text, shape, pipeline.start(), STATE) as (row, column, carried, ended):
        row = _i32(text, row)
        column = _i32(text, text.add(column, text.mul(rank, half)))
        zero, one, steps = text.index(0), text.index(1), text.index(shape.steps)
        with text.fold(zero, steps, one, carried, STATE) as (step, state, after):
            pipeline.wait_empty(state)
            full = pipeline.full(state[0])
            expect_bytes(text, full, shape.stage_bytes)
            k = _i32(text, text.mul(step, shape.tile_k))
            a = pipeline.tiles(state[0])
            load_tile(text, a, maps[0], k, row, full)
            b = text.word_op("addi", a, shape.a_bytes)
            mask = 0
            if shape.cluster > 1:
                part = text.word_op("muli", _i32(text, rank), half * shape.tile_k)
                b = text.word_op("addi", b, part)
                mask = (1 << shape.cluster) - 1
            load_tile(text, b, maps[1], k, column, full, mask)
            state[:] = pipeline.next(state)
        carried[:] = after
    state = list(ended)
    for _ in range(shape.stages):
        pipeline.wait_empty(state)
        state = pipeline.next(state)


def _i32(text: GpuText, index: str) -> str:
    return text.value(f"arith.index_cast {index} : index to i32")


def multiplied(
    pipeline: Pipeline[Product], group: str, lane: str, state: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The sums of one tile that this thread of the warpgroup `group`, i32, has; the next state."""
    if pipeline.shape.exact_sums:
        return _in_two_levels(pipeline, group, lane, state)
    text, shape = pipeline.text, pipeline.shape
    count = shape.tile_n // 2
    zero, one, steps = text.index(0), text.index(1), text.index(shape.steps)
    starts = [*state, state[0], *[text.f32(0.0)] * count]
    types = [*STATE, "i32", *["f32"] * count]
    with text.fold(zero, steps, one, starts, types) as (step, carried, after):
        now, before, sums = carried[:2], carried[2], carried[3:]
        pipeline.wait_full(now)
        fence_sums(text)
        sums = _multiply_stage(pipeline, group, now[0], sums, first=False)
        commit(text)
        wait_groups(text, 1)
        is_later = text.value(f"arith.cmpi ne, {step}, {zero} : index")
        pipeline.release(before, lane, is_later)
        carried[:] = [*pipeline.next(now), now[0], *sums]
    sums = wait_sums(text, after[3:])
    pipeline.release(after[2], lane)
    return sums, after[:2]


def _in_two_levels(
    pipeline: Pipeline[Product], group: str, lane: str, state: Sequence[str]
) -> tuple[list[str], list[str]]:
    text, shape = pipeline.text, pipeline.shape
    count = shape.tile_n // 2
    zero, one, steps = text.index(0), text.index(1), text.index(shape.steps)
    starts, types = [*state, *[text.f32(0.0)] * count], [*STATE, *["f32"] * count]
    with text.fold(zero, steps, one, starts, types) as (_, carried, after):
        now, sums = carried[:2], carried[2:]
        pipeline.wait_full(now)
        fence_sums(text)
        parts = _multiply_stage(pipeline, group, now[0], sums, first=True)
        commit(text)
        parts = wait_sums(text, parts)
        pipeline.release(now[0], lane)
        added = [
            text.value(f"arith.addf {whole}, {part} : f32")
            for whole, part in zip(sums, parts, strict=True)
        ]
        carried[:] = [*pipeline.next(now), *added]
    return after[2:], after[:2]


def _multiply_stage(
    pipeline: Pipeline[Product], group: str, stage: str, sums: Sequence[str], *, first: bool
) -> list[str]:
    """All of K of a stage; with `first` the sums start there."""
    text, shape = pipeline.text, pipeline.shape
    tile = pipeline.tiles(stage)
    mine = text.word_op("muli", group, ROWS * shape.tile_k)
    a = descriptor(text, text.value(f"arith.addi {tile}, {mine} : i32"))
    b = descriptor(text, text.word_op("addi", tile, shape.a_bytes))
    formats = (FORMATS[shape.a_format], FORMATS[shape.b_format])
    found = list(sums)
    for k in range(0, shape.tile_k, _K):
        a_k, b_k = (moved(text, each, k) for each in (a, b))
        found = multiply(text, formats, found, a_k, b_k, first=first and k == 0)
    return found


def descriptor(text: GpuText, address: str) -> str:
    """Of a tile in shared memory, whose address is counted by 16 bytes."""
    wide = text.value(f"arith.extui {text.word_op('shrui', address, 4)} : i32 to i64")
    return text.value(f"arith.ori {wide}, {text.constant(f'{_DESCRIPTOR} : i64')} : i64")


def moved(text: GpuText, descriptor: str, bytes_: int) -> str:
    """Further along K: the swizzle is one of addresses."""
    if not bytes_:
        return descriptor
    return text.value(f"arith.addi {descriptor}, {text.constant(f'{bytes_ // 16} : i64')} : i64")
