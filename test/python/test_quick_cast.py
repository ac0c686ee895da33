"""Casts of types that were cast before take a short way, to the same results and errors."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.compiling.native import quick_cast

E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
F32 = np.array([[1, -2, 300], [0.5, 1e9, -0.0]], np.float32)


def _codes(array: np.ndarray) -> list[int]:
    return array.view(np.uint8).ravel().tolist()


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each cast from now on, whether it took the short way."""
    taken: list[bool] = []

    def watched(*arguments: object) -> np.ndarray | None:
        found = quick_cast.cast_quickly(*arguments)  # type: ignore[arg-type]
        taken.append(found is not None)
        return found

    quick_cast.forget()
    monkeypatch.setattr("mlir_fp8.compiling.native.cast.cast_quickly", watched)
    return taken


def test_the_second_cast_of_the_same_types_is_quick(ways: list[bool]) -> None:
    for dtype in (E4M3, "f8E4M3FN", ml_dtypes.float8_e4m3fn):
        for saturate in (False, True):
            found = [mlir_fp8.cast(F32, dtype, saturate=saturate) for _ in range(3)]
            wanted = _codes(np.clip(F32, -448, 448).astype(E4M3) if saturate else F32.astype(E4M3))
            assert [_codes(each) for each in found] == [wanted] * 3
            assert {(each.dtype, each.shape) for each in found} == {(E4M3, (2, 3))}
    assert ways == [False, True, True] * 6


@pytest.mark.parametrize(
    "array",
    [
        F32.T,
        F32[:, ::2],
        np.zeros(25, np.uint8)[1:].view(np.float32),
        F32.view(type("Kind", (np.ndarray,), {})),
        np.ma.masked_array(F32),
        np.float32(1.5),
        np.zeros(2 * quick_cast.PER_THREAD, np.float32),
    ],
    ids=["transposed", "strided", "unaligned", "a subclass", "masked", "a scalar", "large"],
)
def test_other_arrays_take_the_long_way(array: np.ndarray, ways: list[bool]) -> None:
    mlir_fp8.cast(F32, E4M3)
    try:
        found = mlir_fp8.cast(array, E4M3)
    except mlir_fp8.Fp8Error as error:
        assert "masked" in str(error)
    else:
        assert _codes(found) == _codes(np.asarray(array).astype(E4M3))
    assert True not in ways


def test_metadata_of_a_dtype_is_that_casts_alone() -> None:
    with_metadata = np.dtype("f2", metadata={"unit": "m"})
    assert mlir_fp8.cast(F32, with_metadata).dtype.metadata == {"unit": "m"}
    assert mlir_fp8.cast(F32, np.dtype("f2")).dtype.metadata is None


def test_codes_that_need_a_look_are_looked_at_each_time(ways: list[bool]) -> None:
    four = np.array([1, 2, 15], np.uint8).view(ml_dtypes.float4_e2m1fn)
    assert mlir_fp8.cast(four, "f32").tolist() == [0.5, 1.0, -6.0]
    four.view(np.uint8)[1] = 16
    with pytest.raises(mlir_fp8.Fp8Error, match="no code of f4E2M1FN"):
        mlir_fp8.cast(four, "f32")
    assert True not in ways


def test_arguments_are_checked_as_before(ways: list[bool]) -> None:
    mlir_fp8.cast(F32, E4M3)
    read_only = np.zeros((2, 3), E4M3)
    read_only.flags.writeable = False
    refused = [
        ({"threads": 0}, "threads=0"),
        ({"threads": True}, "threads=True"),
        ({"threads": 2.0}, r"threads=2\.0"),
        ({"out": np.zeros((3, 2), E4M3)}, "the results are"),
        ({"out": np.zeros((2, 3), np.int8)}, "the results are"),
        ({"out": read_only}, "out is read-only"),
        ({"out": [1]}, "out is a list"),
    ]
    for options, message in refused:
        with pytest.raises(mlir_fp8.Fp8Error, match=message):
            mlir_fp8.cast(F32, E4M3, **options)
    with pytest.raises(mlir_fp8.Fp8Error, match="dtype is \\[1\\]"):
        mlir_fp8.cast(F32, [1])
    assert True not in ways


def test_out_is_filled_unless_it_may_overlap(ways: list[bool]) -> None:
    mlir_fp8.cast(F32, E4M3)
    out = np.zeros((2, 3), E4M3)
    assert mlir_fp8.cast(F32, E4M3, out=out, threads=2) is out
    assert _codes(out) == _codes(F32.astype(E4M3))
    assert ways == [False, True]
    memory = F32.copy().ravel()
    for start in (0, 5, 18):
        memory[:] = F32.ravel()
        inside = memory.view(np.uint8)[start : start + 6].view(E4M3)
        mlir_fp8.cast(memory, E4M3, out=inside)
        assert _codes(inside) == _codes(F32.astype(E4M3))
    assert ways == [False, True, False, False, False]


FIRST = """
import os, threading, time
import numpy as np
import mlir_fp8
array = np.linspace(-9, 9, 1 << 20, dtype=np.float32)
alone = mlir_fp8.cast(array, "f8E4M3FN", threads=1).tobytes()
found = []
def call():
    found.append(mlir_fp8.cast(array, "f8E4M3FN", threads=2).tobytes() == alone)
callers = [threading.Thread(target=call) for _ in range(4)]
for caller in callers: caller.start()
for caller in callers: caller.join()
count = lambda: len(os.listdir("/proc/self/task"))
end = time.monotonic() + 10  # the system takes its time to remove callers that have ended
while count() > 2 and time.monotonic() < end: time.sleep(0.01)
print(found, count())
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc")
def test_first_casts_at_once_start_one_pool() -> None:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIRST]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert run.stdout == "[True, True, True, True] 2\n"


def test_casts_and_modules_share_one_pool() -> None:
    from mlir_fp8.compiling.threads import parallel_for, pool_address

    size = 2 * quick_cast.PER_THREAD
    mlir_fp8.cast(np.zeros(size, np.float32), E4M3, threads=2)
    before = threading.active_count()
    assert parallel_for.cache_info().currsize == 1
    assert pool_address() == pool_address()
    mlir_fp8.cast(np.zeros(size, np.float32), E4M3, threads=5)
    assert threading.active_count() == before  # none of Python's
