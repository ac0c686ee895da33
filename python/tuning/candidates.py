"""The forms of a kernel that are timed for a product: tiles, stages, clusters, shares."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.xla.few_rows import FORM as FEW_ROWS_FORM
from mlir_fp8.lowering.gpu.xla.product_fit import FORM as PRODUCT_FORM
from mlir_fp8.lowering.gpu.xla.product_fit import may_share

_FAST = (
    # tile_m, tile_n, stages, cluster, group
    (128, 256, 4, 2, 8),
    (128, 256, 4, 1, 8),
    (128, 256, 4, 2, 16),
    (128, 128, 6, 1, 8),
    (128, 128, 6, 2, 8),
    (64, 128, 8, 1, 8),
    (64, 64, 8, 1, 8),
)
_EXACT = (
    (128, 128, 6, 2, 8),
    (128, 128, 6, 1, 8),
    (64, 128, 8, 1, 8),
    (64, 64, 8, 1, 8),
)
_FEW = ((64, 64, 12, 1, 8),)
"""Of 64 rows or less, which take as long as the weights take to be read."""
_PARTS = (
    (128, 64, 8, 2, 8),
    (128, 64, 8, 1, 8),
    (128, 128, 6, 2, 8),
    (128, 128, 6, 1, 8),
    (64, 64, 8, 1, 8),
)
"""Where scales change within a tile of K."""
_SHARED = (
    # Blocks of which 2, 4 or 8 share sums.
    (128, 128, 5, 1, 8),
    (64, 128, 7, 1, 8),
    (64, 64, 8, 1, 8),
)
_LARGE = 1 << 33
"""M N K from which on tiles of 64 rows are not worth the time."""
_FEW_ROWS = {
    # Up to so many rows: tiles, across, along, stages, steps; of weights [n, k].
    8: (
        (1, 1, 8, 4, 2),
        (1, 1, 16, 4, 2),
        (1, 2, 4, 8, 2),
        (1, 4, 2, 8, 2),
        (2, 1, 8, 4, 1),
        (2, 2, 4, 4, 2),
    ),
    24: ((1, 4, 2, 8, 2), (1, 2, 4, 8, 2), (2, 2, 4, 4, 1), (1, 8, 1, 8, 2), (1, 4, 2, 4, 1)),
    64: ((2, 8, 1, 8, 1), (1, 8, 1, 8, 1), (2, 4, 2, 4, 1), (2, 4, 1, 8, 1), (4, 4, 1, 4, 1)),
}
_FEW_ROWS_KN = {
    16: ((4, 2, 4, 3, 1), (4, 2, 4, 4, 1), (2, 2, 8, 3, 1), (8, 1, 4, 3, 1)),
    64: ((2, 8, 1, 4, 1), (4, 4, 1, 3, 1), (2, 4, 2, 3, 1)),
}
_SPLITS = (1, 2, 4, 8)


def product_candidates(shape: Product) -> Iterator[tuple[str, Product]]:
    """Names and shapes of those that can run, whose tiles are not more than twice the matrix."""
    is_large = shape.m * shape.n * shape.k >= _LARGE
    forms = _EXACT if shape.exact_sums else _FAST
    forms = (*forms, *_FEW) if shape.m <= 64 else forms
    for values in _PARTS if shape.parts > 1 else forms:
        chosen: dict[str, Any] = dict(zip(PRODUCT_FORM, (*values, 1), strict=True))
        made = dataclasses.replace(shape, **chosen)
        if made.cluster > 1 and shape.m <= made.tile_m:
            continue
        if is_large and made.tile_m == 64 and shape.m > 256:
            continue
        if _runs(made):
            yield "-".join(map(str, (*values, 1))), made
    yield from _shared(shape)


def _shared(shape: Product) -> Iterator[tuple[str, Product]]:
    """Those in which blocks share sums, where each has some of K and there are blocks enough."""
    for values in _SHARED:
        for split in _SPLITS[1:]:
            chosen: dict[str, Any] = dict(zip(PRODUCT_FORM, (*values, split), strict=True))
            made = dataclasses.replace(shape, **chosen)
            if may_share(made):
                yield "-".join(map(str, (*values, split))), made


def few_rows_candidates(shape: FewRows) -> Iterator[tuple[str, FewRows]]:
    """Names and shapes of those that can run and give each multiprocessor a block or more."""
    table = _FEW_ROWS if shape.k_major else _FEW_ROWS_KN
    names = FEW_ROWS_FORM[:-1]
    values = next(forms for most, forms in table.items() if shape.rows <= most)
    for form in values:
        chosen: dict[str, Any] = dict(zip(names, form, strict=True))
        made = dataclasses.replace(shape, **chosen)
        blocks = -(-shape.n // made.columns)
        for split in _SPLITS:
            if not 120 <= split * blocks <= 520 or shape.k < split * made.chunk:
                continue
            each = dataclasses.replace(made, split=split)
            if _runs(each):
                yield "-".join(map(str, (*form, split))), each


def grouped_candidates(shape: Grouped) -> Iterator[tuple[str, Grouped]]:
    """As `product_candidates`; tiles of rows are those of a group of mean size."""
    rows = shape.product.m // shape.groups if shape.has_ragged_rows else shape.product.m
    for name, product in product_candidates(shape.product):
        if product.split > 1:
            continue
        name = name.rpartition("-")[0]
        made = dataclasses.replace(shape, product=product)
        if product.cluster > 1 and rows <= product.tile_m:
            continue
        if _runs(made):
            yield name, made


def _runs(shape: Product | FewRows | Grouped) -> bool:
    try:
        shape.check()
    except Fp8Error:
        return False
    return True
