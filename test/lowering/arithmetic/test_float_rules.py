"""Every op on narrow floats rounds once to its type: compiled code against exact references."""

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from float_cases import (
    assert_codes,
    call,
    code_dtype,
    compile_ops,
    nearest,
    numbers,
    rounded,
    tensor,
    through_f32,
)

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import (
    FORMATS,
    NARROW_FLOATS,
    SMALL_FLOATS,
    FloatFormat,
    NanEncoding,
)
from mlir_fp8.lowering.codec.missing_codes import GIVES_NAN

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy on inf and NaN

SIGNED = [fmt for fmt in NARROW_FLOATS.values() if fmt.signed]
DIRECTIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def f64(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """An array function from one of `math`; what that refuses is NaN."""

    def scalar(number: float) -> float:
        try:
            return function(number)
        except (ValueError, OverflowError):
            return math.nan

    return lambda numbers: np.array([scalar(number) for number in numbers.tolist()])


EXACT = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}
EXACT_BINARY = {
    **{name: getattr(np, name) for name in (*EXACT, "divide")},
    "maximum": lambda x, y: np.where((x == 0) & (y == 0), x + y, np.maximum(x, y)),
    "minimum": lambda x, y: np.where((x == 0) & (y == 0), -(-x - y), np.minimum(x, y)),
    "remainder": np.fmod,
}
F32_BINARY = {"power": np.power, "atan2": np.arctan2}


def exact_codes(fmt: FloatFormat, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correctly rounded codes of a binary op, by rational arithmetic where float64 rounds."""
    values = EXACT_BINARY[name](x, y)
    codes = nearest(fmt, values)
    operation = {**EXACT, "divide": operator.truediv}.get(name)
    if operation is not None:
        for i in np.flatnonzero(np.isfinite(values) & (values != 0) & np.isfinite(y)):
            codes[i] = rounded(fmt, operation(Fraction(x[i]), Fraction(y[i])))
    return codes


def pairs(fmt: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of codes of two FP8 types, some for the others, near and equal ones among them."""
    count = 1 << fmt.bits
    if fmt.name in ("f8E4M3FN", "f8E5M2"):
        codes = np.arange(count, dtype=code_dtype(fmt))
        return np.repeat(codes, count), np.tile(codes, count)
    random = np.random.default_rng(fmt.bits)
    x, y = random.integers(0, count, (2, 3000))
    y[:500] = x[:500]
    y[500:1500] = (x[500:1500] + random.integers(-3, 4, 1000)) % count
    return x.astype(code_dtype(fmt)), y.astype(code_dtype(fmt))


def by_the_rule(fmt: FloatFormat, values: np.ndarray) -> np.ndarray:
    """The codes of float64 results; f8E8M0FNU, with f32's range, tells more apart than f32 does."""
    return (
        nearest(fmt, values)
        if fmt.exponent_bits == 8 and fmt.is_small
        else through_f32(fmt, values)
    )


def is_possible(name: str, fmt: FloatFormat) -> bool:
    """See test_missing_codes.py for what is refused."""
    return fmt.has_nan or name not in GIVES_NAN


@pytest.mark.sampled(13)
@pytest.mark.parametrize("fmt", SIGNED, ids=lambda fmt: fmt.name)
def test_binary_ops(fmt: FloatFormat) -> None:
    x, y = pairs(fmt)
    type_ = tensor([len(x)], fmt.name)
    names = [name for name in (*EXACT_BINARY, *F32_BINARY) if is_possible(f"stablehlo.{name}", fmt)]
    ops = [call(f"stablehlo.{name}", [type_] * 2, type_) for name in names]
    results = compile_ops([type_] * 2, ops)(x.view(fmt.dtype), y.view(fmt.dtype))
    a, b = numbers(fmt)[x], numbers(fmt)[y]
    for name, got in zip(names, results, strict=True):
        if name in EXACT_BINARY:
            assert_codes(fmt, got, exact_codes(fmt, name, a, b), EXACT_BINARY[name](a, b))
            continue
        values = F32_BINARY[name](a, b)
        # pow(1, NaN) and pow(NaN, 0) are 1 for a quiet NaN only.
        values[(np.isnan(a) | np.isnan(b)) & np.isnan(numbers(fmt)[got.view(x.dtype)])] = np.nan
        in_f64 = name == "atan2" and fmt.is_small
        assert_codes(fmt, got, (nearest if in_f64 else by_the_rule)(fmt, values), values)


def test_e8m0_arithmetic_is_exact_where_f32_underflows() -> None:
    fmt = FORMATS["f8E8M0FNU"]
    x, y = pairs(fmt)
    type_ = tensor([len(x)], fmt.name)
    names = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"]
    ops = [call(f"stablehlo.{name}", [type_] * 2, type_) for name in names]
    results = compile_ops([type_] * 2, ops)(x.view(fmt.dtype), y.view(fmt.dtype))
    a, b = (numbers(fmt)[codes] for codes in (x, y))
    for name, got in zip(names, results, strict=True):
        assert_codes(fmt, got, nearest(fmt, EXACT_BINARY[name](a, b)))


def order_key(fmt: FloatFormat, codes: np.ndarray) -> np.ndarray:
    codes = codes.astype(np.int32)
    return np.where(codes & fmt.sign_mask, -1 - (codes & fmt.magnitude_mask), codes)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fmt", NARROW_FLOATS.values(), ids=lambda fmt: fmt.name)
def test_compare(fmt: FloatFormat) -> None:
    x, y = pairs(fmt)
    type_, predicate = tensor([len(x)], fmt.name), tensor([len(x)], "i1")
    text = "stablehlo.compare {}, %0, %1{} : ({}, {}) -> {}"
    orders = [""] if fmt.nan is NanEncoding.NEGATIVE_ZERO else ["", ", TOTALORDER"]
    cases = [(order, direction) for order in orders for direction in DIRECTIONS]
    ops = [(text.format(d, order, type_, type_, predicate), predicate) for order, d in cases]
    results = compile_ops([type_] * 2, ops)(x.view(fmt.dtype), y.view(fmt.dtype))
    for (order, direction), got in zip(cases, results, strict=True):
        a, b = (order_key(fmt, c) if order else numbers(fmt)[c] for c in (x, y))
        np.testing.assert_array_equal(got, DIRECTIONS[direction](a, b), f"{direction}{order}")


def test_total_order_is_refused_where_nan_has_no_sign() -> None:
    type_ = tensor([4], "f8E4M3FNUZ")
    op = f"stablehlo.compare LT, %0, %1, TOTALORDER : ({type_}, {type_}) -> tensor<4xi1>"
    with pytest.raises(Fp8Error, match=r"'stablehlo.compare' TOTALORDER has no place for"):
        compile_ops([type_] * 2, [(op, "tensor<4xi1>")])


UNARY = {
    "abs": np.abs,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "floor": np.floor,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "negate": np.negative,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "round_nearest_even": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
CHLO = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "erf": f64(math.erf),
    "erfc": f64(math.erfc),
    "sinh": np.sinh,
    "square": np.square,
}


@pytest.mark.sampled(13)
@pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=lambda fmt: fmt.name)
def test_unary_ops_on_all_codes(fmt: FloatFormat) -> None:
    functions = {f"stablehlo.{name}": function for name, function in UNARY.items()}
    functions |= {f"chlo.{name}": function for name, function in CHLO.items()}
    if not fmt.signed:
        del functions["stablehlo.negate"]
    functions = {name: each for name, each in functions.items() if is_possible(name, fmt)}
    codes = np.arange(1 << fmt.bits, dtype=code_dtype(fmt))
    type_, predicate = tensor([len(codes)], fmt.name), tensor([len(codes)], "i1")
    ops = [call(name, [type_], type_) for name in functions]
    ops.append(call("stablehlo.is_finite", [type_], predicate))
    *results, finite = compile_ops([type_], ops)(codes.view(fmt.dtype))
    x = numbers(fmt)
    np.testing.assert_array_equal(finite, np.isfinite(x))
    for (name, function), got in zip(functions.items(), results, strict=True):
        values = function(x)
        if name == "chlo.erfc" and not fmt.has_zero:
            values = np.maximum(values, float(fmt.smallest_normal))  # f64 has none that small
        assert_codes(fmt, got, by_the_rule(fmt, values), values)


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_exact_unary_ops_on_bf16_and_f16(name: str) -> None:
    fmt = FORMATS[name]
    codes = np.arange(0, 1 << 16, 13, dtype=np.uint16)
    type_ = tensor([len(codes)], name)
    exact = ("abs", "ceil", "floor", "negate", "round_nearest_afz", "round_nearest_even", "sign")
    ops = [call(f"stablehlo.{op}", [type_], type_) for op in (*exact, "sqrt")]
    *results, roots = compile_ops([type_], ops)(codes.view(fmt.dtype))
    x = numbers(fmt)[codes]
    for op, got in zip(exact, results, strict=True):
        assert_codes(fmt, got, nearest(fmt, UNARY[op](x)))
    want = nearest(fmt, np.sqrt(x))
    for i in np.flatnonzero(np.isfinite(x) & (x > 0)):
        want[i] = rounded(fmt, root(Fraction(x[i])))
    assert_codes(fmt, roots, want)


def root(number: Fraction) -> Fraction:
    """A rational on the same side of every narrow value and midpoint as the square root."""
    scaled = int(number * 4**200)  # exact: the smallest value is 2^-133
    floor = math.isqrt(scaled)
    return Fraction(2 * floor + (floor * floor != scaled), 2**201)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("fmt", SIGNED, ids=lambda fmt: fmt.name)
def test_negate_and_abs_keep_nan_payloads(fmt: FloatFormat) -> None:
    codes = np.arange(1 << fmt.bits, dtype=np.uint32).astype(code_dtype(fmt))
    type_ = tensor([len(codes)], fmt.name)
    ops = [call(f"stablehlo.{name}", [type_], type_) for name in ("negate", "abs")]
    negated, absolute = compile_ops([type_], ops)(codes.view(fmt.dtype))
    magnitudes = codes & fmt.magnitude_mask
    signless = (magnitudes == 0) if not fmt.has_negative_zero else np.zeros(len(codes), bool)
    np.testing.assert_array_equal(
        negated.view(codes.dtype), np.where(signless, codes, codes ^ fmt.sign_mask)
    )
    np.testing.assert_array_equal(absolute.view(codes.dtype), np.where(signless, codes, magnitudes))


@pytest.mark.parametrize(("name", "count"), [("f8E4M3FN", 600), ("f6E2M3FN", 600), ("bf16", 33000)])
def test_iota_counts_exactly(name: str, count: int) -> None:
    fmt = FORMATS[name]
    type_ = tensor([count], name)
    (got,) = compile_ops([], [(f"stablehlo.iota dim = 0 : {type_}", type_)])()
    assert_codes(fmt, got, nearest(fmt, np.arange(float(count))))


def test_reduce_precision_stays_in_the_type() -> None:
    fmt = FORMATS["f8E4M3FN"]
    codes = np.arange(256, dtype=np.uint8)
    type_ = tensor([256], fmt.name)
    ops = [
        (f"stablehlo.reduce_precision %0, format = e5m2 : {type_}", type_),
        (f"stablehlo.reduce_precision %0, format = e8m7 : {type_}", type_),
    ]
    coarse, same = compile_ops([type_], ops)(codes.view(fmt.dtype))
    e5m2 = FORMATS["f8E5M2"]
    assert_codes(fmt, coarse, nearest(fmt, numbers(e5m2)[nearest(e5m2, numbers(fmt))]))
    assert_codes(fmt, same, codes)


def test_what_has_no_exact_meaning_is_refused() -> None:
    types = [tensor([4, 4], "f8E4M3FNUZ")] * 2
    with pytest.raises(Fp8Error, match=r"'chlo.next_after' is not possible on f8E4M3FNUZ"):
        compile_ops(types, [call("chlo.next_after", types, types[0])])
