"""What a report says of a value, against numbers by hand, ml_dtypes and the exact reference."""

import json
import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode
from mlir_fp8.reporting import choice, distance
from mlir_fp8.reporting.report import report
from mlir_fp8.reporting.statistics import magnitudes, overflow_threshold

INF, NAN = math.inf, math.nan


def values_of(text: str, *arrays: Any, **options: Any) -> list[dict[str, Any]]:
    return json.loads(report(text, *arrays, **options).to_json())["values"]


def rounded(element: str, numbers: list[float], source: str = "f32", **options: Any) -> Any:
    """What a report says of `numbers` converted to `element`."""
    given, made = (f"tensor<{len(numbers)}x{each}>" for each in (source, element))
    text = f"""func.func @main(%a: {given}) -> {made} {{
      %0 = stablehlo.convert %a : ({given}) -> {made}
      return %0 : {made}
    }}"""
    return values_of(text, np.array(numbers, FORMATS[source].dtype), **options)[-1]


def picked(value: dict[str, Any], *keys: str) -> list[Any]:
    return [value[key] for key in keys]


COUNTS = ("count", "nan", "infinite", "zero", "subnormal", "saturated")
LOSSES = ("overflow", "underflow", "no_code")
E4M3FN = [0.0, -0.0, 1.0, 448.0, 464.0, 465.0, -1000.0, INF, NAN, 2**-10, 1.5 * 2**-10, -(2**-8)]


def test_f8e4m3fn_by_hand() -> None:
    value = rounded("f8E4M3FN", E4M3FN)
    # NaN: 465, -1000, inf and NaN. Zero: 0, -0 and 2^-10, a tie to even. 464 is a tie too.
    assert picked(value, *COUNTS) == [12, 4, 0, 3, 2, 2]
    assert picked(value["rounding"], *LOSSES) == [2, 1, 1]
    assert picked(value, "amax", "smallest") == [448.0, 2**-9]
    assert value["mean"] == (1 + 448 + 448 + 2**-9 - 2**-8) / 8
    exponents = {-9: 1, -8: 1, 0: 1, 8: 2}
    assert value["exponents"] == {
        "first": -9,
        "counts": [exponents.get(e, 0) for e in range(-9, 9)],
    }
    before = value["rounding"]["before"]
    assert picked(before, "count", "nan", "infinite", "zero") == [12, 1, 1, 2]
    assert picked(before, "amax", "smallest") == [1000.0, 2**-10]
    assert picked(value, "sqnr", "sqnr_db") == [distance.BROKEN, None]
    assert value["headroom_bits"] == pytest.approx(math.log2(448 / 1000))
    assert value["scale_log2"] == -2


def test_saturation_is_overflow_too() -> None:
    value = rounded("f8E4M3FN", E4M3FN, saturate=True)
    assert picked(value, *COUNTS) == [12, 1, 0, 3, 2, 5]
    assert picked(value["rounding"], *LOSSES) == [2, 1, 1]


def test_infinity_is_no_overflow_of_a_rounding() -> None:
    value = rounded("f8E5M2", [61440.0, 61439.0, -INF, -1e30])
    assert picked(value, *COUNTS) == [4, 0, 3, 0, 0, 1]
    assert picked(value["rounding"], *LOSSES) == [2, 0, 0]


def test_f4_has_neither_nan_nor_infinity() -> None:
    # 7 is a tie that rounds away from 6; NaN becomes a zero.
    value = rounded("f4E2M1FN", [NAN, 7.0, -100.0, 0.25, 0.5, INF, 6.0])
    assert picked(value, *COUNTS) == [7, 0, 0, 2, 1, 4]
    assert picked(value["rounding"], *LOSSES) == [2, 1, 2]


def test_f8e8m0fnu_has_neither_zero_nor_sign() -> None:
    value = rounded("f8E8M0FNU", [0.0, -1.0, 3.0, 2**-127, 1e-45, INF, NAN, 3e38])
    assert picked(value, *COUNTS) == [8, 5, 0, 0, 0, 0]
    assert picked(value["rounding"], *LOSSES) == [1, 0, 3]
    assert picked(value, "amax", "smallest") == [4.0, 2**-127]


def test_f16_and_f32_are_rounded_to_as_well() -> None:
    assert picked(rounded("f16", [65519.0, 65520.0, 2**-25])["rounding"], *LOSSES) == [1, 1, 0]
    from_f64 = rounded("f32", [1e39, 1e-50, 1.0], source="f64")
    assert picked(from_f64["rounding"], "from", *LOSSES) == ["f64", 1, 1, 0]
    assert rounded("f64", [1.5])["rounding"] is None


def test_no_elements_and_one() -> None:
    value = rounded("f8E5M2", [])
    assert picked(value, "count", "amax", "smallest", "mean", "headroom_bits") == [0, *[None] * 4]
    assert value["sqnr"] == distance.NO_ELEMENTS
    assert value["candidates"] == []
    text = """func.func @main(%a: tensor<f32>) -> tensor<f8E5M2> {
      %0 = stablehlo.convert %a : (tensor<f32>) -> tensor<f8E5M2>
      return %0 : tensor<f8E5M2>
    }"""
    value = values_of(text, 1.125)[-1]
    assert picked(value, "type", "shape", "count", "amax") == ["tensor<f8E5M2>", [], 1, 1.0]
    assert value["sqnr_db"] == pytest.approx(20 * math.log10(1.125 / 0.125))


CLAMPED = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %low = stablehlo.constant dense<LOW> : tensor<f32>
  %high = stablehlo.constant dense<448.0> : tensor<f32>
  %l = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %h = stablehlo.broadcast_in_dim %high, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = CLAMP
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}"""
OP = "stablehlo.clamp %low, %a, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"
PAIR = """stablehlo.maximum %l, %a : tensor<4xf32>
  %m = stablehlo.minimum %0, %h : tensor<4xf32>"""


@pytest.mark.parametrize("clamp", [OP, PAIR])
def test_clamp_to_the_range_is_part_of_the_rounding(clamp: str) -> None:
    text = CLAMPED.replace("LOW", "-448.0").replace("CLAMP", clamp)
    text = text.replace("convert %0", "convert %m") if clamp == PAIR else text
    value = values_of(text, np.array([1, 500, -5000, 448], np.float32))[-1]
    assert value["rounding"]["clamped"]
    assert picked(value["rounding"], *LOSSES) == [2, 0, 0]
    assert picked(value, "saturated", "scale_log2") == [3, -4]
    assert value["rounding"]["before"]["amax"] == 5000


def test_any_other_clamp_is_the_program() -> None:
    text = CLAMPED.replace("LOW", "-2.0").replace("CLAMP", OP)
    value = values_of(text, np.array([1, 500, -5000, 448], np.float32))[-1]
    assert not value["rounding"]["clamped"]
    assert picked(value["rounding"], *LOSSES) == [0, 0, 0]
    assert value["rounding"]["before"]["amax"] == 448


@pytest.mark.parametrize("fmt", NARROW_FLOATS.values(), ids=str)
def test_overflow_threshold_is_where_the_reference_overflows(fmt: FloatFormat) -> None:
    limit, tie_is_beyond = overflow_threshold(fmt)
    beyond = Fraction(limit) * (1 + Fraction(1, 1 << 40))
    below = Fraction(limit) * (1 - Fraction(1, 1 << 40))
    assert encode(fmt, below) == fmt.max_code
    assert encode(fmt, beyond) == fmt.overflow_code
    assert encode(fmt, Fraction(limit)) == (fmt.overflow_code if tie_is_beyond else fmt.max_code)


@pytest.mark.parametrize("size", [1e-3, 1.0, 3e4])
def test_candidates_are_what_ml_dtypes_rounds_to(size: float) -> None:
    array = (np.random.default_rng(0).standard_normal(5000) * size).astype(np.float32)
    array[:3] = NAN, INF, -0.0
    finite = array[np.isfinite(array)].astype(np.float64)
    found = choice.candidates(array, float(np.abs(finite).max()))
    assert len(found) == 7
    for each in found:
        limit = float(each.format.max)
        top = np.abs(finite).max() * 2.0**each.scale_log2
        assert limit / 2 < top <= limit
        for scale, loss in ((0, each.as_is), (each.scale_log2, each.scaled)):
            scaled = np.clip(finite * 2.0**scale, -limit, limit).astype(np.float32)
            error = scaled.astype(each.format.dtype).astype(np.float64) / 2.0**scale - finite
            expected = 10 * np.log10((finite @ finite) / (error @ error))
            assert loss == pytest.approx(expected, rel=1e-9)


def test_candidate_that_loses_nothing() -> None:
    (found,) = choice.candidates(np.array([1.0, -2.0]), 2.0, [FORMATS["f8E5M2"]])
    assert (found.scale_log2, found.as_is, found.scaled) == (14, None, None)


@pytest.mark.parametrize(
    ("got", "reference", "kind", "db"),
    [
        ([1.0, NAN, INF], [1.0, NAN, INF], distance.EQUAL, None),
        ([0.0], [-0.0], distance.EQUAL, None),
        ([9.0, NAN, INF], [10.0, NAN, INF], distance.FINITE, 20.0),
        ([NAN, 1.0], [1.0, 1.0], distance.BROKEN, None),
        ([1.0, 1.0], [INF, 1.0], distance.NO_REFERENCE, None),
        ([1.0, 0.0], [0.0, 0.0], distance.NO_SIGNAL, None),
        ([0.9e300], [1e300], distance.FINITE, 20.0),
        ([0.9e-300], [1e-300], distance.FINITE, 20.0),
        ([-1.7e308], [1.7e308], distance.FINITE, -20 * math.log10(2)),
        ([1e200], [1e-200], distance.FINITE, -8000.0),
    ],
)
def test_sqnr(got: list[float], reference: list[float], kind: str, db: float | None) -> None:
    found = distance.sqnr(np.array(got), np.array(reference))
    assert found.kind == kind
    assert found.db == (None if db is None else pytest.approx(db))


def test_statistics_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(-50, 50).astype(ml_dtypes.bfloat16)
    whole = magnitudes(array)
    monkeypatch.setattr("mlir_fp8.arrays.values._BLOCK", 7)
    parts = magnitudes(array)
    assert (whole.amax, whole.smallest, whole.zero, whole.mean) == (50.0, 1.0, 1, -0.5)
    assert (whole.amax, whole.smallest, whole.zero, whole.mean, whole.histogram) == (
        parts.amax,
        parts.smallest,
        parts.zero,
        parts.mean,
        parts.histogram,
    )
    assert mlir_fp8.report is report
