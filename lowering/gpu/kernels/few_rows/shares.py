"""How a product of few rows is shared among blocks and warps, as long as nobody tuned it."""

import dataclasses

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows

_BLOCKS = 120
"""About one for each multiprocessor."""
_MOST_NARROW = 24
"""Rows whose sums leave registers for two blocks there."""


def shared_out(shape: FewRows) -> FewRows:
    """`shape` with the tiles, warps and stages that are chosen for its size.

    More rows have more columns in a block, so that the rows of A, which each block reads, cost less
    than the weights; K is split among blocks until there are enough. Raises `Fp8Error` for what
    cannot run.
    """
    chosen = dataclasses.replace(shape, **_shares(shape))
    split, wanted = 1, 2 * _BLOCKS if shape.rows <= _MOST_NARROW else _BLOCKS
    while split < 8 and split * -(-shape.n // chosen.columns) < wanted:
        if shape.k < 2 * split * chosen.chunk:
            break
        split *= 2
    return fitted(dataclasses.replace(chosen, split=split))


def fitted(shape: FewRows) -> FewRows:
    """`shape` with as many stages as shared memory holds, and no part of K without a block's work.

    Raises `Fp8Error` for what cannot run.
    """
    while shape.split > 1 and shape.k < shape.split * shape.chunk:
        shape = dataclasses.replace(shape, split=shape.split // 2)
    while shape.stages > 2 * shape.steps and not _fits(shape):
        shape = dataclasses.replace(shape, stages=shape.stages - shape.steps)
    shape.check()
    return shape


def _fits(shape: FewRows) -> bool:
    try:
        shape.check()
    except Fp8Error:
        return False
    return True


def _shares(shape: FewRows) -> dict[str, int]:
    names = ("tiles", "across", "along", "stages", "steps")
    if shape.k_major:
        if shape.rows <= 4:
            values = (1, 1, 8, 8, 2)
        elif shape.rows <= _MOST_NARROW:
            values = (1, 4, 2, 8, 2)
        else:
            values = (2, 8, 1, 8, 1)
    elif shape.rows <= 16:
        values = (4, 2, 4, 3, 1)
    else:
        values = (2, 8, 1, 4, 1)
    return dict(zip(names, values, strict=True))
