"""A product of many rows: each block of columns is packed once and reused by all row blocks."""

from mlir_fp8.lowering.kernels.products.packed_blocks import PackedBlocks
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.products.sum_groups import GroupSums

_TILES_PER_BLOCK = 6
"""Row tiles in a block of the left operand, which stays in the L2 cache."""
_MOST_COLUMNS = 1536
"""Columns of a block of the right operand, which stays in the L3 cache; whole tiles of them."""
_PACKING_WORK = 8
"""The cost of packing an element, in multiplications."""


def columns_of_blocks(n: int, width: int) -> int:
    """Columns of a block of the right operand, whole tiles of `width`."""
    return min(-(-n // width) * width, _MOST_COLUMNS)


def write_blocks(parts: ProductParts) -> None:
    """Two parallel loops per block: packing, over the panels; then products, over row blocks."""
    text, blocks, width = parts.text, PackedBlocks(parts), parts.target.columns
    step = columns_of_blocks(parts.n, width)
    rows = _TILES_PER_BLOCK * parts.target.rows
    zero, row_blocks = text.index(0), -(-parts.m // rows)
    depth_size = min(parts.k, parts.target.depth)
    right = blocks.new_right(step)
    sums = blocks.group_sums(parts.m, step)
    group = {} if sums is None else {"%sums": (sums.new(), "memref<1xf32>")}
    with text.loop(zero, text.index(parts.n), text.index(step)) as column:
        columns = text.minimum(text.sub(text.index(parts.n), column), text.index(step))
        panels = text.div(text.rounded_up(columns, width), width)
        with text.loop(zero, text.index(parts.k), text.index(parts.target.depth)) as depth:
            passed = {
                **blocks.passed("%right", right),
                "%column": (column, "index"),
                "%columns": (columns, "index"),
                "%depth": (depth, "index"),
            }
            work = width * depth_size * _PACKING_WORK
            parts.shared(
                "panels", (panels, step // width), work, passed, lambda: _pack(parts, blocks)
            )
            parts.shared(
                "rows",
                (text.index(row_blocks), row_blocks),
                parts.work(rows, step, depth_size),
                {**passed, **group},
                lambda: _multiply(parts, blocks, rows, sums),
            )


def _pack(parts: ProductParts, blocks: PackedBlocks) -> None:
    text = parts.text
    start, end = (text.mul(each, parts.target.columns) for each in ("%begin", "%end"))
    columns = text.sub(text.minimum(end, "%columns"), start)
    blocks.pack_panels("%right", "%begin", text.add("%column", start), columns, "%depth")


def _multiply(parts: ProductParts, blocks: PackedBlocks, step: int, sums: GroupSums | None) -> None:
    text = parts.text
    left = blocks.new_left(min(step, parts.m))
    parts.new_block(min(step, parts.m))
    with text.loop("%begin", "%end", text.index(1)) as number:
        row = text.mul(number, step)
        rows = text.minimum(text.sub(text.index(parts.m), row), text.index(step))
        blocks.pack_left(left, row, rows, "%depth")
        place, sizes = parts.place(row, "%column"), (rows, "%columns")
        group = None if sums is None else (sums, "%sums", sums.place(row, text.index(0)))
        blocks.multiply((left, "%right"), place, sizes, "%depth", group)
        parts.finish_block(place, (row, "%column"), sizes, "%depth")
