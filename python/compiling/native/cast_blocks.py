"""Casts of strided arrays: numpy packs blocks that fit the cache, for native code."""

import ctypes
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mlir_fp8.arrays.address import address_of
from mlir_fp8.compiling.native.cast_kernel import Kernel
from mlir_fp8.compiling.threads import parallel_for

_BLOCK = 16384
_Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def run_by_blocks(convert: Kernel, source: np.ndarray, target: np.ndarray, threads: int) -> None:
    """Cast `source`, of any strides and at least one element, to `target`, of its shape.

    `threads` above one share the blocks: numpy copies and native code converts without the GIL.
    """
    order = sorted(range(source.ndim), key=lambda axis: -abs(target.strides[axis]))
    blocks = _blocks(source.transpose(order), target.transpose(order))
    if threads <= 1:
        _run(convert, blocks)
    else:
        _share(convert, list(blocks), threads)


def _share(convert: Kernel, blocks: list[tuple[np.ndarray, np.ndarray]], threads: int) -> None:
    errors: list[BaseException] = []
    done: list[int] = []

    def run(_: int, first: int, last: int) -> None:
        try:
            _run(convert, iter(blocks[first:last]))
            done.append(last - first)
        except BaseException as error:  # can't propagate through native code
            errors.append(error)

    task = _Task(run)
    address = ctypes.cast(task, ctypes.c_void_p).value or 0
    parallel_for()(address, 0, len(blocks), 1, threads)
    if errors:
        raise errors[0]
    if sum(done) < len(blocks):
        # Only a signal handler raises before `try`, where ctypes reports the exception and drops
        # it.
        raise KeyboardInterrupt


def _run(convert: Kernel, blocks: Iterator[tuple[np.ndarray, np.ndarray]]) -> None:
    gathered = results = None
    for source, target in blocks:
        size = source.size
        read, written = source, target
        if not _is_flat(source):
            if gathered is None:
                gathered = np.empty(_BLOCK, source.dtype)
            read = gathered[:size]
            np.copyto(read.reshape(source.shape), source)
        if not _is_flat(target):
            if results is None:
                results = np.empty(_BLOCK, target.dtype)
            written = results[:size]
        convert(address_of(read), address_of(written), size)
        if written is not target:
            np.copyto(target, written.reshape(target.shape))


def _is_flat(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and array.flags.aligned


def _blocks(source: np.ndarray, target: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Both arrays tiled in the same way, at most `_BLOCK` elements a tile.

    Tiles split the outermost axes first; where the two memory orders differ, the longest axes, so
    that both arrays keep long contiguous runs.
    """
    if source.size <= _BLOCK:
        yield source, target
        return
    rows = _BLOCK * len(source) // source.size
    if _is_crossed(source):
        axis = source.shape.index(max(source.shape))
        half = source.shape[axis] // 2
        for part in (slice(0, half), slice(half, None)):
            place = (*(slice(None),) * axis, part)
            yield from _blocks(source[place], target[place])
    elif rows:
        for first in range(0, len(source), rows):
            yield source[first : first + rows], target[first : first + rows]
    else:
        for part, into in zip(source, target, strict=True):
            yield from _blocks(part, into)


def _is_crossed(array: np.ndarray) -> bool:
    """Whether the axes of `array` are not in its memory order."""
    steps = [
        abs(stride) for stride, size in zip(array.strides, array.shape, strict=True) if size > 1
    ]
    return any(before < after for before, after in pairwise(steps) if before)
