"""What StableHLO's integer ops give, in Python's integers; where it leaves that open, XLA's choice.

Division by zero is -1, or all ones where unsigned, and the remainder is then the dividend; the
least integer over -1 is itself. A shift by the width or more, taken as unsigned, shifts every bit
out. Negative powers are 0, but for the bases 1 and -1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype, whole_bytes

ELEMENTS = ("i1", "i2", "i4", "i8", "i16", "i32", "i64",
            "ui2", "ui4", "ui8", "ui16", "ui32", "ui64")  # fmt: skip


@dataclass(frozen=True)
class Integers:
    """The integers of an MLIR type, as an element wraps them."""

    element: str

    @property
    def bits(self) -> int:
        return int(self.element.lstrip("ui"))

    @property
    def is_signed(self) -> bool:
        return self.element.startswith("i") and self.bits > 1

    @property
    def least(self) -> int:
        return -(1 << self.bits - 1) if self.is_signed else 0

    @property
    def largest(self) -> int:
        return self.least + (1 << self.bits) - 1

    def wrap(self, number: int) -> int:
        return (number - self.least) % (1 << self.bits) + self.least

    def values(self) -> list[int]:
        """All of them for at most 4 bits, else the ends, powers of two and what is around them."""
        if self.bits <= 4:
            return list(range(self.least, self.largest + 1))
        powers = [1 << i for i in (0, 1, 2, 3, self.bits // 2, self.bits - 2, self.bits - 1)]
        near = [p + d for p in (0, *powers) for d in (-1, 0, 1)]
        near += [self.bits, -self.bits, 37, -37, 10**18 + 9]
        return sorted({self.wrap(n) for n in near} | {self.least, self.largest})

    def array(self, numbers: list[int]) -> np.ndarray:
        if self.bits == 1:
            return np.array(numbers, np.bool_)
        unsigned = f"u{self.element.lstrip('u')}"
        whole = np.array([n % (1 << self.bits) for n in numbers], element_dtype(unsigned))
        return whole.view(element_dtype(self.element))

    def numbers(self, array: np.ndarray) -> list[int]:
        assert array.dtype == element_dtype(self.element)
        if self.bits < 8 and self.bits > 1:
            assert ml_dtypes.iinfo(array.dtype).max == self.largest
            assert array.view(np.uint8).max(initial=0) >> self.bits == 0
        return [int(n) for n in whole_bytes(array).reshape(-1)]


def divide(kind: Integers, a: int, b: int) -> int:
    if b == 0:
        return kind.wrap(-1)
    quotient = abs(a) // abs(b)
    return kind.wrap(quotient if (a < 0) == (b < 0) else -quotient)


def remainder(kind: Integers, a: int, b: int) -> int:
    return a if b == 0 else kind.wrap(int(math.copysign(1, a)) * (abs(a) % abs(b)))


def power(kind: Integers, a: int, b: int) -> int:
    if b < 0:
        return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    return kind.wrap(pow(a, b, 1 << kind.bits))


def _shift(kind: Integers, b: int) -> int:
    return min(b % (1 << kind.bits), kind.bits)


def _unsigned(kind: Integers, a: int) -> int:
    return a % (1 << kind.bits)


UNARY: dict[str, tuple[str, Callable[[Integers, int], int]]] = {
    "abs": ("s", lambda k, a: k.wrap(abs(a))),
    "count_leading_zeros": ("su", lambda k, a: k.wrap(k.bits - _unsigned(k, a).bit_length())),
    "negate": ("su", lambda k, a: k.wrap(-a)),
    "not": ("bsu", lambda k, a: k.wrap(~a)),
    "popcnt": ("su", lambda k, a: k.wrap(_unsigned(k, a).bit_count())),
    "sign": ("s", lambda k, a: (a > 0) - (a < 0)),
}
BINARY: dict[str, tuple[str, Callable[[Integers, int, int], int]]] = {
    "add": ("bsu", lambda k, a, b: k.wrap(a + b) if k.bits > 1 else a | b),
    "and": ("bsu", lambda k, a, b: k.wrap(a & b)),
    "divide": ("su", divide),
    "maximum": ("bsu", lambda k, a, b: max(a, b)),
    "minimum": ("bsu", lambda k, a, b: min(a, b)),
    "multiply": ("bsu", lambda k, a, b: k.wrap(a * b)),
    "or": ("bsu", lambda k, a, b: k.wrap(a | b)),
    "power": ("su", power),
    "remainder": ("su", remainder),
    "shift_left": ("su", lambda k, a, b: k.wrap(a << _shift(k, b))),
    "shift_right_arithmetic": (
        "su",
        # The bits of an unsigned integer are those of the signed one whose sign it fills in.
        lambda k, a, b: k.wrap(Integers(f"i{k.bits}").wrap(a) >> _shift(k, b)),
    ),
    "shift_right_logical": ("su", lambda k, a, b: k.wrap(_unsigned(k, a) >> _shift(k, b))),
    "subtract": ("su", lambda k, a, b: k.wrap(a - b)),
    "xor": ("bsu", lambda k, a, b: k.wrap(a ^ b)),
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


def kind_letter(kind: Integers) -> str:
    """b for i1, s for signed and u for unsigned integers."""
    return "b" if kind.bits == 1 else "s" if kind.is_signed else "u"
