"""Long sums against f64: within the bounds of docs/numerics.md, which are near those of pairwise
summation; a sequential sum misses the thresholds by far."""

import json
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from long_sum_cases import LongSum, convolution_of, dot_of, prefixes_of, sum_of, window_of

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.passes.pass_pipeline import run_pipeline

F32, F8 = np.dtype(np.float32), np.dtype(ml_dtypes.float8_e4m3fn)
SUMS = [
    sum_of("inner", (2, 10**6), 1),
    sum_of("all", (10**6,), 0),
    sum_of("outer", (10**5, 8), 0),
    sum_of("middle", (2, 10**5, 3), 1),
    sum_of("around", (10**4, 5, 17), 0, 2),
    sum_of("outer two", (700, 100, 9), 0, 1),
    window_of("windows", (150, 150), (140, 140)),
    prefixes_of("prefixes", 10**5),
    prefixes_of("prefixes from the end", 10**5, reverse=True),
    dot_of("panels", "mk,kn->mn", "f8E4M3FN", F8, m=13, n=9, k=10**6),
    dot_of("panels of f32", "mk,kn->mn", "f32", F32, m=13, n=9, k=4 * 10**5),
    dot_of("blocks", "mk,kn->mn", "f8E4M3FN", F8, m=97, n=9, k=10**5),
    dot_of("one row, added up", "mk,kn->mn", "f32", F32, m=1, n=16, k=10**5),
    dot_of("few rows, added up", "mk,kn->mn", "f8E4M3FN", F8, m=3, n=16, k=10**5),
    dot_of("few rows", "mk,nk->mn", "f32", F32, m=8, n=3, k=10**6),
    dot_of("vectors", "k,k->", "f32", F32, k=10**6),
    dot_of("two dims", "mij,ijn->mn", "f32", F32, m=12, n=9, i=300, j=300),
    dot_of("two dims apart", "imj,ijn->mn", "f32", F32, m=12, n=9, i=300, j=300),
    convolution_of("convolution", (32, 32, 16), (28, 28, 8)),
    convolution_of("wide convolution", (103, 103, 16), (100, 100, 8)),
]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("case", SUMS, ids=lambda case: case.name)
def test_error_of_long_sums(case: LongSum) -> None:
    arrays = case.arrays(np.random.default_rng(0))
    (got,) = mlir_fp8.compile(case.text, threads=1)(*arrays)
    error = case.error(got, arrays)
    assert error <= case.roundings * 2.0**-24
    assert error <= 8e-7
    (shared,) = mlir_fp8.compile(case.text, threads=3)(*arrays)
    assert shared.tobytes() == got.tobytes()


def test_the_documented_errors_are_those_recorded() -> None:
    root = Path(__file__).parents[3]
    recorded = json.loads((root / "test/exhaustive/results/long_sums.json").read_text())["errors"]
    page = (root / "docs/numerics.md").read_text()
    rows = re.findall(r"^\| ([a-z].+?) \|((?: \d\.\de-\d\d \|){4})$", page, re.M)
    assert len(rows) == 4
    families = {name: [float(each) for each in cells.split("|")[:4]] for name, cells in rows}
    for family, cells in families.items():
        found = [row for name, row in recorded.items() if f"{name},".startswith(f"{family},")]
        assert cells == [max(row.get(f"{10**k}", 0) for row in found) for k in (3, 5, 6, 7)], family
    assert max(max(cells) for cells in families.values()) < 8e-7


def test_equal_numbers_drift_no_further_than_the_bound() -> None:
    """0.1 added 10^6 times by a sequential sum is 100958.3: 0.96% off."""
    case = sum_of("outer", (10**6, 3), 0)
    arrays = (np.full((10**6, 3), 0.1, np.float32),)
    (got,) = mlir_fp8.compile(case.text)(*arrays)
    assert case.error(got, arrays) <= case.roundings * 2.0**-24


@pytest.mark.parametrize(
    "case",
    [sum_of("middle", (4, 10**5, 16), 1), sum_of("around", (9000, 4, 64), 0, 2)],
    ids=lambda case: case.name,
)
def test_threads_share_sums_in_blocks(case: LongSum) -> None:
    """The cost of a block is known, so the loop over the results is parallel."""
    module = copy_of(mlir_fp8.load(case.text))
    passes = [*pipelines.to_linalg(), *pipelines.to_llvm(threads=2)]
    run_pipeline(module, passes[: passes.index("convert-scf-to-cf")], verify_each=False)
    assert "mlir_fp8.parallel" in str(module)


def test_complex_sums_in_blocks() -> None:
    text = sum_of("outer", (10**5, 3), 0).text.replace("f32>", "complex<f32>>")
    text = text.replace("dense<0.0>", "dense<(0.0, 0.0)>")
    generator = np.random.default_rng(0)
    numbers = generator.random((2, 10**5, 3), np.float32)
    (got,) = mlir_fp8.compile(text)((numbers[0] + 1j * numbers[1]).astype(np.complex64))
    want = numbers.astype(np.float64).sum(1)
    np.testing.assert_allclose(got, want[0] + 1j * want[1], rtol=8e-7)


def test_statistics_of_a_batch() -> None:
    """Means and variances of batch_norm_training over 10^5 numbers of each feature."""
    text = """func.func @main(%x: tensor<50x2000x4xf32>, %s: tensor<4xf32>, %o: tensor<4xf32>)
        -> (tensor<50x2000x4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o)
        <{epsilon = 0.001 : f32, feature_index = 2 : i64}> : (tensor<50x2000x4xf32>, tensor<4xf32>,
        tensor<4xf32>) -> (tensor<50x2000x4xf32>, tensor<4xf32>, tensor<4xf32>)
      return %0#0, %0#1, %0#2 : tensor<50x2000x4xf32>, tensor<4xf32>, tensor<4xf32> }"""
    x = np.random.default_rng(0).random((50, 2000, 4), np.float32)
    _, mean, variance = mlir_fp8.compile(text)(x, np.ones(4, np.float32), np.ones(4, np.float32))
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean((0, 1)), rtol=8e-7)
    np.testing.assert_allclose(variance, wide.var((0, 1)), rtol=8e-7)


@pytest.mark.parametrize("shape", [(300, 3), (3, 300)], ids=["outer", "inner"])
def test_zeros_infinity_and_nan_of_long_sums(shape: tuple[int, int]) -> None:
    """What began with -0.0 and adds -0.0 stays so; an infinity and a NaN reach their own result."""
    dim = shape.index(300)
    text = sum_of("", shape, dim).text.replace("dense<0.0>", "dense<-0.0>")
    x = np.full(shape, -0.0, np.float32)
    (got,) = mlir_fp8.compile(text)(x)
    assert got.tobytes() == np.full(3, -0.0, np.float32).tobytes()
    lines = x if dim == 1 else x.T
    lines[0, 250], lines[1, 299] = np.inf, np.nan
    (got,) = mlir_fp8.compile(text)(x)
    np.testing.assert_array_equal(got, [np.inf, np.nan, 0])


def test_prefixes_never_fall() -> None:
    """Of numbers that are not negative, from one block to the next either."""
    generator = np.random.default_rng(0)
    case = prefixes_of("", 3 * 10**5 + 7)
    x = (generator.random(3 * 10**5 + 7) ** 8).astype(np.float32)
    (got,) = mlir_fp8.compile(case.text)(x)
    assert (np.diff(got) >= 0).all()


def test_prefixes_after_infinity_and_nan() -> None:
    case = prefixes_of("", 2000)
    x = np.ones(2000, np.float32)
    x[700], x[1500] = np.inf, np.nan
    (got,) = mlir_fp8.compile(case.text)(x)
    np.testing.assert_array_equal(got[:700], np.arange(1, 701))
    np.testing.assert_array_equal(got[700:1500], np.inf)
    np.testing.assert_array_equal(got[1500:], np.nan)
    x[1500] = -np.inf
    (got,) = mlir_fp8.compile(case.text)(x)
    np.testing.assert_array_equal(got[1500:], np.nan)


def test_cumulative_sums_of_up_to_a_block_add_one_after_the_other() -> None:
    case = prefixes_of("", 512)
    x = np.random.default_rng(0).standard_normal(512).astype(np.float32)
    (got,) = mlir_fp8.compile(case.text)(x)
    assert got.tobytes() == np.cumsum(x).tobytes()


def test_sums_of_up_to_a_block_add_one_after_the_other() -> None:
    x = np.random.default_rng(0).standard_normal((256, 5)).astype(np.float32)
    total = np.zeros(5, np.float32)
    for row in x:
        total = total + row
    (got,) = mlir_fp8.compile(sum_of("", (256, 5), 0).text)(x)
    assert got.tobytes() == total.tobytes()
