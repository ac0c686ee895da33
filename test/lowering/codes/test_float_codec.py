"""Compiled casts between float formats, bit for bit against a table of midpoints."""

from functools import cache

import numpy as np
import pytest
from native_code import compile_converts, elementwise
from rounding_table import RoundingTable, table
from torch_mlir import ir
from torch_mlir.dialects import func

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.dialects.float_formats import (
    FORMATS,
    NARROW_FLOATS,
    OPAQUE_FLOATS,
    SMALL_FLOATS,
    FloatFormat,
    NanEncoding,
    NonFinite,
)
from mlir_fp8.lowering.codec.float_codec import decode, encode
from mlir_fp8.passes.pass_pipeline import run_pipeline

HALVES = ("f16", "bf16")
WIDE = ("f32", "f64")


def run_converts(
    arguments: list[np.ndarray], converts: list[tuple[int, str]], *, saturate: bool = False
) -> list[np.ndarray]:
    return list(compile_converts(arguments, converts, saturate=saturate)(*arguments))


def assert_codes(fmt: FloatFormat, got: np.ndarray, want: np.ndarray, given: np.ndarray) -> None:
    """Equal codes; in f16 and bf16 a NaN may have any payload, but the right sign."""
    codes = got.view(want.dtype)
    alike = codes == want
    if not fmt.is_small:
        magnitudes = (codes & fmt.magnitude_mask, want & fmt.magnitude_mask)
        both_nan = np.minimum(*magnitudes) > (fmt.infinity_code or 0)
        alike |= both_nan & ((codes ^ want) & fmt.sign_mask == 0)
    bad = np.flatnonzero(~alike)
    shown = [f"{float(given[i]).hex()}: {codes[i]:#x} not {want[i]:#x}" for i in bad[:5]]
    assert not bad.size, f"{fmt.name}: {bad.size} of {len(want)} wrong: {shown}"


# All codes of the small formats, to every other format.


UP = [(source, target) for source in SMALL_FLOATS for target in FORMATS if target != source]


@cache
def run_up() -> dict[tuple[str, str], np.ndarray]:
    arguments = [table(f).all_codes.view(f.dtype) for f in SMALL_FLOATS.values()]
    index = list(SMALL_FLOATS).index
    results = run_converts(arguments, [(index(source), target) for source, target in UP])
    return dict(zip(UP, results, strict=True))


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("source", "target"), [pair for pair in UP if pair[1] in WIDE])
def test_every_code_up_is_exact(source: str, target: str) -> None:
    fmt = FORMATS[source]
    want = table(fmt).decode(table(fmt).all_codes)
    with np.errstate(invalid="ignore"):
        got = run_up()[source, target].astype(np.float64)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize(("source", "target"), [pair for pair in UP if pair[1] in NARROW_FLOATS])
def test_every_code_to_narrow_formats(source: str, target: str) -> None:
    given = table(FORMATS[source]).decode(table(FORMATS[source]).all_codes)
    want = table(FORMATS[target]).round(given)
    assert_codes(FORMATS[target], run_up()[source, target], want, given)


# Down: every f16 and bf16; of f32 and f64 all values and midpoints, and what lies beside them.


def hard_numbers(formats: list[RoundingTable], dtype: np.dtype) -> np.ndarray:
    exact = np.concatenate([np.concatenate([t.values, t.midpoints]) for t in formats])
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    subnormals = tiny * 2.0 ** np.arange(np.finfo(dtype).nmant)
    others = np.array([tiny, 3 * tiny, huge, np.inf, 1e-40, 1e38, 1e-45], dtype)
    x = np.unique(np.concatenate([exact, subnormals, others]).astype(dtype))
    with np.errstate(over="ignore"):
        beside = [np.nextafter(x, dtype.type(-1)), x, np.nextafter(x, dtype.type(np.inf))]
        if dtype == np.float64:
            # Less than an f32 can tell: rounding there first would make ties of them.
            beside += [x * (1 - 2.0**-40), x * (1 + 2.0**-40)]
    positive = np.concatenate([*beside, [dtype.type(np.nan)]])
    return np.concatenate([positive, -positive])


def random_numbers(dtype: np.dtype) -> np.ndarray:
    bits = np.random.default_rng(0).integers(0, 256, 100_000 * dtype.itemsize, np.uint8)
    return bits.view(dtype)


@cache
def numbers_down() -> list[np.ndarray]:
    small = [table(fmt) for fmt in SMALL_FLOATS.values()]
    halves = [table(FORMATS[name]) for name in HALVES]
    wide = [np.dtype(np.float32), np.dtype(np.float64)]
    return [
        *(table(FORMATS[name]).all_codes.view(FORMATS[name].dtype) for name in HALVES),
        *(np.concatenate([hard_numbers(small, d), random_numbers(d)]) for d in wide),
        *(hard_numbers(halves, d) for d in wide),
    ]


DOWN = [
    *((i, target) for i in range(2) for target in NARROW_FLOATS if target != HALVES[i]),
    *((i, target) for i in (2, 3) for target in SMALL_FLOATS),
    *((i, target) for i in (4, 5) for target in HALVES),
]
SOURCES = (*HALVES, *WIDE, *WIDE)


@cache
def run_down(*, saturate: bool) -> dict[tuple[int, str], np.ndarray]:
    results = run_converts(numbers_down(), DOWN, saturate=saturate)
    return dict(zip(DOWN, results, strict=True))


@pytest.mark.sampled(11)
@pytest.mark.parametrize("saturate", [False, True], ids=["overflowing", "saturating"])
@pytest.mark.parametrize(("index", "target"), DOWN, ids=[f"{SOURCES[i]}-{t}" for i, t in DOWN])
def test_down_rounds_to_nearest_even(index: int, target: str, saturate: bool) -> None:
    fmt = FORMATS[target]
    with np.errstate(invalid="ignore"):
        given = numbers_down()[index].astype(np.float64)
    want = table(fmt).round(given, saturate=saturate and fmt.is_small)
    assert_codes(fmt, run_down(saturate=saturate)[index, target], want, given)


# Formats of no vendor: the codec knows only what a row of the table says.

MADE_UP = [
    FloatFormat("f7E3M3", "", 3, 3, 3, NonFinite.IEEE754, NanEncoding.IEEE, "", ""),
    FloatFormat("f8E2M5FN", "", 2, 5, 1, NonFinite.FINITE_ONLY, NanEncoding.NONE, "", ""),
    FloatFormat("f8E5M2FN", "", 5, 2, 15, NonFinite.NAN_ONLY, NanEncoding.ALL_ONES, "", ""),
    FloatFormat("f8E6M1FN", "", 6, 1, 31, NonFinite.NAN_ONLY, NanEncoding.ALL_ONES, "", ""),
    FloatFormat("f7E4M2FNUZ", "", 4, 2, 8, NonFinite.NAN_ONLY, NanEncoding.NEGATIVE_ZERO, "", ""),
    FloatFormat("f7E4M3FNU", "", 4, 3, 7, NonFinite.NAN_ONLY, NanEncoding.ALL_ONES, "", "", False),
    FloatFormat("f8E5M3FNU", "", 5, 3, 15, NonFinite.NAN_ONLY, NanEncoding.ALL_ONES, "", "", False),
]


def run_codec(fmt: FloatFormat, codes: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    """`codes` decoded to f32, and f32 `numbers` encoded, overflowing and saturating."""
    shapes = [f"tensor<{len(codes)}xi8>", f"tensor<{len(numbers)}xf32>"]
    context = make_context()
    with context, ir.Location.unknown():
        types = [ir.Type.parse(shape) for shape in shapes]
        encoded = ir.Type.parse(shapes[1].replace("f32", "i8"))
        results = [ir.Type.parse(shapes[0].replace("i8", "f32")), encoded, encoded]
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", (types, results))
        with ir.InsertionPoint(function.add_entry_block()):
            given, wide = function.arguments
            codes_of = [encode(fmt, wide, saturate=saturate) for saturate in (False, True)]
            func.ReturnOp([decode(fmt, given), *codes_of])
        run_pipeline(module, ["convert-elementwise-to-linalg"])
    return list(mlir_fp8.compile(module)(codes.view(np.int8), numbers))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fmt", MADE_UP, ids=lambda fmt: fmt.name)
def test_a_new_row_needs_nothing_else(fmt: FloatFormat) -> None:
    rows = table(fmt)
    numbers = hard_numbers([rows], np.dtype(np.float32))
    decoded, overflowing, saturating = run_codec(fmt, rows.all_codes, numbers)
    with np.errstate(invalid="ignore"):
        decoded, given = decoded.astype(np.float64), numbers.astype(np.float64)
    np.testing.assert_array_equal(decoded, rows.decode(rows.all_codes))
    assert_codes(fmt, overflowing, rows.round(given), given)
    assert_codes(fmt, saturating, rows.round(given, saturate=True), given)


def test_a_new_row_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A format that MLIR has and the table lacks: with one row, the passes lower it."""
    fmt = FloatFormat(
        *("f8E5M3FNU", "Float8E5M3FNUType", 5, 3, 15, NonFinite.NAN_ONLY, NanEncoding.ALL_ONES),
        *("", "", False),
    )
    for formats in (FORMATS, NARROW_FLOATS, OPAQUE_FLOATS, SMALL_FLOATS):
        monkeypatch.setitem(formats, fmt.name, fmt)
    numbers = hard_numbers([table(fmt)], np.dtype(np.float32))
    body = [
        f"%code = arith.truncf %x0 : f32 to {fmt.name}",
        f"%r0 = arith.bitcast %code : {fmt.name} to i8",
        f"%r1 = arith.extf %code : {fmt.name} to f32",
    ]
    codes, rounded = elementwise(["f32"], body, ["i8", "f32"], count=len(numbers))(numbers)
    want = table(fmt).round(numbers.astype(np.float64))
    np.testing.assert_array_equal(codes.view(np.uint8), want)
    np.testing.assert_array_equal(rounded, table(fmt).decode(want).astype(np.float32))
