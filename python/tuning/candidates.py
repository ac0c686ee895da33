"""The forms of a kernel that are timed for a product: tiles, stages, clusters, shares."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows
from mlir_fp8.lowering.gpu.kernels.product.shape import Product
from mlir_fp8.lowering.gpu.xla.few_rows import FORM as FEW_ROWS_FORM
from mlir_fp8.lowering.gpu.xla.product_fit import FORM as PRODUCT_FORM

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
    for values in _EXACT if shape.exact_sums else _FAST:
        chosen: dict[str, Any] = dict(zip(PRODUCT_FORM, values, strict=True))
        made = dataclasses.replace(shape, split=1, **chosen)
        if made.cluster > 1 and shape.m <= made.tile_m:
            continue
        if is_large and made.tile_m == 64 and shape.m > 256:
            continue
        if _runs(made):
            yield "-".join(map(str, values)), made


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


def _runs(shape: Product | FewRows) -> bool:
    try:
        shape.check()
    except Fp8Error:
        return False
    return True
