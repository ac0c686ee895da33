"""Floating point and conversions of `ptx_instructions`: f16, bf16, their pairs, f32, f64, f8.

What PTX approximates (`ex2.approx` and others) is rounded right here: the hardware's is off by
some units in the last place, so compare with a bound.
"""

from collections.abc import Callable

import ml_dtypes
import numpy as np

_U64 = np.uint64
_F8 = {
    "e4m3x2": (ml_dtypes.float8_e4m3fn, 448.0),
    "e5m2x2": (ml_dtypes.float8_e5m2, 57344.0),
}
_TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
FLOATS = (*_TYPES, "f16x2", "bf16x2")
_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8 << 48}


def mask(bits: int) -> np.uint64:
    return _U64((1 << bits) - 1)


def signed(bits: np.ndarray, width: int) -> np.ndarray:
    return (bits & mask(width)).astype(f"u{width // 8}").view(f"i{width // 8}").astype(np.int64)


def _numbers(bits: np.ndarray, kind: str) -> np.ndarray:
    type_ = np.dtype(_TYPES[kind])
    found = bits.astype(f"u{type_.itemsize}").view(type_)
    return found if kind == "f64" else found.astype(np.float32)


def _bits(numbers: np.ndarray, kind: str) -> np.ndarray:
    """NVIDIA's arithmetic has one NaN."""
    type_ = np.dtype(_TYPES[kind])
    found = numbers.astype(type_).view(f"u{type_.itemsize}").copy()
    found[np.isnan(numbers)] = _NAN[kind]
    return found.astype(_U64)


def _to_odd(total: np.ndarray, error: np.ndarray) -> np.ndarray:
    """A sum in f64, rounded to odd: it may be rounded again, to what is shorter."""
    bits = total.view(np.int64).copy()
    is_inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    bits[is_inexact] += np.where((error > 0) == (total > 0), 1, -1)[is_inexact]
    return bits.view(np.float64)


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a b + c, rounded once: the sum in f64 is rounded to odd before."""
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    return _to_odd(total, (product - (total - back)) + (addend - back))


def float_op(base: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    kind = parts[-1]
    if kind.endswith("x2"):
        halves = [[(x >> _U64(s)) & mask(16) for x in values] for s in (0, 16)]
        low, high = (float_op(base, [*parts[:-1], kind[:-2]], each) for each in halves)
        return low | (high << _U64(16))
    width = 8 * np.dtype(_TYPES[kind]).itemsize
    if base == "neg":
        return (values[0] ^ _U64(1 << (width - 1))) & mask(width)
    if base == "abs":
        return values[0] & mask(width - 1)
    if base == "copysign":
        return (values[1] & mask(width - 1)) | (values[0] & _U64(1 << (width - 1)))
    numbers = [_numbers(each, kind) for each in values]
    if "ftz" in parts:
        numbers = [_flushed(each) for each in numbers]
    if base == "setp":
        return _compared(parts[1], numbers)
    exact = ("rn",) if kind in ("f32", "f64") else ("rn", kind)
    if base in ("mul", "add", "sub", "fma", "sqrt", "div", "rcp") and "approx" not in parts:
        assert parts[1] in exact, parts  # else the driver may fuse or approximate
    if base == "fma" and kind == "f64":
        raise AssertionError("fma.f64 is not known")
    if base in ("min", "max"):
        return _extreme(base, parts, kind, numbers)
    found = _FUNCTIONS[base](*numbers)
    if "ftz" in parts:
        found = _flushed(found)
    if "sat" in parts:
        found = np.clip(np.where(np.isnan(found), 0, found), 0, 1)
    if "relu" in parts:
        found = np.where(found > 0, found, np.where(np.isnan(found), found, 0))
    if kind in ("f16", "bf16") and found.dtype == np.float64:
        narrow = found.astype(np.float32)
        found = _odd_f32(found, narrow)
    return _bits(found, kind)


def _flushed(numbers: np.ndarray) -> np.ndarray:
    """Subnormals of f32 as zeros of their sign."""
    return np.where(np.abs(numbers) < 2.0**-126, numbers * 0, numbers)


def _odd_f32(wide: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    error = wide - narrow
    bits = narrow.view(np.int32).copy()
    is_inexact = np.isfinite(narrow) & (error != 0) & (bits & 1 == 0)
    bits[is_inexact] += np.where((error > 0) == (narrow > 0), 1, -1)[is_inexact].astype(np.int32)
    return bits.view(np.float32)


def _compared(how: str, numbers: list[np.ndarray]) -> np.ndarray:
    has_nan = np.isnan(numbers[0]) | np.isnan(numbers[1])
    if how in ("nan", "num"):
        return (has_nan == (how == "nan")).astype(_U64)
    if how in COMPARE:
        return (COMPARE[how](*numbers) & ~has_nan).astype(_U64)
    return (COMPARE[how.removesuffix("u")](*numbers) | has_nan).astype(_U64)


def _extreme(base: str, parts: list[str], kind: str, numbers: list[np.ndarray]) -> np.ndarray:
    """The other number where one is NaN, unless it is `.NaN`; -0 is less than +0."""
    if "xorsign" in parts:
        raise AssertionError("xorsign is not known")
    ordered = (np.fmin if base == "min" else np.fmax)(*numbers)
    is_zero = (numbers[0] == 0) & (numbers[1] == 0)
    signs = np.signbit(numbers[0]), np.signbit(numbers[1])
    negative = signs[0] | signs[1] if base == "min" else signs[0] & signs[1]
    ordered = np.where(is_zero, np.where(negative, -0.0, 0.0).astype(ordered.dtype), ordered)
    if "NaN" in parts:
        ordered = np.where(np.isnan(numbers[0]) | np.isnan(numbers[1]), np.nan, ordered)
    return _bits(ordered.astype(numbers[0].dtype), kind)


def converted(parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    target, source = parts[-2:]
    if target in _F8:
        return _to_f8(parts, values)
    if source in _F8:
        return _from_f8(target, source, values[0])
    if target in ("f16x2", "bf16x2"):
        high, low = (_to_float(parts, target[:-2], "f32", each) for each in values)
        return low | (high << _U64(16))
    if target in _TYPES:
        return _to_float(parts, target, source, values[0])
    width = int(target[1:])
    if source in _TYPES:
        return _to_integer(parts, target, _numbers(values[0], source).astype(np.float64))
    wide = int(source[1:])
    number = signed(values[0], wide) if source[0] == "s" else values[0] & mask(wide)
    if "sat" in parts:
        raise AssertionError("cvt.sat of integers is not known")
    return number.astype(_U64) & mask(width)


def _to_float(parts: list[str], target: str, source: str, bits: np.ndarray) -> np.ndarray:
    if source in _TYPES:
        number = _numbers(bits, source)
        if {"rz", "rm", "rp"} & set(parts):
            raise AssertionError(f"{parts} is not known")
        rounds = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
        for each in set(parts) & set(rounds):
            number = rounds[each](number)
        if "relu" in parts:
            number = np.where(number > 0, number, np.where(np.isnan(number), number, 0))
        if "sat" in parts:
            number = np.clip(np.where(np.isnan(number), 0, number), 0, 1)
        return _bits(number, target)
    width = int(source[1:])
    whole = signed(bits, width) if source[0] == "s" else bits & mask(width)
    if target in ("f16", "bf16"):
        wide = whole.astype(np.float64)
        return _bits(_odd_f32(wide, wide.astype(np.float32)), target)
    return _bits(whole.astype(_TYPES[target]), target)


def _to_integer(parts: list[str], target: str, number: np.ndarray) -> np.ndarray:
    """Clamped to what the integer holds; NaN is 0."""
    width = int(target[1:])
    round_ = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[parts[1]]
    rounded = np.nan_to_num(round_(number), nan=0.0, posinf=1e30, neginf=-1e30)
    low = -(1 << (width - 1)) if target[0] == "s" else 0
    high = (1 << (width - 1)) - 1 if target[0] == "s" else (1 << width) - 1
    whole = [min(max(int(each), low), high) % (1 << width) for each in rounded]
    return np.array(whole, _U64)


def _to_f8(parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    target, source = parts[-2:]
    assert parts[1:3] == ["rn", "satfinite"], parts
    type_, largest = _F8[target]
    if source == "f16x2":
        halves = [(values[0] >> _U64(s)).astype(np.uint16).view(np.float16) for s in (16, 0)]
        numbers = [half.astype(np.float32) for half in halves]
    else:
        numbers = [_numbers(each, "f32") for each in values]
    if "relu" in parts:
        numbers = [np.where(x < 0, 0, x).astype(np.float32) for x in numbers]
    found: list[np.ndarray] = []
    for number in numbers:
        code = np.clip(number, -largest, largest).astype(type_).view(np.uint8)
        found.append(np.where(np.isnan(number), 0x7F, code).astype(_U64))
    return (found[0] << _U64(8)) | found[1]


def _from_f8(target: str, source: str, bits: np.ndarray) -> np.ndarray:
    assert target == "f16x2", target
    type_ = _F8[source][0]
    halves = [((bits >> _U64(s)) & _U64(255)).astype(np.uint8) for s in (0, 8)]
    low, high = (x.view(type_).astype(np.float16).view(np.uint16).astype(_U64) for x in halves)
    low, high = (np.where((x & _U64(0x7FFF)) > 0x7C00, 0x7FFF, x).astype(_U64) for x in (low, high))
    return low | (high << _U64(16))


COMPARE: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater,
    "hs": np.greater_equal,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fma": _fma,
    "rcp": lambda x: (1 / x.astype(np.float64)).astype(x.dtype),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: (1 / np.sqrt(x.astype(np.float64))).astype(x.dtype),
    "ex2": lambda x: np.exp2(x.astype(np.float64)).astype(x.dtype),
    "lg2": lambda x: np.log2(x.astype(np.float64)).astype(x.dtype),
    "tanh": lambda x: np.tanh(x.astype(np.float64)).astype(x.dtype),
    "sin": lambda x: np.sin(x.astype(np.float64)).astype(x.dtype),
    "cos": lambda x: np.cos(x.astype(np.float64)).astype(x.dtype),
}
INTEGER: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mad": lambda a, b, c: a * b + c,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.bitwise_not,
    "cnot": lambda x: (x == 0).astype(_U64),
    "max": np.maximum,
    "min": np.minimum,
    "div": np.floor_divide,
    "rem": np.remainder,
    "neg": np.negative,
    "abs": np.abs,
}
