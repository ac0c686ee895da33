"""Which elements of a weight share a scale: blocks, from what a checkpoint says and its shapes.

A block has a size for each dimension of the weight; 0 is the whole dimension. The element at
`(i, j)` has the scale at `(i / block[0], j / block[1])`, so that a scale has `ceil(n / block)`
elements along each dimension. With one block the scale is of rank 0.
"""

from collections.abc import Sequence

import numpy as np

from mlir_fp8.base.errors import Fp8Error

Block = tuple[int, ...]
TILE = 128
"""Rows and columns of a block of DeepSeek's, where nothing says otherwise."""


def tensor_block(rank: int) -> Block:
    """One scale."""
    return (0,) * rank


def channel_block(rank: int) -> Block:
    """A scale for each row, which is along the last dimension."""
    return (*(1,) * (rank - 1), 0)


def tile_block(rank: int, sizes: Sequence[int]) -> Block:
    """A scale for each block of the last two dimensions."""
    return (*(1,) * (rank - 2), *sizes)


def group_block(rank: int, size: int) -> Block:
    """A scale for each `size` elements of a row."""
    return (*(1,) * (rank - 1), size)


def grid(shape: Sequence[int], block: Block) -> tuple[int, ...]:
    """The shape of the scale of a weight of `shape`; rank 0 for one block."""
    if not any(block):
        return ()
    return tuple(-(-n // b) if b else 1 for n, b in zip(shape, block, strict=True))


def fitted_scale(
    place: str, shape: Sequence[int], scale: np.ndarray, declared: Block | None
) -> tuple[np.ndarray, Block]:
    """`scale` in the shape that its blocks give it, and the blocks.

    `declared` are the blocks that the checkpoint's configuration has; without, they follow from the
    shapes alone: one scale; one per row; 128 by 128; groups that divide a row. Raises `Fp8Error`
    that begins with `place` where the scale has none of these shapes.
    """
    block = _inferred(shape, scale.shape) if declared is None else declared
    if block is None or not _is_shape_of(scale.shape, grid(shape, block)):
        given, wide = list(scale.shape), list(shape)
        wanted = "" if block is None else f", but {list(grid(shape, block))} (block {list(block)})"
        raise Fp8Error(f"{place} has shape {given}, which is no scale of a weight {wide}{wanted}")
    return scale.reshape(grid(shape, block)), block


def spread(scale: np.ndarray, block: Block, shape: Sequence[int]) -> np.ndarray:
    """The scale of each element of a weight of `shape`."""
    if not scale.ndim:
        return np.broadcast_to(scale, shape)
    for axis, (size, length) in enumerate(zip(block, shape, strict=True)):
        times = size or length
        scale = np.repeat(scale, times, axis=axis).take(range(length), axis=axis)
    return scale


def _is_shape_of(given: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether `given` is `wanted` up to sizes of 1 that some writers add or leave out.

    Those are `[1]` for one scale, `[n]` for `[n, 1]`, and `[n, 1, k, 1]` for `[n, k]`.
    """
    given, wanted = tuple(given), tuple(wanted)
    if len(given) == 2 * len(wanted) and all(size == 1 for size in given[1::2]):
        given = given[::2]
    if not wanted:
        return all(size == 1 for size in given)
    return given + (1,) * (len(wanted) - len(given)) == wanted


def _inferred(shape: Sequence[int], scale: Sequence[int]) -> Block | None:
    rank = len(shape)
    candidates = [tensor_block(rank), channel_block(rank)]
    if len(scale) == rank:  # experts: a scale for each matrix, or for each of its columns
        candidates.append(tuple(int(size == n) for size, n in zip(scale, shape, strict=True)))
    if rank >= 2:
        candidates.append(tile_block(rank, (TILE, TILE)))
        groups = scale[-1] if len(scale) == rank else 0
        if groups and shape[-1] % groups == 0:
            candidates.append(group_block(rank, shape[-1] // groups))
    fitting = (block for block in candidates if _is_shape_of(scale, grid(shape, block)))
    return next(fitting, None)
