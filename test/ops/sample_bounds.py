"""How far two results of a case may be apart: nothing where there is one right value."""

import numpy as np
from sample_groups import Case, spec_of

from mlir_fp8.arrays.tensor_specs import is_integer
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.judging.comparison import max_ulp

_FUNCTIONS = frozenset(
    [
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i1e", "cbrt", "cosh"),
        *("cosine", "digamma", "erf", "erf_inv", "erfc", "exponential", "exponential_minus_one"),
        *("lgamma", "log", "log_plus_one", "logistic", "polygamma", "power", "rsqrt", "sine"),
        *("sinh", "tan", "tanh", "zeta", "_asin_acos_kernel"),
    ]
)
_SEVERAL_ROUNDINGS = frozenset(
    [
        *("batch_norm_grad", "batch_norm_inference", "batch_norm_training", "cholesky", "fft"),
        *("rng", "triangular_solve"),
    ]
)
_COMPLEX = frozenset(["abs", "divide", "multiply", "power", "sign", "sqrt", "square", "remainder"])
"""Of complex numbers these round more than once."""

_COUNTS = frozenset(["stablehlo.popcnt", "stablehlo.count_leading_zeros"])
_ORDERS = frozenset(
    [
        *("stablehlo.maximum", "stablehlo.minimum", "stablehlo.clamp", "stablehlo.compare"),
        *("chlo.broadcast_maximum", "chlo.broadcast_minimum", "chlo.broadcast_compare"),
    ]
)


def is_fault(case: Case, judge: str) -> bool:
    """Where a judge is known to be wrong.

    The interpreter: inverse transforms to an odd number of reals. XLA: bits of i2 and i4, which it
    counts in a byte, the order of complex numbers, and windows that hold nothing but padding. The
    random numbers of `rng` are its own, and it divides by one row as it multiplies by its inverse.
    """
    if judge == "interpreter":
        return case.sample.op == "stablehlo.fft" and case.sample.form == "IRFFT"
    if judge != "xla":
        return False
    if case.sample.op in ("stablehlo.rng", "chlo.broadcast_divide"):
        return True
    if case.sample.op in _ORDERS:
        return "complex" in case.element
    if case.sample.op == "stablehlo.reduce_window" and case.element == "f8E8M0FNU":
        return True  # whose initial value is not 0
    return case.sample.op in _COUNTS and case.element in ("i2", "i4")


TOLERANCES = {"f32": 1e-5, "f64": 1e-11}
"""Of functions and of ops that round several times, relative to numbers beyond 1."""
STEPS = 1
"""How many steps a narrow result may be away there: a near f32 number, rounded."""


def first_difference(case: Case, ours: np.ndarray, theirs: np.ndarray, index: int) -> str:
    """Where result `index` of two judges differs beyond its bound; empty where it does not."""
    spec = spec_of(case.result_types[index])
    with np.errstate(all="ignore"):
        alike = _alike(case, ours, theirs, spec.element)
    places = np.argwhere(~np.asarray(alike))
    if not len(places):
        return ""
    place = tuple(int(each) for each in places[0])
    return f"result {index} at {list(place)}: {ours[place]} and {theirs[place]}"


def _alike(case: Case, ours: np.ndarray, theirs: np.ndarray, element: str) -> np.ndarray:
    if is_integer(ours):
        return np.asarray(ours == theirs)
    if ours.dtype.kind == "c":
        real = element.removeprefix("complex<").removesuffix(">")
        return np.logical_and(
            _near(case, np.real(ours), np.real(theirs), real),
            _near(case, np.imag(ours), np.imag(theirs), real),
        )
    return _near(case, ours, theirs, element)


def _near(case: Case, ours: np.ndarray, theirs: np.ndarray, element: str) -> np.ndarray:
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if not FORMATS[element].has_zero:
        # The judges give some number for zero and for negative ones, where the rule is NaN.
        same |= np.isnan(ours)
    if not _is_inexact(case):
        return np.asarray(same)
    if element in TOLERANCES:
        bound = TOLERANCES[element] * np.maximum(np.abs(theirs), 1)
        return np.asarray(same | (np.abs(ours - theirs) <= bound))
    steps = [
        max_ulp(np.array([one]), np.array([other]), element) <= STEPS
        for one, other in zip(ours.ravel(), theirs.ravel(), strict=True)
    ]
    return np.asarray(same | np.array(steps, bool).reshape(ours.shape))


def _is_inexact(case: Case) -> bool:
    name = case.sample.op.split(".")[1].removeprefix("broadcast_")
    if name in _FUNCTIONS or name in _SEVERAL_ROUNDINGS or case.sample.form == "function":
        return True
    return "complex" in case.text and name in _COMPLEX
