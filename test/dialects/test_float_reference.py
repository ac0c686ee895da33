"""The exact reference against ml_dtypes, and against the definition of rounding itself."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mlir_fp8.dialects.float_formats import (
    FORMATS,
    NARROW_FLOATS,
    SMALL_FLOATS,
    FloatFormat,
    NanEncoding,
    NonFinite,
)
from mlir_fp8.dialects.float_reference import decode, encode

IEEE = (NonFinite.IEEE754, NanEncoding.IEEE)
FN = (NonFinite.NAN_ONLY, NanEncoding.ALL_ONES)
FNUZ = (NonFinite.NAN_ONLY, NanEncoding.NEGATIVE_ZERO)
FINITE = (NonFinite.FINITE_ONLY, NanEncoding.NONE)
# Rows that no vendor has: a new format needs nothing but a row.
MADE_UP = {
    fmt.name: fmt
    for fmt in (
        FloatFormat("f7E3M3", "", 3, 3, 3, *IEEE, "", ""),
        FloatFormat("f8E6M1FN", "", 6, 1, 31, *FN, "", ""),
        FloatFormat("f7E4M2FNUZ", "", 4, 2, 9, *FNUZ, "", ""),
        FloatFormat("f5E2M2FN", "", 2, 2, 1, *FINITE, "", ""),
        FloatFormat("f8E5M3FNU", "", 5, 3, 15, *FN, "", "", signed=False),
        FloatFormat("f6E3M3FNU", "", 3, 3, 3, *FINITE, "", "", signed=False, has_zero=False),
    )
}
ANY = {**SMALL_FLOATS, **MADE_UP}

small = pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
narrow = pytest.mark.parametrize("fmt", NARROW_FLOATS.values(), ids=NARROW_FLOATS)
any_format = pytest.mark.parametrize("fmt", ANY.values(), ids=ANY)


def all_codes(fmt: FloatFormat) -> np.ndarray:
    return np.arange(1 << fmt.bits).astype(f"uint{fmt.storage_bits}")


def finite(fmt: FloatFormat) -> list[Fraction]:
    """The non-negative finite values, in the order of their codes."""
    return [Fraction(decode(fmt, code)) for code in range(fmt.max_code + 1)]


@narrow
def test_decodes_every_code_as_ml_dtypes(fmt: FloatFormat) -> None:
    with np.errstate(invalid="ignore"):
        want = all_codes(fmt).view(fmt.dtype).astype(np.float64)
    got = np.array([float(decode(fmt, int(code))) for code in all_codes(fmt)])
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))


def test_decode_refuses_what_is_no_code() -> None:
    for code in (-1, 16, 256):
        with pytest.raises(ValueError, match="not a code of f4E2M1FN"):
            decode(FORMATS["f4E2M1FN"], code)


@small
def test_encodes_as_ml_dtypes(fmt: FloatFormat) -> None:
    """All values, midpoints and their neighbours in f32, and what is not finite."""
    values = [float(value) for value in finite(fmt)]
    between = [(low + high) / 2 for low, high in pairwise(values)]
    beyond = [values[-1] * (1 + f) for f in (2.0**-9, 1 / 32, 1 / 28, 1 / 16, 1 / 12, 1 / 8, 1 / 4)]
    beyond += [values[-1] * 1.5, values[0] / 2, values[1] / 2, values[1] / 4, 1e-45, 3e38, np.inf]
    positive = np.array([0.0, *values, *between, *beyond, np.nan], np.float32)
    with np.errstate(over="ignore"):
        beside = [np.nextafter(positive, np.float32(end)) for end in (-1, np.inf)]
    x = np.concatenate([positive, *beside])
    if not fmt.has_zero:
        # ml_dtypes takes what is between 2**-127 and half way to 2**-126 up instead of down.
        x = x[(x <= values[0]) | (x >= between[0])]
    x = np.concatenate([x, -x])
    with np.errstate(over="ignore", invalid="ignore"):
        want = x.astype(fmt.dtype).view(np.uint8)
    got = np.array([encode(fmt, float(number)) for number in x])
    assert [hex(n) for n in got] == [hex(n) for n in want]


@narrow
def test_every_code_comes_back(fmt: FloatFormat) -> None:
    step = 1 if fmt.is_small else 7
    for code in map(int, all_codes(fmt)[::step]):
        value = decode(fmt, code)
        if value != value:
            assert (encode(fmt, value) ^ (fmt.nan_code or 0)) & fmt.magnitude_mask == 0
        else:
            assert encode(fmt, value) == code


@any_format
def test_every_value_comes_back(fmt: FloatFormat) -> None:
    for code in range(1 << fmt.bits):
        value = decode(fmt, code)
        if value == value:
            assert encode(fmt, value) == code
            assert encode(fmt, value, saturate=True) == (
                code if abs(value) <= fmt.max else fmt.max_code | code & fmt.sign_mask
            )


@any_format
def test_rounds_to_the_nearest_and_ties_to_even(fmt: FloatFormat) -> None:
    """Not by the formula of the reference, but by what rounding means."""
    values = finite(fmt)
    scale = Fraction(1, 10**9)
    for code, (low, high) in enumerate(pairwise(values)):
        middle, near = (low + high) / 2, (high - low) * scale
        # Without mantissa all significands are 1: the next power of two, 2, is the even one.
        is_even = code % 2 == 0 and fmt.mantissa_bits > 0
        assert encode(fmt, middle - near) == code
        assert encode(fmt, middle) == (code if is_even else code + 1)
        assert encode(fmt, middle + near) == code + 1


@any_format
def test_the_end_of_the_range(fmt: FloatFormat) -> None:
    """Half a last place above the largest value, as if there were one more."""
    exponent = math.floor(math.log2(fmt.max))
    middle = fmt.max + Fraction(2) ** (exponent - fmt.mantissa_bits) / 2
    is_even = fmt.max_code % 2 == 0 and fmt.mantissa_bits > 0
    assert encode(fmt, middle * Fraction(999_999, 1_000_000)) == fmt.max_code
    assert encode(fmt, middle) == (fmt.max_code if is_even else fmt.overflow_code)
    for beyond in (middle * Fraction(1_000_001, 1_000_000), Fraction(10) ** 60, math.inf):
        assert encode(fmt, beyond) == fmt.overflow_code
        assert encode(fmt, beyond, saturate=True) == fmt.max_code
    if fmt.signed:
        assert encode(fmt, -math.inf) == fmt.overflow_code | fmt.sign_mask
        assert encode(fmt, -math.inf, saturate=True) == fmt.max_code | fmt.sign_mask


@any_format
def test_what_has_no_code(fmt: FloatFormat) -> None:
    negative_nan = math.copysign(math.nan, -1.0)
    no_number = [
        encode(fmt, nan, saturate=s) for nan in (math.nan, negative_nan) for s in (False, True)
    ]
    if fmt.nan is NanEncoding.NONE:
        assert no_number == [fmt.sign_mask] * 2 + [0] * 2
    else:
        assert all(decode(fmt, code) != decode(fmt, code) for code in no_number)
    minus_zero = encode(fmt, -0.0)
    if fmt.has_zero:
        assert encode(fmt, 0.0) == encode(fmt, Fraction(0)) == 0
        assert minus_zero == (fmt.sign_mask if fmt.has_negative_zero else 0)
    else:
        assert encode(fmt, 0.0) == minus_zero == (fmt.nan_code or 0)
    if not fmt.signed:
        assert encode(fmt, Fraction(-1)) == encode(fmt, -math.inf) == (fmt.nan_code or 0)


@example(Fraction(464), "f8E4M3FN")
@example(Fraction(61440), "f8E5M2")
@example(Fraction(61440) - Fraction(1, 10**30), "f8E5M2")
@settings(max_examples=300, deadline=None)
@given(st.fractions(min_value=0), st.sampled_from(sorted(ANY)))
def test_no_finite_value_is_nearer(number: Fraction, name: str) -> None:
    fmt = ANY[name]
    code = encode(fmt, number, saturate=True)
    if number == 0 and not fmt.has_zero:
        return
    assert abs(Fraction(decode(fmt, code)) - number) == min(abs(v - number) for v in finite(fmt))


@settings(max_examples=300, deadline=None)
@given(st.floats(), st.sampled_from(["f16", "f32", "f64"]))
def test_encodes_wider_formats_as_numpy(number: float, name: str) -> None:
    fmt = FORMATS[name]
    with np.errstate(over="ignore"):
        rounded = np.array(number).astype(fmt.dtype)
    if number != number:
        assert decode(fmt, encode(fmt, number)) != decode(fmt, encode(fmt, number))
        return
    code = int(rounded.view(f"uint{fmt.bits}"))
    assert encode(fmt, number) == code
    assert float(decode(fmt, code)) == float(rounded)
