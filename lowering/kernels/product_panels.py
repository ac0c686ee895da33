"""A product of some rows: all are packed at once, then multiplied with columns as these come."""

from mlir_fp8.lowering.kernels.packed_blocks import PackedBlocks
from mlir_fp8.lowering.kernels.product_parts import ProductParts
from mlir_fp8.lowering.kernels.tile import DEPTH

_FINISHED_TILES = 8
"""Tiles of a part where results are finished: one has few columns for that."""


def columns_of_panels(width: int, *, finishes: bool) -> int:
    """Columns of a part, whole tiles of `width`."""
    return width * (_FINISHED_TILES if finishes else 1)


def write_panels(parts: ProductParts) -> None:
    """Parts are the columns of one or some tiles."""
    text, blocks = parts.text, PackedBlocks(parts)
    step = columns_of_panels(parts.target.columns, finishes=parts.finish is not None)
    count = -(-parts.n // step)
    left = parts.scratch(blocks.left_bytes(parts.m))
    with text.loop(text.index(0), text.index(parts.k), text.index(DEPTH)) as depth:
        blocks.pack_left(left, text.index(0), text.index(parts.m), depth)
        passed = {"%left": (left, "memref<1xi8>"), "%depth": (depth, "index")}
        work = parts.work(parts.m, step, min(parts.k, DEPTH))
        total = (text.index(count), count)
        parts.shared("panels", total, work, passed, lambda: _write_range(parts, blocks, step))


def _write_range(parts: ProductParts, blocks: PackedBlocks, step: int) -> None:
    text, width = parts.text, parts.target.columns
    panel = parts.scratch(blocks.right_bytes(width))
    parts.new_block(parts.m)
    zero, rows, n = text.index(0), text.index(parts.m), text.index(parts.n)
    with text.loop("%begin", "%end", text.index(1)) as number:
        first = text.mul(number, step)
        count = text.minimum(text.sub(n, first), text.index(step))
        start = parts.place(zero, first)
        with text.loop(zero, count, text.index(width)) as inside:
            column = text.add(first, inside)
            columns = text.minimum(text.sub(n, column), text.index(width))
            blocks.pack_panel(panel, zero, column, "%depth")
            place = text.add(start, text.mul(inside, parts.out_strides[parts.product.n]))
            blocks.multiply("%left", panel, place, (rows, columns), "%depth")
        parts.finish_block(start, (zero, first), (rows, count), "%depth")
