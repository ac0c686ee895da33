"""Python numbers as rank-0 arguments: rounded once, and refused where they do not fit."""

import math
import re
from typing import Any

import numpy as np
import pytest

from mlir_fp8 import Fp8Error
from mlir_fp8.arrays.scalars import scalar_array
from mlir_fp8.arrays.tensor_specs import element_dtype


@pytest.mark.parametrize(
    ("element", "value", "expected"),
    [
        ("i1", True, True),
        ("i8", -128, -128),
        ("ui8", 255, 255),
        ("i64", -(2**63), -(2**63)),
        ("ui64", 2**64 - 1, 2**64 - 1),
        ("f64", 0.1, 0.1),
        ("f32", 1, 1.0),
        ("f32", 2**24 + 1, 2.0**24),
        # One rounding: through f64 this integer would become the midpoint 2**60 + 2**36, then even.
        ("f32", 2**60 + 2**36 + 1, 2.0**60 + 2.0**37),
        ("f32", 3.4028235e38, float(np.finfo(np.float32).max)),
        ("f32", -math.inf, -math.inf),
        ("f16", 65519.0, 65504.0),
        ("bf16", 1.00390625, 1.0),
        ("f8E4M3FN", 464, 448.0),
        # One rounding: through f32 this becomes the midpoint 1.0625, then the even 1.0.
        ("f8E4M3FN", 1.0625 + 2.0**-40, 1.125),
        ("f8E5M2", 1e-30, 0.0),
        ("f8E8M0FNU", 1.5, 2.0),
        ("f4E2M1FN", -6.0, -6.0),
        ("complex<f32>", 1.5, 1.5 + 0j),
        ("complex<f64>", 1 - 2j, 1 - 2j),
    ],
)
def test_value(element: str, value: Any, expected: Any) -> None:
    array = scalar_array("it", element, value)
    assert array.dtype == element_dtype(element)
    assert array.shape == ()
    is_narrow = array.dtype.isbuiltin == 2
    assert (array.astype(np.float32) if is_narrow else array).item() == expected


@pytest.mark.parametrize("element", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E8M0FNU"])
def test_nan(element: str) -> None:
    assert np.isnan(scalar_array("it", element, math.nan).astype(np.float64))


@pytest.mark.parametrize("element", ["f64", "f32", "bf16", "f8E4M3FN", "f4E2M1FN"])
def test_negative_zero(element: str) -> None:
    assert np.signbit(scalar_array("it", element, -0.0).astype(np.float64))


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("i1", 1),
        ("i1", "yes"),
        ("i8", True),
        ("i8", 1.0),
        ("i8", "1"),
        ("f32", True),
        ("f32", "1"),
        ("f32", None),
        ("f32", 1j),
        ("f32", [1.0]),
        ("complex<f32>", True),
        ("complex<f32>", "1j"),
    ],
)
def test_other_kinds(element: str, value: Any) -> None:
    message = f"it is {value!r} ({type(value).__name__}), which is no {element}"
    with pytest.raises(Fp8Error, match=f"^{re.escape(message)}$"):
        scalar_array("it", element, value)


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("i8", 128),
        ("ui8", -1),
        ("i64", 2**63),
        ("f64", 2**1024),
        ("f32", 1e300),
        ("f32", -(10**400)),
        ("f16", 65520.0),
        ("f8E4M3FN", 464.1),
        ("f8E4M3FN", math.inf),
        ("f8E5M2", 61440),
        ("f8E8M0FNU", 0),
        ("f8E8M0FNU", -1.0),
        ("f6E2M3FN", math.nan),
        ("f4E2M1FN", 6.1),
        ("f4E2M1FN", -math.inf),
    ],
)
def test_beyond_the_range(element: str, value: Any) -> None:
    message = f"it is {value!r}, beyond the range of {element}"
    with pytest.raises(Fp8Error, match=f"^{re.escape(message)}$"):
        scalar_array("it", element, value)


def test_complex_beyond_the_range() -> None:
    with pytest.raises(Fp8Error, match=r"^it is 1e\+300, beyond the range of f32$"):
        scalar_array("it", "complex<f32>", 1 + 1e300j)
