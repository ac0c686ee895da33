"""Rounding toward zero and stochastic rounding: compiled code against exact references."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from float_cases import assert_codes, code_dtype, numbers
from squares_reference import draws
from test_float_converts import hard_integers

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode
from mlir_fp8.dialects.rounding_modes import RoundingMode
from mlir_fp8.judging.rounded import rounded_copy

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN

SOURCES = {"f32": np.float32, "f64": np.float64}
WITH_F64 = ["f32", pytest.param("f64", marks=pytest.mark.exhaustive)]
SEED, STREAM = 0xDEAD_BEEF_0123_4567, 9


def op(source: str, target: str, count: int, attributes: str, *operands: str) -> str:
    types = ", ".join([f"tensor<{count}x{source}>", *["tensor<ui64>"] * (len(operands) - 1)])
    converted = f"({types}) -> tensor<{count}x{target}>"
    return f'"fp8.convert"({", ".join(operands)}) {{{attributes}}} : {converted}'


def module(arguments: Sequence[str], results: Sequence[tuple[str, str]]) -> str:
    """`arguments` are the types of %0, %1, ...; `results` are ops with their types."""
    signature = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(arguments))
    types = ", ".join(type_ for _, type_ in results)
    lines = "\n".join(f"%r{i} = {text}" for i, (text, _) in enumerate(results))
    returned = ", ".join(f"%r{i}" for i in range(len(results)))
    return f"func.func @main({signature}) -> ({types}) {{\n{lines}\nreturn {returned} : {types}\n}}"


@cache
def hard_numbers(fmt: FloatFormat, source: str) -> np.ndarray:
    """Values and midpoints of `fmt`, what lies beside them and beyond, of both signs."""
    codes = range(0, fmt.max_code + 1, 1 if fmt.is_small else 251)
    last = range(fmt.max_code - 3, fmt.max_code + 1)
    values = np.unique([float(numbers(fmt)[code]) for code in [*codes, *last, 1, 2]])
    values = np.append(values, 2 * values[-1] - values[-2])  # as if the exponent went on
    exact = np.concatenate([values, (values[1:] + values[:-1]) / 2, values[1:] * (1 + 2**-9)])
    exact = np.append(exact, [float(fmt.smallest_subnormal) / 2**k for k in (1, 3, 9, 20, 40, 150)])
    wide = exact.astype(SOURCES[source])
    infinity = wide.dtype.type(np.inf)
    beside = [wide, np.nextafter(wide, infinity), np.nextafter(wide, -infinity)]
    limits = np.finfo(wide.dtype)
    ends = [np.inf, np.nan, limits.max, limits.tiny, limits.smallest_subnormal]
    found = np.unique(np.abs(np.concatenate([*beside, np.array(ends, wide.dtype)])))
    return np.concatenate([found, -found])


def exact_codes(
    fmt: FloatFormat, values: Sequence[Fraction | float], rounding: RoundingMode, *,
    saturate: bool = False, bits: np.ndarray | None = None, kept_bits: int = 32,
) -> np.ndarray:  # fmt: skip
    """The codes by the exact reference; `bits` are 32 random ones each, of which the top count."""
    kept = np.zeros(len(values), np.uint32) if bits is None else bits >> np.uint32(32 - kept_bits)
    draws = [Fraction(int(each), 1 << kept_bits) for each in kept]
    codes = [
        encode(fmt, value, saturate=saturate, rounding=rounding, draw=draw)
        for value, draw in zip(values, draws, strict=True)
    ]
    return np.array(codes, code_dtype(fmt))


def kept_bits(fmt: FloatFormat, source: str) -> int:
    return 30 - fmt.mantissa_bits if source == "f32" else 32


@pytest.mark.parametrize("source", WITH_F64)
def test_toward_zero_and_saturating(source: str) -> None:
    given = [hard_numbers(fmt, source) for fmt in NARROW_FLOATS.values()]
    cases = {
        'rounding = "toward_zero"': (RoundingMode.TOWARD_ZERO, False),
        'rounding = "toward_zero", saturate': (RoundingMode.TOWARD_ZERO, True),
        'rounding = "nearest_even", saturate': (RoundingMode.NEAREST_EVEN, True),
    }
    results = [
        (op(source, name, len(x), attributes, f"%{i}"), f"tensor<{len(x)}x{name}>")
        for attributes in cases
        for i, (name, x) in enumerate(zip(NARROW_FLOATS, given, strict=True))
    ]
    text = module([f"tensor<{len(x)}x{source}>" for x in given], results)
    got = iter(mlir_fp8.compile(text)(*given))
    for mode, saturate in cases.values():
        for fmt, x in zip(NARROW_FLOATS.values(), given, strict=True):
            want = exact_codes(fmt, [float(each) for each in x], mode, saturate=saturate)
            assert_codes(fmt, next(got), want, x.astype(np.float64))


def test_saturation_in_stablehlo_is_that_of_the_codes() -> None:
    given = [hard_numbers(fmt, "f32") for fmt in SMALL_FLOATS.values()]
    types = [f"tensor<{len(x)}xf32>" for x in given]
    results = [
        (f"stablehlo.convert %{i} : (tensor<{len(x)}xf32>) -> {type_}", type_)
        for i, (name, x) in enumerate(zip(SMALL_FLOATS, given, strict=True))
        for type_ in [f"tensor<{len(x)}x{name}>"]
    ]
    text = module(types, results)
    clamped = rounded_copy(
        mlir_fp8.load(text), "main", rounding="nearest-even", seed=0, saturate=True
    )
    assert str(clamped).count("stablehlo.clamp") == len(SMALL_FLOATS)
    results = [mlir_fp8.compile(text, saturate=True)(*given), mlir_fp8.compile(clamped)(*given)]
    for fmt, x, want, got in zip(SMALL_FLOATS.values(), given, *results, strict=True):
        assert_codes(fmt, got, want.view(code_dtype(fmt)), x.astype(np.float64))


@pytest.mark.parametrize("source", WITH_F64)
def test_stochastic_is_predicted_bit_for_bit(source: str) -> None:
    given = [hard_numbers(fmt, source) for fmt in NARROW_FLOATS.values()]
    attributes = f'rounding = "stochastic", seed = {STREAM} : i64'
    results = [
        (op(source, name, len(x), attributes, f"%{i}", "%seed"), f"tensor<{len(x)}x{name}>")
        for i, (name, x) in enumerate(zip(NARROW_FLOATS, given, strict=True))
    ]
    text = module([f"tensor<{len(x)}x{source}>" for x in given], results)
    text = text.replace("@main(", "@main(%seed: tensor<ui64>, ")
    got = mlir_fp8.compile(text)(np.uint64(SEED), *given)
    for fmt, x, codes in zip(NARROW_FLOATS.values(), given, got, strict=True):
        values, bits = [float(each) for each in x], draws(len(x), SEED, STREAM)
        want = exact_codes(
            fmt, values, RoundingMode.STOCHASTIC, bits=bits, kept_bits=kept_bits(fmt, source)
        )
        assert_codes(fmt, codes, want, x.astype(np.float64))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("source", ["i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"])
def test_integers_round_once(source: str) -> None:
    x = hard_integers(element_dtype(source))
    count, exact = len(x), [Fraction(int(each)) for each in x]
    targets = ["f8E4M3FN", "f8E5M2", "f8E8M0FNU", "bf16", "f16"]
    modes = {
        RoundingMode.TOWARD_ZERO: 'rounding = "toward_zero"',
        RoundingMode.STOCHASTIC: f'rounding = "stochastic", seed = {STREAM} : i64',
    }
    results = [
        (op(source, target, count, attributes, "%0"), f"tensor<{count}x{target}>")
        for target in targets
        for attributes in modes.values()
    ]
    got = iter(mlir_fp8.compile(module([f"tensor<{count}x{source}>"], results))(x))
    narrow = x.dtype.itemsize <= 2
    for target in targets:
        fmt = FORMATS[target]
        for mode in modes:
            bits, kept = draws(count, 0, STREAM), kept_bits(fmt, "f32" if narrow else "f64")
            assert_codes(fmt, next(got), exact_codes(fmt, exact, mode, bits=bits, kept_bits=kept))


@pytest.mark.parametrize("mode", ["toward-zero", "stochastic"])
def test_the_option_rounds_every_convert_as_the_op_does(mode: str) -> None:
    """Converts that arithmetic comes with, too; and the interpreter agrees."""
    count = 64
    types = [f"tensor<{count}x{name}>" for name in ("f32", "f8E4M3FN", "f8E5M2", "bf16")]
    results = ", ".join(types[1:])
    text = f"""func.func @main(%x: {types[0]}, %y: {types[1]}) -> ({results}) {{
      %0 = stablehlo.convert %x : ({types[0]}) -> {types[1]}
      %1 = stablehlo.multiply %0, %y : {types[1]}
      %2 = stablehlo.convert %1 : ({types[1]}) -> {types[2]}
      %3 = stablehlo.convert %x : ({types[0]}) -> {types[3]}
      return %1, %2, %3 : {results}
    }}"""
    rng = np.random.default_rng(3)
    e4m3, e5m2 = FORMATS["f8E4M3FN"], FORMATS["f8E5M2"]
    x = (rng.standard_normal(count) * 8).astype(np.float32)
    y = rng.standard_normal(count).astype(e4m3.dtype)
    product, narrowed, halves = mlir_fp8.compile(text, rounding=mode, seed=SEED)(x, y)

    def rounded(fmt: FloatFormat, values: np.ndarray, ordinal: int) -> np.ndarray:
        bits = draws(count, SEED, ordinal)
        listed = [float(each) for each in values]
        reference = RoundingMode(mode.replace("-", "_"))
        return exact_codes(fmt, listed, reference, bits=bits, kept_bits=kept_bits(fmt, "f32"))

    first = numbers(e4m3)[rounded(e4m3, x, 0)]
    want = rounded(e4m3, first * y.astype(np.float64), 1)
    assert_codes(e4m3, product, want)
    assert_codes(e5m2, narrowed, rounded(e5m2, numbers(e4m3)[want], 2))
    np.testing.assert_array_equal(halves, x.astype(FORMATS["bf16"].dtype))  # to nearest even


@pytest.mark.parametrize("source", WITH_F64)
def test_interpreter_agrees(source: str) -> None:
    given = [hard_numbers(fmt, source)[::29] for fmt in SMALL_FLOATS.values()]
    modes = ['rounding = "toward_zero", saturate', 'rounding = "stochastic", seed = 1 : i64']
    results = [
        (op(source, name, len(x), mode, f"%{i}"), f"tensor<{len(x)}x{name}>")
        for i, (name, x) in enumerate(zip(SMALL_FLOATS, given, strict=True))
        for mode in modes
    ]
    text = module([f"tensor<{len(x)}x{source}>" for x in given], results)
    interpreted = mlir_fp8.interpret(mlir_fp8.load(text), *given)
    compiled = mlir_fp8.compile(text)(*given)
    for (name, _), mine, theirs in zip(
        [(name, mode) for name in SMALL_FLOATS for mode in modes],
        compiled,
        interpreted,
        strict=True,
    ):
        dtype = code_dtype(FORMATS[name])
        assert_codes(FORMATS[name], mine, theirs.view(dtype))


@cache
def runs(name: str, values: tuple[float, ...], count: int) -> np.ndarray:
    """float64[count, values] of the same numbers, rounded with as many seeds."""
    x = np.array(values, np.float32)
    text = op("f32", name, len(x), 'rounding = "stochastic"', "%0", "%1")
    types = [f"tensor<{len(x)}xf32>", "tensor<ui64>"]
    text = module(types, [(text, f"tensor<{len(x)}x{name}>")])
    compiled = mlir_fp8.compile(text)
    return np.array([compiled(x, np.uint64(seed))[0].astype(np.float64) for seed in range(count)])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "bf16"])
def test_the_mean_over_seeds_is_the_number(name: str) -> None:
    count = 4000
    low, high = (0.3, 4.0) if name != "f8E8M0FNU" else (1.0, 64.0)
    values = np.random.default_rng(1).uniform(low, high, 60).astype(np.float32)
    rounded = runs(name, tuple(map(float, values)), count)
    down, up = rounded.min(axis=0), rounded.max(axis=0)
    assert (down <= values).all() and (values <= up).all()
    # Of 60 means of 4000 numbers that are down or up, none is 4.5 standard deviations off.
    deviation = np.sqrt((values - down) * (up - values) / count)
    assert (np.abs(rounded.mean(axis=0) - values) <= 4.5 * deviation + 1e-12).all()
    # No two elements share their bits, nor do two seeds. What hardly ever moves says nothing of it.
    moves = (up - down) * 0.2 < np.minimum(values - down, up - values)
    errors = ((rounded - values) / deviation)[:, moves] / np.sqrt(count)
    for sample in (errors.T, errors[:100]):
        correlation = np.corrcoef(sample)
        np.fill_diagonal(correlation, 0)
        assert np.abs(correlation).max() < 5 / np.sqrt(sample.shape[1])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NARROW_FLOATS)
def test_what_the_format_holds_never_moves(name: str) -> None:
    fmt = FORMATS[name]
    held = numbers(fmt)[:: 1 if fmt.is_small else 131]
    held = held[np.isfinite(held)]
    for rounded in runs(name, tuple(map(float, held)), 8):
        np.testing.assert_array_equal(rounded, held)
        if fmt.has_negative_zero:
            np.testing.assert_array_equal(np.signbit(rounded), np.signbit(held))


def test_an_op_keeps_its_own_rounding() -> None:
    """Whatever the module's other converts are told, and past the largest value."""
    x = np.array([1.1, 470.0, 1e9], np.float32)
    text = module(
        ["tensor<3xf32>"],
        [(op("f32", "f8E4M3FN", 3, 'rounding = "nearest_even"', "%0"), "tensor<3xf8E4M3FN>")],
    )
    (got,) = mlir_fp8.compile(text, rounding="toward-zero")(x)
    np.testing.assert_array_equal(got.astype(np.float32), [1.125, np.nan, np.nan])
    for rounding in ("nearest-even", "toward-zero"):
        (got,) = mlir_fp8.compile(text, rounding=rounding, saturate=True)(x)
        np.testing.assert_array_equal(got.astype(np.float32), [1.125, 448, 448])
    options = {"rounding": "toward-zero", "seed": 0}
    copy = rounded_copy(mlir_fp8.load(text), "main", saturate=True, **options)
    np.testing.assert_array_equal(mlir_fp8.interpret(copy, x)[0], got)


def test_refusals() -> None:
    body = """func.func @main(%0: tensor<2xf32>) -> tensor<2xf8E5M2> {
      %1 = "stablehlo.map"(%0) ({
      ^bb0(%x: tensor<f32>):
        %y = stablehlo.convert %x : (tensor<f32>) -> tensor<f8E5M2>
        stablehlo.return %y : tensor<f8E5M2>
      }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf8E5M2>
      return %1 : tensor<2xf8E5M2>
    }"""
    with pytest.raises(mlir_fp8.Fp8Error, match=r"4:14: 'stablehlo.convert' in the body of .*map"):
        mlir_fp8.compile(body, rounding="stochastic")
    with pytest.raises(mlir_fp8.Fp8Error, match="rounding 'up' is not one of nearest-even, tow"):
        mlir_fp8.compile(body, rounding="up")
