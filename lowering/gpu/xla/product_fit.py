"""Tiles, clusters and shared sums with which a product has work for all of a card."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.shape import RESULTS, Product
from mlir_fp8.lowering.gpu.xla.times import FORMS

TILE_ROWS = 128
"""Fewer rows make no pair of tiles, which two blocks would share B for."""
FORM = FORMS["product"]
"""What candidates differ in."""
_LEAST_STEPS = 8
"""Tiles along K of a block that shares sums: fewer take no longer than the exchange."""


def fitted(shape: Product) -> Product:
    """The widest tiles of which a card has at least half as many as blocks.

    Where those of 128 columns are fewer, blocks share the sums of each as far as K reaches.
    """
    if shape.parts > 1:  # whose scales take registers
        cluster = 2 if shape.m > TILE_ROWS else 1
        return dataclasses.replace(shape, tile_n=64, stages=8, cluster=cluster)
    narrow = shape.exact_sums or _tiles(shape, 256) * 2 <= shape.blocks
    if narrow and (shape.exact_sums or not shape.up):
        shape = dataclasses.replace(shape, tile_n=128, stages=6)
    else:
        shape = dataclasses.replace(shape, tile_n=256, stages=4)
    split = 1 if shape.up or shape.tile_n != 128 else _split(shape)
    if split > 1:
        return dataclasses.replace(shape, split=split, stages=5)
    return dataclasses.replace(shape, cluster=2 if shape.m > TILE_ROWS else 1)


def may_share(shape: Product) -> bool:
    """Whether the blocks of `shape` that share sums have some of K each, and are about a card's."""
    tiles = shape.batches * shape.tiles_m * shape.tiles_n
    if shape.steps < 2 * shape.split or tiles * shape.split > 2 * shape.blocks:
        return False
    return _runs(shape)


def _runs(shape: Product) -> bool:
    try:
        shape.check()
    except Fp8Error:
        return False
    return True


def _tiles(shape: Product, columns: int) -> int:
    return shape.batches * -(-shape.m // TILE_ROWS) * -(-shape.n // columns)


def _split(shape: Product) -> int:
    """Blocks that share sums: of an f8 result each has 64 columns, of others 32."""
    most = 2 if RESULTS[shape.epilogue.result] == 1 else 4
    while most > 1:
        if _tiles(shape, 128) * most <= shape.blocks and shape.steps >= most * _LEAST_STEPS:
            return most
        most //= 2
    return 1


def in_form(shape: Product, form: Sequence[int]) -> Product:
    """`shape` with the numbers of `FORM`, or the first of them, as far as its sizes allow.

    `shape` itself where it does not run so: blocks that cannot share its sums, scales of fewer
    columns than a tile has.
    """
    chosen: dict[str, Any] = dict(zip(FORM, form, strict=False))
    made = dataclasses.replace(shape, **chosen)
    if made.split > 1 and not may_share(made):
        return shape
    if made.cluster > 1 and shape.m <= made.tile_m:
        made = dataclasses.replace(made, cluster=1)
    return made if _runs(made) else shape
