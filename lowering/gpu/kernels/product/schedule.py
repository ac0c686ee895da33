"""Which tiles a block has, one after the other."""

import contextlib
from collections.abc import Iterator, Sequence

from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText


@contextlib.contextmanager
def tiles(
    text: GpuText, shape: Product, starts: Sequence[str], types: Sequence[str]
) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """A loop over the tiles of this block: the first row and column of each, index, and as `fold`
    has them the values that are carried and the results."""
    block = text.block()
    cluster = text.div(block, shape.cluster)
    rank = text.rem(block, shape.cluster)
    count, step = shape.tiles_m * shape.tiles_n, shape.grid // shape.cluster
    with text.fold(cluster, text.index(count), text.index(step), starts, types) as loop:
        tile, carried, results = loop
        down, across = placed(text, shape, tile)
        down = text.add(text.mul(down, shape.cluster), rank)
        row, column = text.mul(down, shape.tile_m), text.mul(across, shape.tile_columns)
        yield row, column, carried, results


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
