"""What instructions of PTX on registers give, as bits in u64: the semantics of `ptx_machine`."""

from collections.abc import Callable

import numpy as np
from ptx_arithmetic import COMPARE, FLOATS, INTEGER, converted, float_op, mask, signed
from ptx_text import PtxError

_U64 = np.uint64


def computed(name: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    """What an instruction on registers gives, as bits."""
    base, kind = parts[0], parts[-1]
    if base == "cvt":
        return converted(parts, values)
    if base == "selp":
        return np.where(values[2] != 0, values[0], values[1])
    if base == "prmt":
        return _permuted(*values)
    if base == "lop3":
        return _looked_up(values)
    if base == "setp" and len(values) == 3:  # and another predicate
        compared = computed("setp", ["setp", parts[1], kind], values[:2])
        return INTEGER[parts[2]](compared, values[2]) & _U64(1)
    if kind in FLOATS:
        return float_op(base, parts, values)
    if kind in ("u16x2", "s16x2"):
        halves = [[(x >> _U64(s)) & mask(16) for x in values] for s in (0, 16)]
        low, high = (_integer(base, parts, kind[0], 16, each) for each in halves)
        return low | (high << _U64(16))
    if kind == "pred":
        return INTEGER[base](*values) & _U64(1)
    return _integer(base, parts, kind[0], int(kind[1:]), values)


def _integer(
    base: str, parts: list[str], sign: str, width: int, values: list[np.ndarray]
) -> np.ndarray:
    if base in ("shl", "shr", "bfe", "bfi", "shf", "szext"):
        return _shifted(base, parts, sign, width, values)
    if base in ("mul", "mad") and parts[1] in ("wide", "hi"):
        return _wide(parts, sign, width, values)
    operands = [signed(x, width) if sign == "s" else x & mask(width) for x in values]
    if base == "setp":
        return COMPARE[parts[1]](*operands).astype(_U64)
    if base in ("div", "rem") and (operands[1] == 0).any():
        operands[1] = np.where(operands[1] == 0, 1, operands[1])  # nowhere said
    if sign == "s" and base in ("div", "rem"):
        quotient = np.abs(operands[0]) // np.abs(operands[1])
        quotient = np.where((operands[0] < 0) != (operands[1] < 0), -quotient, quotient)
        found = quotient if base == "div" else operands[0] - quotient * operands[1]
        return found.astype(_U64) & mask(width)
    if base in ("popc", "clz", "brev", "bfind"):
        return np.array([_COUNTS[base](int(x), width) for x in operands[0]], _U64)
    if base not in INTEGER or "sat" in parts or "cc" in parts:
        raise PtxError(f"{'.'.join(parts)} is not known")
    return INTEGER[base](*operands).astype(_U64) & mask(width)


def _wide(parts: list[str], sign: str, width: int, values: list[np.ndarray]) -> np.ndarray:
    """The whole product, to which `mad` adds, or its upper half."""
    factors = [signed(x, width) if sign == "s" else x & mask(width) for x in values[:2]]
    if parts[1] == "wide":
        product = (factors[0] * factors[1]).astype(_U64)
        bits = 2 * width
    else:
        pairs = zip(*factors, strict=True)
        product = np.array([(int(a) * int(b) >> width) % (1 << width) for a, b in pairs], _U64)
        bits = width
    return (product + values[2] if parts[0] == "mad" else product) & mask(bits)


def _shifted(
    base: str, parts: list[str], sign: str, width: int, values: list[np.ndarray]
) -> np.ndarray:
    """Shifts clamp their amounts at the width; fields are of `bfe` and `bfi`."""
    if base == "shf":
        whole = ((values[1] & mask(32)) << _U64(32)) | (values[0] & mask(32))
        wraps = parts[2] == "wrap"
        by = values[2] & mask(5) if wraps else np.minimum(values[2] & mask(32), _U64(32))
        found = whole >> by if parts[1] == "r" else (whole << by) >> _U64(32)
        if parts[1] == "l":
            found = np.where(by == 32, values[0], found)
        return found & mask(32)
    if base == "bfe":
        start, length = (x & mask(8) for x in values[1:3])
        field = np.where(start < width, (values[0] & mask(width)) >> np.minimum(start, _U64(63)), 0)
        field = field.astype(_U64) & ((_U64(1) << np.minimum(length, _U64(63))) - _U64(1))
        if sign == "s":
            top = np.where(length > 0, (field >> (np.maximum(length, _U64(1)) - _U64(1))) & 1, 0)
            field = np.where(top != 0, field | ~((_U64(1) << length) - _U64(1)), field)
        return field & mask(width)
    if base == "bfi":
        start, length = (x & mask(8) for x in values[2:4])
        field = ((_U64(1) << np.minimum(length, _U64(63))) - _U64(1)) << np.minimum(start, _U64(63))
        moved = values[0] << np.minimum(start, _U64(63))
        return ((values[1] & ~field) | (moved & field)) & mask(width)
    by = np.minimum(values[1] & mask(32), _U64(width))
    small = np.minimum(by, _U64(63))
    if base == "shl":
        return np.where(by < width, (values[0] & mask(width)) << small, _U64(0)) & mask(width)
    if sign == "s":
        return (signed(values[0], width) >> small.astype(np.int64)).astype(_U64) & mask(width)
    return np.where(by < width, (values[0] & mask(width)) >> small, _U64(0))


def _looked_up(values: list[np.ndarray]) -> np.ndarray:
    a, b, c = (x & mask(32) for x in values[:3])
    result = np.zeros_like(a)
    for i in range(8):
        terms = [x if i >> s & 1 else ~x for x, s in ((a, 2), (b, 1), (c, 0))]
        if int(values[3][0]) >> i & 1:
            result |= terms[0] & terms[1] & terms[2]
    return result & mask(32)


def _permuted(low: np.ndarray, high: np.ndarray, selector: np.ndarray) -> np.ndarray:
    both = (low & mask(32)) | (high << _U64(32))
    result = np.zeros_like(low)
    for i in range(4):
        digit = (selector >> _U64(4 * i)) & _U64(15)
        byte = (both >> ((digit & _U64(7)) * _U64(8))) & _U64(255)
        sign = np.where(byte >> _U64(7) != 0, _U64(255), _U64(0))
        result |= np.where(digit < 8, byte, sign) << _U64(8 * i)
    return result


_COUNTS: dict[str, Callable[[int, int], int]] = {
    "popc": lambda x, width: x.bit_count(),
    "clz": lambda x, width: width - x.bit_length(),
    "brev": lambda x, width: int(f"{x:0{width}b}"[::-1], 2),
    "bfind": lambda x, width: x.bit_length() - 1 & 0xFFFFFFFF,
}
