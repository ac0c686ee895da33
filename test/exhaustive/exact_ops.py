"""What every elementwise op gives on the numbers of a small float: exact, and independent of ours.

Each reference works on f64 and rounds to odd where that is inexact (see `exact_functions`), so that
rounding its result to a format is rounding the exact one.
"""

from collections.abc import Callable

import numpy as np
from exact_functions import FUNCTIONS, unary
from exact_pairs import PAIRS

Reference = Callable[..., np.ndarray]
"""f64 arrays, one per operand, to the array of exact results, rounded to odd."""


def _toward(rounded: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """f64 results rounded to odd, from those rounded to nearest and the sign of what is left."""
    even = (rounded.view(np.int64) & 1) == 0
    moved = np.nextafter(rounded, np.where(rest > 0, np.inf, -np.inf))
    return np.where((rest != 0) & np.isfinite(rounded) & even, moved, rounded)


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """With the exact error of the sum (Knuth's TwoSum)."""
    total = x + y
    part = total - x
    return _toward(total, np.nan_to_num((x - (total - part)) + (y - part), posinf=0, neginf=0))


def divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """With the sign of the remainder, by halves of the quotient: these times y are exact."""
    quotient = x / y
    high = (quotient.view(np.int64) & ~((1 << 27) - 1)).view(np.float64)
    rest = (x - high * y) - (quotient - high) * y
    return _toward(quotient, np.nan_to_num(rest * np.sign(y), posinf=0, neginf=0))


def maximum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """IEEE 754-2019: NaN of a NaN, and 0 above -0."""
    return np.where((x == 0) & (y == 0), x + y, np.maximum(x, y))


def minimum(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -maximum(-x, -y)


def clamp(low: np.ndarray, x: np.ndarray, high: np.ndarray) -> np.ndarray:
    return minimum(maximum(x, low), high)


def reduce_precision(exponent_bits: int, mantissa_bits: int) -> Reference:
    """As StableHLO has it: the mantissa rounds, ties to even, and then an exponent out of range
    gives infinity or zero; there are no subnormals."""
    bias = (1 << (exponent_bits - 1)) - 1

    def reduced(x: np.ndarray) -> np.ndarray:
        significand, exponent = np.frexp(x)
        rounded = np.ldexp(np.rint(np.ldexp(significand, mantissa_bits + 1)), -mantissa_bits - 1)
        value = np.ldexp(rounded, exponent)
        place = np.frexp(value)[1] - 1
        value = np.where((place > bias) & np.isfinite(value), np.copysign(np.inf, x), value)
        return np.where((place < 1 - bias) & (value != 0), np.copysign(0.0, x), value)

    return reduced


def _elementwise(name: str) -> Reference:
    def applied(x: np.ndarray) -> np.ndarray:
        signs = np.copysign(1.0, x)
        return np.array(
            [unary(name, *pair) for pair in zip(x.tolist(), signs.tolist(), strict=True)]
        )

    return applied


def _pairwise(name: str) -> Reference:
    def applied(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.array([PAIRS[name](*pair) for pair in zip(x.tolist(), y.tolist(), strict=True)])

    return applied


UNARY: dict[str, Reference] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "floor": np.floor,
    "imag": np.zeros_like,
    "negate": np.negative,
    "real": np.positive,
    "round_nearest_afz": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "round_nearest_even": np.rint,
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "conj": np.positive,
    "square": np.square,
    **{name: _elementwise(name) for name in FUNCTIONS},
}
BINARY: dict[str, Reference] = {
    "add": add,
    "divide": divide,
    "maximum": maximum,
    "minimum": minimum,
    "multiply": np.multiply,  # exact: two significands of at most 5 bits
    "remainder": np.fmod,
    "subtract": lambda x, y: add(x, -y),
    **{name: _pairwise(name) for name in PAIRS},
}
PREDICATES: dict[str, Reference] = {
    "is_finite": np.isfinite,
    "is_inf": np.isinf,
    "is_neg_inf": np.isneginf,
    "is_pos_inf": np.isposinf,
}
DIRECTIONS: dict[str, Reference] = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
