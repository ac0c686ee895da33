"""Compiled arith ops on small floats, on all pairs of codes: exact results, rounded once."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from float_cases import assert_codes
from native_code import elementwise
from rounding_table import table

from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.lowering.codec.missing_codes import GIVES_NAN_ON_SCALARS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN

small = pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
QUICK = {"f8E4M3FN", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN"}
COMPARISONS = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "ne": np.not_equal,
}
PREDICATES = ["false", "true", "ord", "uno", *(o + name for name in COMPARISONS for o in "ou")]
ARITHMETIC: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    # Negative zero is below zero.
    "maximumf": lambda x, y: np.where((x == 0) & (y == 0), x + y, np.maximum(x, y)),
    "minimumf": lambda x, y: np.where((x == 0) & (y == 0), -(-x - y), np.minimum(x, y)),
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
}


@cache
def all_pairs(fmt: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    codes = table(fmt).all_codes
    return np.repeat(codes, len(codes)), np.tile(codes, len(codes))


def arithmetic(fmt: FloatFormat) -> list[str]:
    """Division can give NaN, and is refused where there is none."""
    return [op for op in ARITHMETIC if fmt.has_nan or f"arith.{op}" not in GIVES_NAN_ON_SCALARS]


@cache
def run_pairs(fmt: FloatFormat) -> dict[str, np.ndarray]:
    possible = arithmetic(fmt)
    names = [*possible, "copysign", *PREDICATES, "select"]
    body = [f"%r{i} = arith.{op} %x0, %x1 : {fmt.name}" for i, op in enumerate(possible)]
    body += [f"%r{len(body)} = math.copysign %x0, %x1 : {fmt.name}"]
    body += [
        f"%r{len(body) + i} = arith.cmpf {predicate}, %x0, %x1 : {fmt.name}"
        for i, predicate in enumerate(PREDICATES)
    ]
    less = names.index("olt")
    body += [f"%r{len(body)} = arith.select %r{less}, %x0, %x1 : {fmt.name}"]
    results = [fmt.name] * (len(possible) + 1) + ["i1"] * len(PREDICATES) + [fmt.name]
    x, y = all_pairs(fmt)
    compiled = elementwise([fmt.name] * 2, body, results, count=len(x))
    return dict(zip(names, compiled(x.view(fmt.dtype), y.view(fmt.dtype)), strict=True))


def decoded_pairs(fmt: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    x, y = map(table(fmt).decode, all_pairs(fmt))
    # In f64 these ops are exact, or as good as. Without zero the format reaches as far down as f32
    # does, so that products which vanish there have no code.
    return (x, y) if fmt.has_zero else (x.astype(np.float32), y.astype(np.float32))


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("fmt", "op"),
    [
        pytest.param(
            fmt,
            op,
            id=f"{fmt.name}-{op}",
            marks=[] if fmt.name in QUICK else [pytest.mark.exhaustive],
        )
        for fmt in SMALL_FLOATS.values()
        for op in arithmetic(fmt)
    ],
)
def test_arithmetic(fmt: FloatFormat, op: str) -> None:
    x, y = decoded_pairs(fmt)
    got, want = run_pairs(fmt)[op], ARITHMETIC[op](x, y).astype(np.float64)
    if op in ("maxnumf", "minnumf"):
        # Of two zeros either may come out.
        zeros = (x == 0) & (y == 0)
        np.testing.assert_array_equal(got[zeros].astype(np.float32), 0)
        got, want = got[~zeros], want[~zeros]
    assert_codes(fmt, got, table(fmt).round(want), want)


@pytest.mark.sampled(5)
@small
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparison(fmt: FloatFormat, predicate: str) -> None:
    x, y = decoded_pairs(fmt)
    unordered = np.isnan(x) | np.isnan(y)
    want = {"false": unordered & False, "true": unordered | True, "ord": ~unordered}
    want |= {"uno": unordered}
    for name, compare in COMPARISONS.items():
        want |= {f"o{name}": compare(x, y) & ~unordered, f"u{name}": compare(x, y) | unordered}
    np.testing.assert_array_equal(run_pairs(fmt)[predicate], want[predicate])


@small
def test_select_moves_codes(fmt: FloatFormat) -> None:
    """NaN payloads included."""
    given, (x, y) = all_pairs(fmt), decoded_pairs(fmt)
    got = run_pairs(fmt)["select"].view(np.uint8)
    np.testing.assert_array_equal(got, np.where(x < y, *given))


@small
def test_copysign(fmt: FloatFormat) -> None:
    x, y = decoded_pairs(fmt)
    want = np.copysign(x, y).astype(np.float64)
    assert_codes(fmt, run_pairs(fmt)["copysign"], table(fmt).round(want), want)
