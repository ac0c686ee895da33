"""How far an array is from what was expected."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlir_fp8.arrays.tensor_specs import is_integer, whole_bytes
from mlir_fp8.arrays.values import blocks, text, wide
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.interpreter.checks import ulp_distance

# The exponent of the scale below: 2**1000 is finite, and brings every f64 to where squares are.
_LARGEST_SHIFT = 1000
# What `ulp_distance` says of anything and an infinity or NaN that it is not.
_UNBOUNDED = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class Difference:
    """One element that is too far off."""

    index: tuple[int, ...]
    got: str
    want: str


@dataclass(frozen=True)
class Comparison:
    """`relative` is ||got - want|| / ||want|| in f64; `identical` the share of equal bits."""

    relative: float
    largest: float
    """The largest |got - want| of one element."""
    identical: float
    is_good: bool
    first: Difference | None
    """Where a bad result fails: the first element that alone differs by more than the tolerance."""


def compare(got: np.ndarray, want: np.ndarray, tolerance: float) -> Comparison:
    """Compare two arrays of one shape and dtype.

    NaN equals NaN and an infinity one of its sign; elsewhere they are infinitely far from anything.
    0/0 is 0. Integers and booleans are good only if all are equal.
    """
    got, want = whole_bytes(got), whole_bytes(want)
    factor = _factor(got, want)
    distance = norm = largest = 0.0
    identical = 0
    for mine, other in zip(blocks(got), blocks(want), strict=True):
        error, size = _errors(mine, other, factor)
        distance += float(error @ error)
        norm += float(size @ size)
        largest = max(largest, float(error.max()))
        identical += int(np.count_nonzero(_bits_equal(mine, other)))
    relative = _ratio(distance, norm)
    if is_integer(got):
        is_good, limit = largest == 0, 0.0
    else:
        is_good, limit = relative <= tolerance, tolerance

    def differ(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
        error, size = _errors(mine, other, factor)
        return error > limit * size

    return Comparison(
        relative,
        largest / factor,
        identical / got.size if got.size else 1.0,
        is_good,
        None if is_good else _first(got, want, differ),
    )


def max_ulp(got: np.ndarray, want: np.ndarray, element: str) -> float:
    """The largest distance of two elements, in steps between numbers of the MLIR type `element`.

    For integers it is the difference. Zeros of both signs are 0 apart, as are two NaNs; elsewhere
    NaN and infinity are infinitely far from anything.
    """
    if element.removeprefix("complex<").removesuffix(">") not in FORMATS:
        return compare(got, want, 0.0).largest
    largest = 0
    for mine, other in zip(blocks(got), blocks(want), strict=True):
        parts = [(mine, other)]
        if got.dtype.kind == "c":
            parts = [(np.real(mine), np.real(other)), (np.imag(mine), np.imag(other))]
        for left, right in parts:
            largest = max(largest, int(ulp_distance(left, right, element).max(initial=0)))
    return float("inf") if largest == _UNBOUNDED else float(largest)


def first_other(got: np.ndarray, want: np.ndarray) -> Difference | None:
    """The first element whose bits differ, two NaNs aside."""

    def differ(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
        found = ~_bits_equal(mine, other)
        return found if is_integer(got) else found & ~(np.isnan(mine) & np.isnan(other))

    return _first(got, want, differ)


def _first(
    got: np.ndarray, want: np.ndarray, differ: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Difference | None:
    """The first element of those that `differ` finds, block by block."""
    start = 0
    for mine, other in zip(blocks(got), blocks(want), strict=True):
        found = np.flatnonzero(differ(mine, other))
        if found.size:
            flat = start + int(found[0])
            place = tuple(int(each) for each in np.unravel_index(flat, got.shape))
            return Difference(place, text(got[place]), text(want[place]))
        start += mine.size
    return None


def _factor(*arrays: np.ndarray) -> float:
    """A power of two that keeps squares of the elements from overflowing and from vanishing."""
    largest = 0.0
    for array in arrays:
        if array.dtype.itemsize < 8 or is_integer(array):
            continue
        for block in blocks(array):
            sizes = np.abs(wide(block))
            largest = max(largest, float(sizes.max(where=np.isfinite(sizes), initial=0.0)))
    shift = -int(np.frexp(largest)[1])
    return float(np.ldexp(1.0, min(max(shift, -_LARGEST_SHIFT), _LARGEST_SHIFT)))


def _errors(got: np.ndarray, want: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """|got - want| and |want| per element, times `factor`, in f64."""
    if is_integer(got):
        # Unsigned, the difference of two integers is exact, though they be of 64 bits.
        unsigned = f"uint{8 * got.itemsize}"
        high, low = np.maximum(got, want), np.minimum(got, want)
        return (high.view(unsigned) - low.view(unsigned)).astype(float), np.abs(wide(want))
    mine, other = wide(got), wide(want)
    equal = (mine == other) | (np.isnan(mine) & np.isnan(other))
    with np.errstate(all="ignore"):
        error = np.abs(mine * factor - other * factor)
        size = np.abs(other * factor)
    error[equal] = 0.0
    error[np.isnan(error)] = np.inf
    size[~np.isfinite(size)] = 0.0
    return error, size


def _ratio(distance: float, norm: float) -> float:
    if distance == 0:
        return 0.0
    return float(np.sqrt(distance / norm)) if norm else np.inf


def _bits_equal(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    mine, other = (np.ascontiguousarray(array).view(np.uint8) for array in (got, want))
    return (mine == other).reshape(-1, got.itemsize).all(axis=1)
