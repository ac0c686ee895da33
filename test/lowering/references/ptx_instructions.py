"""What instructions of PTX on registers give, as bits in u64: the semantics of `ptx_machine`."""

from collections.abc import Callable

import ml_dtypes
import numpy as np

_U64 = np.uint64
_F8 = {
    "e4m3x2": (ml_dtypes.float8_e4m3fn, 448.0),
    "e5m2x2": (ml_dtypes.float8_e5m2, 57344.0),
}


def mask(bits: int) -> np.uint64:
    return _U64((1 << bits) - 1)


def _f32(bits: np.ndarray) -> np.ndarray:
    return bits.astype(np.uint32).view(np.float32)


def _bits(numbers: np.ndarray) -> np.ndarray:
    """Of f32 numbers; NVIDIA's arithmetic has one NaN."""
    found = numbers.astype(np.float32).view(np.uint32).copy()
    found[np.isnan(numbers)] = 0x7FFFFFFF
    return found.astype(_U64)


def _fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a b + c, rounded once: the sum in f64 is rounded to odd before."""
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64).copy()
    is_inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    bits[is_inexact] += np.where((error > 0) == (total > 0), 1, -1)[is_inexact]
    return bits.view(np.float64).astype(np.float32)


def _signed(bits: np.ndarray, width: int) -> np.ndarray:
    return (bits & mask(width)).astype(f"u{width // 8}").view(f"i{width // 8}").astype(np.int64)


def computed(name: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    """What an instruction on registers gives, as bits."""
    base, kind = parts[0], parts[-1]
    if base == "cvt":
        return _converted(name, parts, values)
    if base == "selp":
        return np.where(values[2] != 0, values[0], values[1])
    if base == "prmt":
        return _permuted(*values)
    if name == "abs.f16x2":
        return values[0] & _U64(0x7FFF7FFF)
    if kind == "f32":
        return _float(base, parts, values)
    if kind in ("bf16", "f16") and base in ("add", "sub", "mul"):
        assert parts[1] == "rn", name
        # f32 holds enough bits of it for a second rounding to change nothing.
        wide = [_f32(_converted(name, ["cvt", "f32", kind], [x])) for x in values]
        return _narrowed(_bits(_FLOATS[base](*wide)), kind)
    if kind == "u16x2":
        halves = [[(x >> _U64(s)) & mask(16) for x in values] for s in (0, 16)]
        low, high = (np.maximum(*each) for each in halves)
        return low | (high << _U64(16))
    if kind == "pred":
        return _INTEGER[base](*values) & _U64(1)
    width = int(kind[1:])
    if base == "setp":
        if kind[0] == "s":
            return _COMPARE[parts[1]](*(_signed(x, width) for x in values)).astype(_U64)
        return _COMPARE[parts[1]](*(x & mask(width) for x in values)).astype(_U64)
    if base in ("mul", "mad") and parts[1] == "wide":
        values = [_signed(x, width).astype(_U64) if kind[0] == "s" else x & mask(width)
                  for x in values]  # fmt: skip
        return _INTEGER[base](*values)
    if base == "shr" and kind[0] == "s":
        return (_signed(values[0], width) >> values[1].astype(np.int64)).astype(_U64) & mask(width)
    if base == "bfe":
        return (values[0] & mask(width)) >> values[1] & ((_U64(1) << values[2]) - _U64(1))
    return _INTEGER[base](*(x & mask(width) for x in values)) & mask(width)


def _float(base: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    if base == "neg":
        return values[0] ^ _U64(1 << 31)
    if base == "abs":
        return values[0] & mask(31)
    numbers = [_f32(each) for each in values]
    if base == "setp":
        has_nan = np.isnan(numbers[0]) | np.isnan(numbers[1])
        if parts[1] in ("nan", "num"):
            return (has_nan == (parts[1] == "nan")).astype(_U64)
        compared = _COMPARE[parts[1].removesuffix("u")](*numbers)
        if parts[1].endswith("u"):
            compared = compared | has_nan
        return compared.astype(_U64)
    if parts[1:3] == ["approx", "ftz"]:
        # Within two units in the last place on the card; the nearest number here.
        return _bits(_flushed(_FLOATS[base](_flushed(numbers[0]))))
    if base in ("mul", "add", "sub", "div", "rcp"):
        assert parts[1] == "rn", parts  # else the driver may fuse or approximate
    return _bits(_FLOATS[base](*numbers))


def _flushed(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.abs(numbers) < 2.0**-126, numbers * np.float32(0), numbers)


def _narrowed(bits: np.ndarray, target: str) -> np.ndarray:
    """f32 to bf16 or f16, nearest even; NVIDIA's have one NaN."""
    type_ = np.float16 if target.startswith("f16") else ml_dtypes.bfloat16
    found = _f32(bits).astype(type_)
    return np.where(np.isnan(found), 0x7FFF, found.view(np.uint16)).astype(_U64)


def _permuted(low: np.ndarray, high: np.ndarray, selector: np.ndarray) -> np.ndarray:
    both = (low & mask(32)) | (high << _U64(32))
    result = np.zeros_like(low)
    for i in range(4):
        digit = (selector >> _U64(4 * i)) & _U64(15)
        assert (digit < 8).all()
        result |= ((both >> (digit * _U64(8))) & _U64(255)) << _U64(8 * i)
    return result


def _converted(name: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    target, source = parts[-2:]
    if target in _F8:
        assert parts[1:3] == ["rn", "satfinite"], name
        type_, largest = _F8[target]
        if source == "f16x2":
            halves = [(values[0] >> _U64(s)).astype(np.uint16).view(np.float16) for s in (16, 0)]
            numbers = [half.astype(np.float32) for half in halves]
        else:
            numbers = [_f32(each) for each in values]
        found: list[np.ndarray] = []
        for number in numbers:
            code = np.clip(number, -largest, largest).astype(type_).view(np.uint8)
            found.append(np.where(np.isnan(number), 0x7F, code).astype(_U64))
        return (found[0] << _U64(8)) | found[1]
    if source in _F8:
        type_ = _F8[source][0]
        halves = [((values[0] >> _U64(s)) & _U64(255)).astype(np.uint8) for s in (0, 8)]
        low, high = (x.view(type_).astype(np.float16).view(np.uint16).astype(_U64) for x in halves)
        low, high = (
            np.where((x & _U64(0x7FFF)) > 0x7C00, 0x7FFF, x).astype(_U64) for x in (low, high)
        )
        return low | (high << _U64(16))
    if target in ("bf16x2", "f16x2") and source == "f32":
        assert parts[1] == "rn", name
        high, low = (_narrowed(each, target) for each in values)
        return (high << _U64(16)) | low
    if target in ("bf16", "f16") and source == "f32":
        assert parts[1] == "rn", name
        return _narrowed(values[0], target)
    if (target, source) == ("f32", "bf16"):
        return (values[0] & mask(16)) << _U64(16)
    if (target, source) == ("f32", "f16"):
        return _bits(values[0].astype(np.uint16).view(np.float16).astype(np.float32))
    assert target[0] in "us" and source[0] in "us", name
    wide = int(source[1:])
    if source[0] == "s":
        return _signed(values[0], wide).astype(_U64) & mask(int(target[1:]))
    return values[0] & mask(wide) & mask(int(target[1:]))


_COMPARE: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_FLOATS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "fma": _fma,
    "max": np.maximum,
    "ex2": np.exp2,
    "rcp": lambda x: np.float32(1) / x,
}
_INTEGER: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mad": lambda a, b, c: a * b + c,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.bitwise_not,
    "shl": lambda x, n: np.where(n < 64, x << np.minimum(n, _U64(63)), _U64(0)),
    "shr": lambda x, n: np.where(n < 64, x >> np.minimum(n, _U64(63)), _U64(0)),
    "max": np.maximum,
    "min": np.minimum,
    "div": np.floor_divide,
    "rem": np.remainder,
}
