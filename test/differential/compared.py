"""How far apart two results may be: nothing where there is one right value, few steps elsewhere."""

from collections.abc import Callable

import numpy as np
from program import BITS, CLOSE, NEAR, VALUES, ZEROS

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat

_STEPS = {"f32": 2, "f64": 4}
"""How many steps near results may be apart; narrow types round a near f32, so only one."""
_TOLERANCES = {"f64": 1e-10}
"""How far close results may be apart, relative to numbers beyond 1; 2e-5 in other types, since
the other judges compute them in f32 by the polynomials of CHLO's decompositions."""


def first_difference(
    got: np.ndarray, want: np.ndarray, spec: TensorSpec, check: str
) -> tuple[int, ...] | None:
    """The index of the first element of two arrays of `spec` that differs beyond `check`."""
    alike = _same_bits(got, want)
    if spec.element in FORMATS and check != BITS:
        alike |= np.isnan(got) & np.isnan(want)
        alike |= _RULES[check](got, want, FORMATS[spec.element])
    places = np.argwhere(~alike)
    return tuple(int(each) for each in places[0]) if len(places) else None


def _same_bits(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    if not got.size:
        return np.ones(got.shape, bool)
    code = f"uint{8 * got.dtype.itemsize}"
    return np.asarray(_codes(got, code) == _codes(want, code))


def _codes(array: np.ndarray, code: str) -> np.ndarray:
    return np.ascontiguousarray(array).view(code).reshape(array.shape)


def steps(got: np.ndarray, want: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    """How many numbers lie from one to the other, infinity being the one after the largest.

    NaN is where a format without infinity overflows to, and where f8E8M0FNU underflows to.
    """
    places: list[np.ndarray] = []
    for array in (got, want):
        codes = _codes(array, f"uint{fmt.storage_bits}").astype(np.uint64)
        magnitude = (codes & np.uint64(fmt.magnitude_mask)).astype(np.float64)
        places.append(np.where((codes & np.uint64(fmt.sign_mask)) != 0, -magnitude, magnitude))
    distance = np.abs(places[0] - places[1])
    odd = np.isnan(got) != np.isnan(want)
    if not odd.any():
        return distance
    number = np.abs(np.where(np.isnan(got), places[1], places[0]))
    beyond = np.full(got.shape, np.inf) if fmt.has_infinity else fmt.max_code + 1 - number
    if not fmt.has_zero:
        beyond = np.minimum(beyond, number + 1)
    return np.where(odd, beyond, distance)


def _values(got: np.ndarray, want: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    return np.zeros(got.shape, bool)


def _zeros(got: np.ndarray, want: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    return np.asarray((got == 0) & (want == 0))


def _near(got: np.ndarray, want: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    return steps(got, want, fmt) <= _STEPS.get(fmt.name, 1)


def _close(got: np.ndarray, want: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    left, right = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        bound = _TOLERANCES.get(fmt.name, 2e-5) * np.maximum(np.abs(right), 1)
        far = np.abs(left - right) > bound
    return _near(got, want, fmt) | (np.isfinite(left) & np.isfinite(right) & ~far)


_RULES: dict[str, Callable[[np.ndarray, np.ndarray, FloatFormat], np.ndarray]] = {
    VALUES: _values,
    ZEROS: _zeros,
    NEAR: _near,
    CLOSE: _close,
}
