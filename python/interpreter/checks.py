"""What the `check` ops of StableHLO's tests compare, on numpy arrays, float8 included.

Each function gives None where the arrays agree, else one line with the first element that does not:
its values and its index. Arrays have the dtype and shape of one MLIR type.
"""

import numpy as np

from mlir_fp8.dialects.float_formats import FORMATS

_UNBOUNDED = np.uint64(np.iinfo(np.uint64).max)
"""The distance of anything to an infinity or NaN that it is not."""


def not_equal(actual: np.ndarray, expected: np.ndarray) -> str | None:
    """Values as numbers: zeros of both signs are equal, NaN equals nothing."""
    return _first(~np.asarray(actual == expected), actual, expected, "")


def not_almost_equal(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> str | None:
    """Floats and complex numbers whose parts differ by `tolerance` at most; NaN equals NaN."""
    wrong = np.zeros(actual.shape, bool)
    for left, right in _parts(actual, expected):
        wide_left, wide_right = left.astype(np.float64), right.astype(np.float64)
        with np.errstate(invalid="ignore"):
            near = np.abs(wide_left - wide_right) <= tolerance
        same = (wide_left == wide_right) | (np.isnan(wide_left) & np.isnan(wide_right))
        wrong |= ~(near | same)
    return _first(wrong, actual, expected, f" with tolerance {tolerance:g}")


def not_close(
    actual: np.ndarray, expected: np.ndarray, least: int, most: int, element: str
) -> str | None:
    """Floats and complex numbers at least `least` and at most `most` representable steps apart."""
    distance = np.zeros(actual.shape, np.uint64)
    for left, right in _parts(actual, expected):
        distance = np.maximum(distance, ulp_distance(left, right, element))
    wrong = (distance > most) | (distance < least)
    return _first(wrong, actual, expected, f" within {least} to {most} ulp")


def ulp_distance(left: np.ndarray, right: np.ndarray, element: str) -> np.ndarray:
    """How many representable numbers lie from `left` to `right`, per element, as uint64.

    Equal codes and two NaNs are 0 apart; any other pair with an infinity or NaN, 2^64 - 1.
    """
    fmt = FORMATS[element.removeprefix("complex<").removesuffix(">")]
    codes = [
        np.ascontiguousarray(each).view(f"uint{fmt.storage_bits}").reshape(each.shape)
        for each in (left, right)
    ]
    wide = [code.astype(np.uint64) for code in codes]
    magnitudes = [code & np.uint64(fmt.magnitude_mask) for code in wide]
    negative = [(code & np.uint64(fmt.sign_mask)) != 0 for code in wide]
    low, high = np.minimum(*magnitudes), np.maximum(*magnitudes)
    distance = np.where(negative[0] == negative[1], high - low, high + low)
    finite = np.isfinite(left) & np.isfinite(right)
    same = (wide[0] == wide[1]) | (np.isnan(left) & np.isnan(right))
    return np.where(same, np.uint64(0), np.where(finite, distance, _UNBOUNDED))


def _parts(actual: np.ndarray, expected: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    if actual.dtype.kind != "c":
        return [(actual, expected)]
    return [(np.real(actual), np.real(expected)), (np.imag(actual), np.imag(expected))]


def _first(wrong: np.ndarray, actual: np.ndarray, expected: np.ndarray, how: str) -> str | None:
    places = np.argwhere(wrong)
    if not len(places):
        return None
    index = tuple(int(each) for each in places[0])
    values = f"{actual[index]} (actual) vs {expected[index]} (expected)"
    return f"element values don't match{how}: {values} at index {list(index)}"
