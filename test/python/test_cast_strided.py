"""`mlir_fp8.cast` of strided arrays of more than a block, by any number of threads."""

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.compiling.native import cast_blocks

E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)


def _some(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


LAYOUTS = {
    "turned": _some(3, 150, 97, 2).T,
    "crossed": _some(61, 170, 5).transpose(1, 2, 0)[:, ::-1],
    "some of it broadcast": np.broadcast_to(_some(300, 1, 20), (300, 7, 20)),
    "rows longer than a block": _some(3, 40000)[:, 1:],
    "short rows": _some(20000, 4)[:, :3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_blocks_are_as_astype_gives_them(layout: str) -> None:
    array = LAYOUTS[layout]
    wanted = array.astype(E4M3)
    got = mlir_fp8.cast(array, E4M3)
    assert (got.shape, got.strides) == (wanted.shape, wanted.strides)
    np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))
    room = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), E4M3)
    mlir_fp8.cast(array, E4M3, out=room[..., ::2])
    np.testing.assert_array_equal(room[..., ::2].view(np.uint8), wanted.view(np.uint8))
    assert not room[..., 1::2].view(np.uint8).any()


class _Rows(np.ndarray):
    """As `numpy.matrix`: parts have two axes."""

    def __getitem__(self, key: Any) -> np.ndarray:
        return np.atleast_2d(super().__getitem__(key))


def test_results_go_to_arrays_of_other_classes() -> None:
    rows = _some(3, 40000)
    room = np.zeros((3, 80000), E4M3)
    out = room[:, ::2].view(_Rows)
    assert mlir_fp8.cast(rows, E4M3, out=out) is out
    np.testing.assert_array_equal(room[:, ::2].view(np.uint8), rows.astype(E4M3).view(np.uint8))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_blocks(threads: int) -> None:
    rows = _some(900, 1901)
    cases = [(rows[:, 3:], None), (rows[::-1], None), (rows, np.zeros((1901, 900), E4M3).T)]
    for array, out in cases:
        got = mlir_fp8.cast(array, E4M3, out=out, threads=threads)
        np.testing.assert_array_equal(got.view(np.uint8), array.astype(E4M3).view(np.uint8))


def test_what_a_thread_runs_into_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _some(900, 1901)[:, 3:]
    copy, first = np.copyto, rows[:1, :1].ctypes.data

    def fails_late(into: np.ndarray, from_: np.ndarray) -> None:
        if from_.ctypes.data != first:
            raise MemoryError("no room")
        copy(into, from_)

    monkeypatch.setattr(np, "copyto", fails_late)
    for threads in (1, 3):
        with pytest.raises(MemoryError, match="no room"):
            mlir_fp8.cast(rows, E4M3, threads=threads)
    monkeypatch.undo()
    got = mlir_fp8.cast(rows, E4M3, threads=3)
    np.testing.assert_array_equal(got.view(np.uint8), rows.astype(E4M3).view(np.uint8))


def test_what_interrupts_a_thread_before_it_starts_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As Python's lock is taken again, a signal's handler may raise, which ctypes forgets."""
    task, forgotten = cast_blocks._Task, []

    def interrupted(run: Callable[[int, int, int], None]) -> Any:
        def called(arguments: int, first: int, last: int) -> None:
            if first == 0:
                raise KeyboardInterrupt
            run(arguments, first, last)

        return task(called)

    monkeypatch.setattr(cast_blocks, "_Task", interrupted)
    monkeypatch.setattr(sys, "unraisablehook", forgotten.append)
    with pytest.raises(KeyboardInterrupt):
        mlir_fp8.cast(_some(900, 1901)[:, 3:], E4M3, threads=3)
    assert len(forgotten) == 1
