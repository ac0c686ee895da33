"""The two roles of a product's warpgroups: to load tiles, and to multiply them."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.product.block_factors import Ahead, BlockFactors
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
from mlir_fp8.lowering.gpu.kernels.product.split import part_of_steps
from mlir_fp8.lowering.gpu.kernels.text import GpuText

_K = 32
"""Of one `wgmma`."""
_DESCRIPTOR = (1 << 62) | (64 << 32)
"""Of a tile whose rows are swizzled by 128 bytes: eight rows are 1024 bytes, counted by 16."""


def load_tiles(pipeline: Pipeline[Product], maps: Sequence[str]) -> None:
    """What the thread that loads does: all tiles of the block, then it waits until all are read."""
    text, shape = pipeline.text, pipeline.shape
    with tiles(text, shape, pipeline.start(), STATE) as (tile, carried, ended):
        pieces = _pieces(text, shape, maps, tile.b_row)
        row = _i32(text, tile.row)
        (first, steps), one = part_of_steps(text, shape), text.index(1)
        end = text.add(first, steps)
        with text.fold(first, end, one, carried, STATE) as (step, state, after):
            pipeline.wait_empty(state)
            k = _i32(text, text.mul(step, shape.tile_k))
            _load_pieces(pipeline, maps[0], state[0], (k, k), row, pieces)
            state[:] = pipeline.next(state)
        carried[:] = after
    wait_all_empty(pipeline, ended)


def load_stage(
    pipeline: Pipeline[Product],
    maps: Sequence[str],
    stage: str,
    k: tuple[str, str],
    rows: tuple[str, str],
) -> None:
    """By one thread: a tile of A and this block's of B, from there on along K and of rows, i32."""
    text, shape = pipeline.text, pipeline.shape
    rank = _i32(text, text.rem(text.block(), shape.cluster))
    part = text.word_op("muli", rank, shape.tile_n // shape.cluster * shape.tile_k)
    _load_pieces(pipeline, maps[0], stage, k, rows[0], [(maps[1], rows[1], part)])


def _load_pieces(
    pipeline: Pipeline[Product],
    a_map: str,
    stage: str,
    k: tuple[str, str],
    row: str,
    pieces: Sequence[tuple[str, str, str]],
) -> None:
    """As `load_stage`, of B so many pieces: the map, the first row and where in the tile."""
    text, shape = pipeline.text, pipeline.shape
    full = pipeline.full(stage)
    expect_bytes(text, full, shape.stage_bytes)
    a = pipeline.tiles(stage)
    load_tile(text, a, a_map, k[0], row, full)
    b = text.word_op("addi", a, shape.a_bytes)
    mask = (1 << shape.cluster) - 1 if shape.cluster > 1 else 0
    for map_, first, behind in pieces:
        to = text.value(f"arith.addi {b}, {behind} : i32")
        load_tile(text, to, map_, k[1], first, full, mask)


def wait_all_empty(pipeline: Pipeline[Product], state: Sequence[str]) -> None:
    """As another block's arrivals must find this one there."""
    for _ in range(pipeline.shape.stages):
        pipeline.wait_empty(state)
        state = pipeline.next(state)


def _pieces(
    text: GpuText, shape: Product, maps: Sequence[str], b_row: str
) -> list[tuple[str, str, str]]:
    """Of a tile of B what this block loads: the map, the first row and where in the tile, i32.

    A block of a cluster loads the piece of its rank, for all.
    """
    rows = shape.tile_n // shape.b_pieces
    if shape.cluster == 1:
        numbers = [text.index(i) for i in range(shape.b_pieces)]
    else:
        numbers = [text.rem(text.block(), shape.cluster)]
    apart = {"": rows, "below": shape.n, "apart": 0}[shape.up]
    found: list[tuple[str, str, str]] = []
    for number in numbers:
        is_first = text.same(number, 0)
        map_ = text.value(f"arith.select {is_first}, {maps[1]}, {maps[-1]} : i64")
        first = text.add(b_row, text.mul(number, apart))
        found.append((map_, _i32(text, first), _i32(text, text.mul(number, rows * shape.tile_k))))
    return found


def _i32(text: GpuText, index: str) -> str:
    return text.value(f"arith.index_cast {index} : index to i32")


def multiplied(
    pipeline: Pipeline[Product],
    group: str,
    lane: str,
    state: Sequence[str],
    steps: str | None = None,
    factors: BlockFactors | None = None,
) -> tuple[list[str], list[str]]:
    """The sums of one tile that this thread of the warpgroup `group`, i32, has; the next state.

    `steps`, index: along K, where they are other than the shape's; maybe 0. `factors` are of exact
    sums.
    """
    text, shape = pipeline.text, pipeline.shape

    def summed(count: str) -> tuple[list[str], list[str]]:
        if shape.exact_sums:
            return _in_two_levels(pipeline, group, lane, state, count, factors)
        return _in_one_level(pipeline, group, lane, state, count)

    if steps is None:
        return summed(text.index(shape.steps))
    # A loop that may have no turn would have its sums' registers set beside `wgmma`.
    zeros = [text.f32(0.0)] * (shape.tile_n // 2)

    def made() -> list[str]:
        sums, after = summed(steps)
        return [*after, *sums]

    some = text.value(f"arith.cmpi sgt, {steps}, {text.index(0)} : index")
    types = [*STATE, *["f32"] * len(zeros)]
    found = text.chosen_list(some, types, made, lambda: [*state, *zeros])
    return found[2:], found[:2]


def _in_one_level(
    pipeline: Pipeline[Product], group: str, lane: str, state: Sequence[str], steps: str
) -> tuple[list[str], list[str]]:
    text, shape = pipeline.text, pipeline.shape
    zero, one = text.index(0), text.index(1)
    count = shape.tile_n // 2
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
    pipeline: Pipeline[Product],
    group: str,
    lane: str,
    state: Sequence[str],
    steps: str,
    factors: BlockFactors | None = None,
) -> tuple[list[str], list[str]]:
    text, shape = pipeline.text, pipeline.shape
    count = shape.tile_n // 2
    zero, one = text.index(0), text.index(1)
    ahead = Ahead(factors)
    first = ahead.first(zero)
    starts = [*state, *first, *[text.f32(0.0)] * count]
    types = [*STATE, *["f32"] * (len(first) + count)]
    with text.fold(zero, steps, one, starts, types) as (step, carried, after):
        now, sums = carried[:2], carried[2 + len(first) :]
        ahead.held = carried[2 : 2 + len(first)]
        pipeline.wait_full(now)
        for part in range(shape.parts):
            fence_sums(text)
            added = _multiply_stage(pipeline, group, now[0], sums, first=True, part=part)
            commit(text)
            scales = ahead.taken(step, part)
            added = wait_sums(text, added)
            if part == shape.parts - 1:
                pipeline.release(now[0], lane)
            if factors is not None and scales is not None:
                sums = factors.added(sums, added, scales)
            else:
                sums = [
                    text.value(f"arith.addf {whole}, {each} : f32")
                    for whole, each in zip(sums, added, strict=True)
                ]
        carried[:] = [*pipeline.next(now), *ahead.held, *sums]
    return after[2 + len(first) :], after[:2]


def _multiply_stage(
    pipeline: Pipeline[Product],
    group: str,
    stage: str,
    sums: Sequence[str],
    *,
    first: bool,
    part: int | None = None,
) -> list[str]:
    """All of K of a stage, or a part of it; with `first` the sums start there."""
    text, shape = pipeline.text, pipeline.shape
    tile = pipeline.tiles(stage)
    mine = text.word_op("muli", group, ROWS * shape.tile_k)
    a = descriptor(text, text.value(f"arith.addi {tile}, {mine} : i32"))
    b = descriptor(text, text.word_op("addi", tile, shape.a_bytes))
    formats = (FORMATS[shape.a_format], FORMATS[shape.b_format])
    found = list(sums)
    width = shape.tile_k if part is None else shape.tile_k // shape.parts
    start = 0 if part is None else part * width
    for k in range(start, start + width, _K):
        a_k, b_k = (moved(text, each, k) for each in (a, b))
        found = multiply(text, formats, found, a_k, b_k, first=first and k == start)
    return found


def descriptor(text: GpuText, address: str, apart: int = 16) -> str:
    """Of a tile in shared memory, whose address is counted by 16 bytes.

    `apart`: bytes between tiles side by side of one whose rows are along K; others have none.
    """
    wide = text.value(f"arith.extui {text.word_op('shrui', address, 4)} : i32 to i64")
    fields = text.constant(f"{_DESCRIPTOR | (apart // 16 << 16)} : i64")
    return text.value(f"arith.ori {wide}, {fields} : i64")


def moved(text: GpuText, descriptor: str, bytes_: int) -> str:
    """Further along K: the swizzle is one of addresses."""
    if not bytes_:
        return descriptor
    return text.value(f"arith.addi {descriptor}, {text.constant(f'{bytes_ // 16} : i64')} : i64")
