"""How a product is cut into blocks: what is packed at once, what stays in caches, what is shared.

After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008), with the
roles of the sides swapped: all of the left operand is packed before, as it is the smaller one in
most models, and each thread packs the columns of the right one that it multiplies.
"""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.choices_table import Choice
from mlir_fp8.lowering.kernels.products.packed_form import element_bytes
from mlir_fp8.lowering.kernels.products.sum_groups import group_size
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_LEFT_BYTES = 1 << 25
"""Of the left operand that are packed at once: the right one is packed again for what is beyond."""
_LEAST_ROWS = 256
"""Rows from which packing a column costs little beside its products."""
_DEEPEST = 8192
"""How much of the reduction is packed at once, where accumulators allow."""
_ITEMS = 4
"""Iterations of the parallel loop for each thread, where sizes allow: enough to even them out."""


@dataclass(frozen=True)
class Blocking:
    """Sizes of blocks in elements; the last of each may be smaller."""

    depth: int
    """Of the reduction that is packed at once: whole blocks of the target's depth."""
    rows: int
    """Rows of the left operand that are packed at once, whole register tiles."""
    item_rows: int
    """Rows of an iteration of the parallel loop: all, or a multiple of `cached_rows`."""
    cached_rows: int
    """Rows whose packed block stays in the L2 cache, whole register tiles."""
    columns: int
    """Columns of an iteration, whole register tiles."""


def blocking(product: Contraction, target: KernelTarget, choice: Choice, threads: int) -> Blocking:
    """The blocks of a product whose register tile is that of `target`."""
    m, n, k = (product.sizes[d] for d in (product.m, product.n, product.k))
    size = element_bytes(product, target)
    block = min(k, target.depth) * size
    group = k if product.is_integer else group_size(-(-k // target.depth)) * target.depth
    depth = k if group >= k else max(_DEEPEST // group, 1) * group
    rows = _evenly(m, max(_LEAST_ROWS, _LEFT_BYTES // (depth * size)), target.rows)
    tiles = -(-n // target.columns)
    most = max(min(choice.cached_bytes // block, choice.block_columns) // target.columns, 1)
    items = 1 if threads == 1 else threads * _ITEMS
    least = max(choice.least_columns // target.columns, 1)
    wanted = min(max(tiles // items, least), most)
    parts = max(min(items // -(-tiles // wanted), rows // choice.item_rows), 1)
    item_rows = _evenly(rows, -(-rows // parts), target.rows)
    cached = min(choice.cached_bytes // block, choice.block_rows)
    cached = max(cached // target.rows, 1) * target.rows
    cached = min(cached, item_rows)
    item_rows = min(-(-item_rows // cached) * cached, rows)
    columns = min(wanted, tiles) * target.columns
    return Blocking(depth, rows, item_rows, cached, columns)


def _evenly(count: int, most: int, unit: int) -> int:
    """`count` in blocks of one size, of about `most` at most, whole `unit`s."""
    blocks = -(-count // most)
    return -(-count // (blocks * unit)) * unit
