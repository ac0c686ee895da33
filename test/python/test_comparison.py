"""How `fp8-run --expect` measures."""

import math

import ml_dtypes
import numpy as np
import pytest

from mlir_fp8.arrays import values
from mlir_fp8.judging.comparison import compare

INF, NAN = math.inf, math.nan


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_equal() -> None:
    result = compare(f32(1, -0.0, NAN, INF, -INF), f32(1, -0.0, NAN, INF, -INF), 0)
    assert (result.relative, result.largest, result.identical) == (0, 0, 1)
    assert result.is_good
    assert result.first is None


def test_relative_l2() -> None:
    result = compare(f32(3, 4.5), f32(3, 4), 0.1)
    assert result.relative == pytest.approx(0.1, abs=1e-12)
    assert (result.largest, result.identical) == (0.5, 0.5)
    assert result.is_good
    assert not compare(f32(3, 4.5), f32(3, 4), 0.0999).is_good


@pytest.mark.parametrize(
    ("got", "want", "relative"),
    [
        (f32(0, 0), f32(0, 0), 0),
        (f32(0, 1), f32(0, 0), INF),
        (f32(NAN, 1), f32(1, NAN), INF),
        (f32(1, 1), f32(1, NAN), INF),
        (f32(INF, 1), f32(-INF, 1), INF),
        (f32(INF, 1), f32(3e38, 1), INF),
        (f32(3e38, 1), f32(INF, 1), INF),
        (f32(), f32(), 0),
        # Zeros of either sign are equal.
        (f32(0, 1), f32(-0.0, 1), 0),
        # Squares that overflow, or vanish, in f64.
        (np.array([1e300, 2e300]), np.array([1e300, 1e300]), 0.5**0.5),
        (np.array([1.7e308]), np.array([-1.7e308]), 2),
        (np.array([3e-300, 0]), np.array([2e-300, 0]), 0.5),
        (np.array([5e-324]), np.array([1e-323]), 0.5),
        (np.array([1 + 2j, 0]), np.array([1 - 2j, 0]), 4 / 5**0.5),
        (np.array([complex(NAN, 0)]), np.array([complex(NAN, 0)]), 0),
    ],
)
def test_cases(got: np.ndarray, want: np.ndarray, relative: float) -> None:
    assert compare(got, want, 1).relative == pytest.approx(relative, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (np.bool_, 0, 1),
        (np.int8, -128, 127),
        (np.uint8, 0, 255),
        (np.int64, -(2**63), 2**63 - 1),
        (np.uint64, 0, 2**64 - 1),
    ],
)
def test_integers_must_be_equal(kind: type[np.generic], low: int, high: int) -> None:
    want = np.array([low, high], kind)
    assert compare(want.copy(), want, 0).is_good
    result = compare(np.array([low, low], kind), want, INF)
    assert not result.is_good
    assert result.largest == float(high - low)
    assert result.first is not None
    assert result.first.index == (1,)


def test_neighbours_among_large_integers_differ() -> None:
    result = compare(np.array([2**60 + 1]), np.array([2**60]), 1)
    assert not result.is_good
    assert result.largest == 1


def test_nan_payloads_are_equal_but_not_identical() -> None:
    got, want = np.array([0x7F, 0xFF], np.uint8), np.array([0x7F, 0x7F], np.uint8)
    result = compare(got.view(ml_dtypes.float8_e4m3fn), want.view(ml_dtypes.float8_e4m3fn), 0)
    assert result.is_good
    assert result.identical == 0.5


def test_the_first_element_beyond_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_BLOCK", 4)
    want = np.ones((3, 5), np.float32)
    got = want.copy()
    got[0, 1] = 1.0009
    got[2, 3] = 1.5
    result = compare(got, want, 1e-3)
    assert not result.is_good
    assert result.first is not None
    assert result.first.index == (2, 3)
    assert (result.first.got, result.first.want) == ("1.5", "1.")
    assert result.identical == 13 / 15


def test_rank_0() -> None:
    result = compare(np.array(2, ml_dtypes.bfloat16), np.array(1, ml_dtypes.bfloat16), 0.5)
    assert result.relative == 1
    assert result.first is not None
    assert (result.first.index, result.first.got) == ((), "2.")


def test_layouts() -> None:
    want = np.arange(6.0).reshape(2, 3)
    assert compare(np.asfortranarray(want), want, 0).identical == 1
    assert compare(want.T[::-1].T, want, 0).first is not None
