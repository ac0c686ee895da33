"""The quick slice of ops.py and casts.py: all codes, some pairs, native code alone.

What results/ops.json says is exact must be exact, and what it says is refused must be refused for
the same reason.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import casts
import numpy as np
import pytest
from cast_cases import casts_from
from exact_ops import add, divide
from op_cases import CASES, OpCase
from op_judges import Count, count, operands, run
from results import load, shortened
from rounding_table import table  # pyright: ignore[reportMissingImports]

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode

RECORDED = load(Path(__file__).parent / "results" / "ops.json")["results"]
BY_NAME = {case.name: case for case in CASES}
SLOW_ALIASES = ("broadcast_polygamma", "broadcast_power", "broadcast_zeta")
# Odd, so that the pairs of a sample differ in both codes.
STEPS = {1: 1, 2: 251, 3: 64}
QUICK = ("f8E4M3FN", "f4E2M1FN")
"""With NaN, and with neither NaN nor infinity."""


def sample(fmt: FloatFormat, arity: int) -> list[np.ndarray]:
    return operands(fmt, arity, STEPS[arity] if fmt.bits == 8 else 1 + STEPS[arity] // 16)


@pytest.mark.parametrize("arity", STEPS)
@pytest.mark.parametrize(
    "fmt",
    [
        pytest.param(fmt, marks=[] if fmt.name in QUICK else pytest.mark.exhaustive)
        for fmt in SMALL_FLOATS.values()
    ],
    ids=lambda fmt: fmt.name,
)
def test_ops_are_as_recorded(fmt: FloatFormat, arity: int) -> None:
    rows = {name: RECORDED[name][fmt.name]["llvm"] for name in BY_NAME}
    cases = [case for case in CASES if case.arity == arity and case.name not in SLOW_ALIASES]
    codes = sample(fmt, arity)
    computed = [case for case in cases if "refused" not in rows[case.name]]
    for case, got in zip(computed, run("llvm", fmt, computed, codes), strict=True):
        assert not isinstance(got, str), got
        found, row = count(case, fmt, codes, got, case.exact(fmt, codes)), rows[case.name]
        assert found.wrong <= row["wrong"], (case.name, found)
        assert found.max_ulp <= row.get("max_ulp", 0), (case.name, found)
        assert found.nan <= row.get("nan", 0), (case.name, found)
    for case in cases:
        if case not in computed:
            (refusal,) = run("llvm", fmt, [case], codes)
            assert isinstance(refusal, str), case.name
            assert shortened(refusal) == rows[case.name]["refused"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("judge", ["llvm", "saturating"])
@pytest.mark.parametrize(
    "source",
    [
        *("f8E8M0FNU", "f64", "i32"),
        *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("f8E5M2", "f6E2M3FN")),
        pytest.param("ui64", marks=pytest.mark.exhaustive),
    ],
)
def test_casts_are_exact(source: str, judge: str) -> None:
    targets = [name for name in casts_from(source) if judge == "llvm" or name in SMALL_FLOATS]
    for target, row in casts.judged(source, targets, judge).items():
        assert row.get("wrong") == 0, (target, row)


@pytest.mark.parametrize("name", ["atan2", "broadcast_atan2"])
def test_an_angle_just_below_a_tie_is_not_rounded_twice(name: str) -> None:
    # atan2(3 * 2^-16, 2) is less than 1.5 * 2^-16 by a 2^-32nd of it.
    fmt, case = FORMATS["f8E5M2"], BY_NAME[name]
    codes = [np.array([3], np.uint8), np.array([0x40], np.uint8)]
    assert run("llvm", fmt, [case], codes)[0] == case.exact(fmt, codes)[0] == [1]


def counted(case: OpCase, changes: dict[int, int] | None = None) -> Count:
    """How right native code is, on codes of f8E4M3FN some of which are then changed."""
    fmt = FORMATS["f8E4M3FN"]
    codes = sample(fmt, case.arity)
    (got,) = run("llvm", fmt, [BY_NAME[case.name]], codes)
    assert not isinstance(got, str)
    for place, code in (changes or {}).items():
        got[place] = code
    return count(case, fmt, codes, got, case.exact(fmt, codes))


def test_a_wrong_reference_is_found() -> None:
    def twice_rounded(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        half = table(FORMATS["f8E5M2"])
        return half.decode(half.round(x + y))

    assert counted(BY_NAME["add"]).wrong == 0
    assert counted(replace(BY_NAME["add"], reference=twice_rounded)).wrong > 10
    floor = BY_NAME["floor"].reference
    assert counted(replace(BY_NAME["round_nearest_even"], reference=floor)).wrong > 10


@pytest.mark.parametrize(
    ("place", "code", "found"),
    [
        (0x00, 0x80, {"wrong": 1}),  # a zero of the other sign
        (0x38, 0x3A, {"wrong": 1, "max_ulp": 2}),
        (0x38, 0x7F, {"wrong": 1, "nan": 1}),
        (0x7F, 0xFF, {"wrong": 0}),  # another NaN
        (0x7F, 0x00, {"wrong": 1, "nan": 1}),
    ],
)
def test_a_wrong_code_is_found(place: int, code: int, found: dict[str, int]) -> None:
    row = counted(BY_NAME["square"], {place: code}).as_json()
    row.pop("first", None)
    assert row == {"cases": 256, **found}


def test_a_lost_bit_is_found_where_bits_must_be_kept() -> None:
    case = BY_NAME["bitcast_convert"]
    assert counted(case).wrong == 0
    assert counted(case, {0x7F ^ 5: 0xFF}).wrong == 1


@pytest.mark.parametrize("name", ["f8E8M0FNU", "f8E5M2", "f8E3M4"])
def test_sums_and_quotients_of_the_reference_are_those_of_rationals(name: str) -> None:
    fmt = FORMATS[name]
    for codes in np.random.default_rng(0).integers(0, 1 << fmt.bits, (500, 2)):
        x, y = table(fmt).decode(codes.astype(np.uint8)).reshape(2, 1)
        if not (np.isfinite(x[0]) and np.isfinite(y[0]) and y[0]):
            continue
        for function, right in (
            (add, Fraction(x[0]) + Fraction(y[0])),
            (divide, Fraction(x[0]) / Fraction(y[0])),
        ):
            if right:
                assert table(fmt).round(function(x, y))[0] == encode(fmt, right), (x, y)
