"""Threads share big loops: the same results for any number of them, one pool for all."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.compiling.threads import VARIABLE, thread_count

# 2^20 elements: an elementwise chain, a sum of each row, and one of each column.
SHARED = """
func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024xf32>)
    -> (tensor<1024x1024xf8E4M3FN>, tensor<1024xf32>, tensor<1024xf32>) {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %1 = stablehlo.multiply %a, %0 : tensor<1024x1024xf32>
  %2 = stablehlo.convert %1 : (tensor<1024x1024xf32>) -> tensor<1024x1024xf8E4M3FN>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  return %2, %3, %4 : tensor<1024x1024xf8E4M3FN>, tensor<1024xf32>, tensor<1024xf32>
}
"""
# Products by the body of their parallel loop: letters, sizes and element types of both operands.
PRODUCTS = {
    "blocks of rows": ("mk,kn->mn", {"m": 150, "n": 300, "k": 600}, "f8E4M3FN", "f8E5M2"),
    "columns of a tile": ("mk,kn->mn", {"m": 40, "n": 300, "k": 700}, "f32", "bf16"),
    "columns of few rows": ("mk,nk->mn", {"m": 3, "n": 1111, "k": 900}, "f8E4M3FN", "f8E4M3FN"),
    "columns added up": ("mk,kn->mn", {"m": 2, "n": 3000, "k": 600}, "f16", "f8E4M3FN"),
    "groups of blocks of rows": ("mk,kn->mn", {"m": 130, "n": 40, "k": 17000}, "f32", "f32"),
    "groups of a tile": ("mk,kn->mn", {"m": 13, "n": 300, "k": 17000}, "f8E4M3FN", "f8E4M3FN"),
    "groups of few rows": ("mk,nk->mn", {"m": 2, "n": 130, "k": 70000}, "f32", "f8E4M3FN"),
    "groups added up": ("mk,kn->mn", {"m": 1, "n": 2100, "k": 17000}, "f32", "f32"),
    "few products": ("bmk,bkn->bmn", {"b": 3, "m": 150, "n": 200, "k": 150}, "f32", "f32"),
    "many products": ("bmk,bnk->bmn", {"b": 20, "m": 50, "n": 90, "k": 70}, "f32", "f32"),
}
COUNT = """
import pathlib, sys
import numpy as np
import mlir_fp8
program = mlir_fp8.compile(sys.argv[1])
program(np.ones((1024, 1024), np.float32), np.ones(1024, np.float32))
print(len(list(pathlib.Path("/proc/self/task").iterdir())))
"""
APART = """
import os, sys
import numpy as np
import mlir_fp8
program = mlir_fp8.compile(sys.argv[1], threads=2)
given = np.ones((1024, 1024), np.float32), np.ones(1024, np.float32)
allowed = os.sched_getaffinity(0)
others = set(os.listdir("/proc/self/task"))
program(*given)
(worker,) = (int(each) for each in set(os.listdir("/proc/self/task")) - others)
left = os.sched_getaffinity(worker)
print(left <= allowed, len(left) == max(1, len(allowed) - 1))
"""


@pytest.fixture(scope="module")
def arrays() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (
        rng.standard_normal((1024, 1024)).astype(np.float32),
        rng.standard_normal(1024).astype(np.float32),
    )


def test_any_number_of_threads_gives_the_same_bits(arrays: tuple[np.ndarray, np.ndarray]) -> None:
    expected = mlir_fp8.compile(SHARED, threads=1)(*arrays)
    product = arrays[0] * arrays[1]
    with np.errstate(over="ignore"):
        assert expected[0].tobytes() == product.astype(ml_dtypes.float8_e4m3fn).tobytes()
    np.testing.assert_allclose(expected[1], product.sum(1, np.float64), rtol=0, atol=1e-3)
    for threads in (2, 3, 7, None):
        found = mlir_fp8.compile(SHARED, threads=threads)(*arrays)
        assert [x.tobytes() for x in found] == [x.tobytes() for x in expected], threads


@pytest.mark.sampled(7)
@pytest.mark.parametrize("part", PRODUCTS)
def test_threads_share_products_without_changing_a_bit(part: str) -> None:
    letters, sizes, *elements = PRODUCTS[part]
    operands, result = letters.split("->")
    left, right = operands.split(",")
    types = [
        f"tensor<{''.join(f'{sizes[each]}x' for each in side)}{element}>"
        for side, element in zip((left, right, result), (*elements, "f32"), strict=True)
    ]
    batch = "batching_dims = [0] x [0], " if "b" in left else ""
    text = f"""
    func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
      %0 = stablehlo.dot_general %a, %b, {batch}
        contracting_dims = [{left.index("k")}] x [{right.index("k")}]
        : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""
    alone, *others = (mlir_fp8.compile(text, threads=threads) for threads in (1, 2, 3, None))
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(each.shape).astype(each.dtype) for each in alone.arguments]
    (expected,) = alone(*arrays)
    exact = np.einsum(letters, *(array.astype(np.float64) for array in arrays))
    np.testing.assert_allclose(expected, exact, rtol=0, atol=1e-3)
    for other in others:
        assert [other(*arrays)[0].tobytes() for _ in range(3)] == [expected.tobytes()] * 3


def test_calls_at_once_do_not_wait_for_the_pool_for_ever(
    arrays: tuple[np.ndarray, np.ndarray],
) -> None:
    program = mlir_fp8.compile(SHARED, threads=3)
    expected = [x.tobytes() for x in program(*arrays)]
    found: list[list[bytes]] = []

    def call() -> None:
        found.extend([x.tobytes() for x in program(*arrays)] for _ in range(5))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [expected] * 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_starts_threads_of_its_own(
    arrays: tuple[np.ndarray, np.ndarray],
) -> None:
    program = mlir_fp8.compile(SHARED, threads=3)
    expected = [x.tobytes() for x in program(*arrays)]
    child = os.fork()
    if child == 0:
        same = [x.tobytes() for x in program(*arrays)] == expected
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("asked", "threads"), [("1", 1), ("4", 4)])
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc")
def test_the_variable_says_how_many(asked: str, threads: int) -> None:
    environment = {**os.environ, VARIABLE: asked, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", COUNT, SHARED]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert int(run.stdout) == threads


@pytest.mark.parametrize("asked", ["0", "-1", "two", "1e9", "99999"])
def test_a_variable_that_is_no_number_of_threads_is_refused(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, asked)
    with pytest.raises(mlir_fp8.Fp8Error, match=f"{VARIABLE}={asked}: give a number of threads"):
        thread_count()


@pytest.mark.parametrize("asked", [0, -1, True, 2.0, "2", 5000])
def test_what_is_no_number_of_threads_is_refused(asked: object) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="give a number of threads from 1 to 1024"):
        mlir_fp8.compile(SHARED, threads=asked)  # type: ignore[arg-type]


def test_workers_leave_the_caller_its_processor() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", APART, SHARED], capture_output=True, text=True, check=True
    )
    assert shown.stdout == "True True\n"
