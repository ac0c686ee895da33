"""Which tiles a block has, one after the other."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText


@dataclass(frozen=True)
class Tile:
    """Its first row, of those of all batches, and its first column, index."""

    row: str
    column: str
    b_row: str
    """The row of B, of those of all batches, that the column is of."""
    end: str | None
    """Behind the last row of the batch; None where no tile goes beyond."""


@contextlib.contextmanager
def tiles(
    text: GpuText, shape: Product, starts: Sequence[str], types: Sequence[str]
) -> Iterator[tuple[Tile, list[str], list[str]]]:
    """A loop over the tiles of this block: each, and as `fold` has them the values that are carried
    and the results."""
    block = text.block()
    cluster = text.div(block, shape.together)
    rank = text.rem(block, shape.cluster)
    each = shape.tiles_m * shape.tiles_n
    count, step = shape.batches * each, shape.grid // shape.together
    with text.fold(cluster, text.index(count), text.index(step), starts, types) as loop:
        tile, carried, results = loop
        within = tile if shape.batches == 1 else text.rem(tile, each)
        down, across = placed(text, shape, within)
        down = text.add(text.mul(down, shape.cluster), rank)
        row, column = text.mul(down, shape.tile_m), text.mul(across, shape.tile_columns)
        b_row, end = column, None
        if shape.m % (shape.tile_m * shape.cluster):
            end = text.index(shape.m)
        if shape.batches > 1:
            batch = text.div(tile, each)
            first = text.mul(batch, shape.m)
            row, b_row = text.add(first, row), text.add(text.mul(batch, shape.n), column)
            end = None if end is None else text.add(first, end)
        yield Tile(row, column, b_row, end), carried, results


def placed(text: GpuText, shape: Product, tile: str, tiles_m: str | None = None) -> tuple[str, str]:
    """Down first, in groups of so many tiles of rows; `tiles_m`, index: where D has not all."""
    most = max(1, min(shape.group // shape.cluster, shape.tiles_m))
    width = most * shape.tiles_n
    group, within = text.div(tile, width), text.rem(tile, width)
    first = text.mul(group, most)
    size = text.index(most)
    if tiles_m is not None or shape.tiles_m % most:
        size = text.minimum(size, text.sub(tiles_m or text.index(shape.tiles_m), first))
    down = text.add(first, text.value(f"arith.remui {within}, {size} : index"))
    return down, text.value(f"arith.divui {within}, {size} : index")
