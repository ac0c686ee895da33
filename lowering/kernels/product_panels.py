"""A product of some rows: all are packed at once, then multiplied with columns as these come."""

from mlir_fp8.lowering.kernels.packed_blocks import PackedBlocks
from mlir_fp8.lowering.kernels.product_parts import ProductParts
from mlir_fp8.lowering.kernels.tile import DEPTH


def write_panels(parts: ProductParts) -> None:
    """Parts are the columns of one tile."""
    text, blocks = parts.text, PackedBlocks(parts)
    width = parts.target.columns
    count = -(-parts.n // width)
    left = parts.scratch(blocks.left_bytes(parts.m))
    with text.loop(text.index(0), text.index(parts.k), text.index(DEPTH)) as depth:
        blocks.pack_left(left, text.index(0), text.index(parts.m), depth)
        passed = {"%left": (left, "memref<1xi8>"), "%depth": (depth, "index")}
        work = parts.m * width * min(parts.k, DEPTH)
        total = (text.index(count), count)
        parts.shared("panels", total, work, passed, lambda: _write_range(parts, blocks))


def _write_range(parts: ProductParts, blocks: PackedBlocks) -> None:
    text, width = parts.text, parts.target.columns
    panel = parts.scratch(blocks.right_bytes(width))
    zero, rows = text.index(0), text.index(parts.m)
    with text.loop("%begin", "%end", text.index(1)) as number:
        column = text.mul(number, width)
        columns = text.minimum(text.sub(text.index(parts.n), column), text.index(width))
        blocks.pack_panel(panel, zero, column, "%depth")
        blocks.multiply("%left", panel, (zero, column), (rows, columns), "%depth")
