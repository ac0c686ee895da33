"""A product of some rows: all are packed first, then multiplied with panels as they are packed."""

from mlir_fp8.lowering.kernels.products.packed_blocks import PackedBlocks
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.sum_groups import GroupSums

_TILES = 8
"""Column tiles per iteration of the parallel loop; their panels stay in the L2 cache."""


def columns_of_panels(width: int) -> int:
    """Columns per iteration of the parallel loop, whole tiles of `width`."""
    return width * _TILES


def write_panels(parts: ProductParts) -> None:
    """One parallel loop, over groups of column tiles."""
    text, blocks = parts.text, PackedBlocks(parts)
    step = columns_of_panels(parts.target.columns)
    count = -(-parts.n // step)
    left = blocks.new_left(parts.m)
    sums = blocks.group_sums(parts.m, parts.n)
    group = {} if sums is None else {"%sums": (sums.new(), "memref<1xf32>")}
    with text.loop(text.index(0), text.index(parts.k), text.index(parts.target.depth)) as depth:
        blocks.pack_left(left, text.index(0), text.index(parts.m), depth)
        passed = {**blocks.passed("%left", left), "%depth": (depth, "index"), **group}
        work = parts.work(parts.m, min(step, parts.n), min(parts.k, parts.target.depth))
        total = (text.index(count), count)
        parts.shared("panels", total, work, passed, lambda: _write_range(parts, blocks, step, sums))


def _write_range(
    parts: ProductParts, blocks: PackedBlocks, step: int, sums: GroupSums | None
) -> None:
    text = parts.text
    panels = blocks.new_right(min(step, parts.n))
    parts.new_block(parts.m)
    zero, rows, n = text.index(0), text.index(parts.m), text.index(parts.n)
    with text.loop("%begin", "%end", text.index(1)) as number:
        first = text.mul(number, step)
        count = text.minimum(text.sub(n, first), text.index(step))
        start = parts.place(zero, first)
        blocks.pack_panels(panels, zero, first, count, "%depth")
        group = None if sums is None else (sums, "%sums", sums.place(zero, first))
        blocks.multiply(("%left", panels), start, (rows, count), "%depth", group)
        parts.finish_block(start, (zero, first), (rows, count), "%depth")
