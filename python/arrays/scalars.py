"""Python numbers as rank-0 arrays, rounded once and never to something else than a number."""

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.dialects.float_reference import decode, encode


def scalar_array(what: str, element: str, value: Any) -> np.ndarray:
    """`value` as a rank-0 array of an MLIR element type.

    bool for i1, int for integers, int and float for floats (rounded to nearest, ties to even),
    complex too for complex numbers. Anything else, and a number out of the type's range, is an
    `Fp8Error` that starts with `what`.
    """
    if isinstance(value, bool) != (element == "i1") or not isinstance(value, _accepted(element)):
        raise Fp8Error(f"{what} is {value!r} ({type(value).__name__}), which is no {element}")
    if element == "i1":
        return np.array(value)
    if element in FORMATS:
        return _rounded(what, FORMATS[element], value)
    if element.startswith("complex"):
        part = FORMATS["f32" if element == "complex<f32>" else "f64"]
        parts = [_rounded(what, part, number) for number in (value.real, value.imag)]
        return np.stack(parts).view(element_dtype(element)).reshape(())
    limits = ml_dtypes.iinfo(element_dtype(element))
    if not limits.min <= value <= limits.max:
        raise Fp8Error(f"{what} is {value}, beyond the range of {element}")
    return np.array(value, element_dtype(element))


def _accepted(element: str) -> tuple[type, ...]:
    if element in FORMATS:
        return (int, float)
    return (int, float, complex) if element.startswith("complex") else (int,)


def _rounded(what: str, fmt: FloatFormat, value: float) -> np.ndarray:
    code = encode(fmt, value if isinstance(value, float) else Fraction(value))
    # A format without NaN and infinity has but its largest value for what is beyond it.
    is_clamped = not fmt.has_nan and abs(value) > fmt.max
    if is_clamped or _kind(decode(fmt, code)) != _kind(value):
        raise Fp8Error(f"{what} is {value!r}, beyond the range of {fmt.name}")
    return np.array(code, f"uint{fmt.storage_bits}").view(fmt.dtype)


def _kind(value: float | Fraction) -> str:
    if not isinstance(value, float) or math.isfinite(value):
        return "finite"
    return "NaN" if math.isnan(value) else "infinity"
