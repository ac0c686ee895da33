"""Conversions to and from narrow floats round once: compiled code against exact references."""

from fractions import Fraction

import numpy as np
import pytest
from float_cases import assert_codes, call, code_dtype, compile_ops, nearest, numbers, tensor

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS
from mlir_fp8.dialects.float_reference import encode

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN


@pytest.mark.sampled(3)
@pytest.mark.parametrize("source", ["f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f4E2M1FN", "bf16", "f16"])
def test_converts_between_floats(source: str) -> None:
    fmt = FORMATS[source]
    codes = np.arange(0, 1 << fmt.bits, 1 if fmt.is_small else 37).astype(code_dtype(fmt))
    type_ = tensor([len(codes)], source)
    targets = [name for name in FORMATS if name != source]
    ops = [call("stablehlo.convert", [type_], tensor([len(codes)], name)) for name in targets]
    x = numbers(fmt)[codes]
    for name, got in zip(targets, compile_ops([type_], ops)(codes.view(fmt.dtype)), strict=True):
        if name in NARROW_FLOATS:
            assert_codes(FORMATS[name], got, nearest(FORMATS[name], x), x)
        else:
            np.testing.assert_array_equal(got.astype(np.float64), x)


def test_f64_rounds_once() -> None:
    """Just beyond a midpoint, by less than f32 can tell."""
    for name in ("f8E4M3FN", "f8E5M2FNUZ", "bf16", "f16"):
        fmt = FORMATS[name]
        half = 2.0 ** -(fmt.mantissa_bits + 1)
        values = np.array([s * (1 + half + d) for s in (1, -1) for d in (-(2**-50), 0, 2**-50)])
        types = [tensor([len(values)], element) for element in ("f64", name)]
        (got,) = compile_ops(types[:1], [call("stablehlo.convert", types[:1], types[1])])(values)
        assert_codes(fmt, got, nearest(fmt, values))


INTEGERS = ["i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"]


def hard_integers(dtype: np.dtype) -> np.ndarray:
    """Extremes, and midpoints of narrow types with their neighbours, as far out as they go."""
    if dtype == np.bool_:
        return np.array([False, True])
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    found = {low, low + 1, high, high - 1, 0, 1}
    for exponent in range(high.bit_length()):
        for bits in (2, 3, 4, 5, 8, 9, 11, 12):
            middle = (1 << exponent) + (1 << exponent >> bits)
            found |= {s * (middle + d) for s in (1, -1) for d in (-1, 0, 1)}
    return np.array(sorted(n for n in found if low <= n <= high), dtype)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_round_once(source: str) -> None:
    values = hard_integers(element_dtype(source))
    targets = ["f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f6E3M2FN", "bf16", "f16"]
    count = len(values)
    # Arguments are signless: a bitcast makes the unsigned ones.
    given, type_ = tensor([count], source.removeprefix("u")), tensor([count], source)
    before = f"%x = stablehlo.bitcast_convert %0 : ({given}) -> {type_}"
    results = [tensor([count], name) for name in targets]
    ops = [(f"stablehlo.convert %x : ({type_}) -> {result}", result) for result in results]
    compiled = compile_ops([given], ops, before)
    signless = values if values.dtype == np.bool_ else values.view(f"i{values.itemsize}")
    for name, got in zip(targets, compiled(signless), strict=True):
        fmt = FORMATS[name]
        want = [encode(fmt, Fraction(int(value))) for value in values]
        assert_codes(fmt, got, np.array(want, code_dtype(fmt)))


@pytest.mark.parametrize("source", ["f8E4M3FN", "f8E5M2", "bf16"])
def test_converts_to_integers(source: str) -> None:
    fmt = FORMATS[source]
    codes = np.arange(1 << fmt.bits, dtype=np.uint32).astype(code_dtype(fmt))
    type_ = tensor([len(codes)], source)
    targets = ["i1", "i8", "i32", "i64"]
    ops = [call("stablehlo.convert", [type_], tensor([len(codes)], name)) for name in targets]
    true, *results = compile_ops([type_], ops)(codes.view(fmt.dtype))
    x = numbers(fmt)
    np.testing.assert_array_equal(true, x != 0)
    for got in results:
        fits = np.abs(x) < np.iinfo(got.dtype).max
        np.testing.assert_array_equal(got[fits], np.trunc(x[fits]).astype(got.dtype))
