"""f64 and f32 numbers, their bits and truth values as Python values whose operators emit arith ops.

Scalars and vectors alike, at the current insertion point. Every op is branch-free, exists in vector
form on every target of LLVM, and is rounded once on its own. Multiply-adds are fused where
`times_plus` does so and nowhere else, so the results are the same bits on every machine; one
without FMA (x86-64 before 2013) calls a function.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from mlir_fp8.lowering.codec.float_codec import constant, with_element
from mlir_fp8.lowering.rewriting.retype import element_type

_ROUNDERS = {64: 1.5 * 2.0**52, 32: 1.5 * 2.0**23}
"""By width: added to a smaller number, leaves the nearest integer in the low bits, ties to even."""

_LONG = 8
"""Up to this many coefficients, two dependence chains cost more in constants than they save."""


@dataclass(frozen=True)
class Truth:
    """An i1."""

    value: ir.Value

    def __and__(self, other: "Truth") -> "Truth":
        return Truth(arith.andi(self.value, other.value))

    def __or__(self, other: "Truth") -> "Truth":
        return Truth(arith.ori(self.value, other.value))

    def choose(self, yes: "Real | float", no: "Real | float") -> "Real":
        """`yes` where true, `no` elsewhere; one of them is a `Real`."""
        shaped = yes if isinstance(yes, Real) else no
        assert isinstance(shaped, Real)
        return Real(arith.select(self.value, shaped.like(yes).value, shaped.like(no).value))


@dataclass(frozen=True)
class Bits:
    """An i64 or i32, without sign but where a method says otherwise."""

    value: ir.Value

    def like(self, other: "Bits | int") -> "Bits":
        if isinstance(other, Bits):
            return other
        return Bits(constant(self.value.type, element_type(self.value.type), other))

    def __add__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.addi(self.value, self.like(other).value))

    def __sub__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.subi(self.value, self.like(other).value))

    def __mul__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.muli(self.value, self.like(other).value))

    def __and__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.andi(self.value, self.like(other).value))

    def __or__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.ori(self.value, self.like(other).value))

    def __xor__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.xori(self.value, self.like(other).value))

    def __lshift__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.shli(self.value, self.like(other).value))

    def __rshift__(self, other: "Bits | int") -> "Bits":
        return Bits(arith.shrui(self.value, self.like(other).value))

    def at_least(self, other: int) -> "Bits":
        return Bits(arith.maxui(self.value, self.like(other).value))

    def is_(self, other: int) -> Truth:
        return Truth(arith.cmpi(arith.CmpIPredicate.eq, self.value, self.like(other).value))

    def as_real(self) -> "Real":
        """The f64 or f32 of these bits."""
        is_wide = ir.IntegerType(element_type(self.value.type)).width == 64
        element = ir.F64Type.get() if is_wide else ir.F32Type.get()
        return Real(arith.bitcast(with_element(self.value.type, element), self.value))

    def signed_to_real(self) -> "Real":
        """The signed integer, rounded to f64."""
        return Real(arith.sitofp(with_element(self.value.type, ir.F64Type.get()), self.value))


@dataclass(frozen=True)
class Real:
    """An f64 or f32; two that meet are of one type. Comparisons are false on NaN."""

    value: ir.Value

    def wide(self) -> "Real":
        """As f64, of which every f32 is one."""
        f64 = with_element(self.value.type, ir.F64Type.get())
        return self if f64 == self.value.type else Real(arith.extf(f64, self.value))

    def narrow(self) -> "Real":
        """Rounded to f32."""
        f32 = with_element(self.value.type, ir.F32Type.get())
        return self if f32 == self.value.type else Real(arith.truncf(f32, self.value))

    def like(self, other: "Real | float") -> "Real":
        if isinstance(other, Real):
            return other
        return Real(constant(self.value.type, element_type(self.value.type), other))

    def __add__(self, other: "Real | float") -> "Real":
        return Real(arith.addf(self.value, self.like(other).value))

    def __sub__(self, other: "Real | float") -> "Real":
        return Real(arith.subf(self.value, self.like(other).value))

    def __rsub__(self, other: float) -> "Real":
        return self.like(other) - self

    def __mul__(self, other: "Real | float") -> "Real":
        return Real(arith.mulf(self.value, self.like(other).value))

    def __truediv__(self, other: "Real | float") -> "Real":
        return Real(arith.divf(self.value, self.like(other).value))

    def __rtruediv__(self, other: float) -> "Real":
        return self.like(other) / self

    def __neg__(self) -> "Real":
        return Real(arith.negf(self.value))

    def __abs__(self) -> "Real":
        return Real(math.absf(self.value))

    def __lt__(self, other: "Real | float") -> Truth:
        return self._compare(arith.CmpFPredicate.OLT, other)

    def __gt__(self, other: "Real | float") -> Truth:
        return self._compare(arith.CmpFPredicate.OGT, other)

    def equals(self, other: "Real | float") -> Truth:
        return self._compare(arith.CmpFPredicate.OEQ, other)

    def differs(self, other: "Real | float") -> Truth:
        """Also where one is NaN."""
        return self._compare(arith.CmpFPredicate.UNE, other)

    def unordered(self, other: "Real | float") -> Truth:
        return self._compare(arith.CmpFPredicate.UNO, other)

    def _compare(self, predicate: arith.CmpFPredicate, other: "Real | float") -> Truth:
        return Truth(arith.cmpf(predicate, self.value, self.like(other).value))

    def clamp(self, low: float, high: float) -> "Real":
        """Between two constants; NaN stays."""
        above = (self < low).choose(low, self)
        return (above > high).choose(high, above)

    def sqrt(self) -> "Real":
        return Real(math.sqrt(self.value))

    def with_sign_of(self, other: "Real") -> "Real":
        return Real(math.copysign(self.value, other.value))

    def bits(self) -> Bits:
        integer = ir.IntegerType.get_signless(ir.FloatType(element_type(self.value.type)).width)
        return Bits(arith.bitcast(with_element(self.value.type, integer), self.value))

    def rounded(self, factor: float = 1.0) -> tuple["Real", Bits]:
        """The integer nearest to `self * factor`, ties to even, and bits that end in it.

        For products below 2**51, of f32 below 2**22.
        """
        is_one = factor == 1.0
        rounder = _ROUNDERS[ir.FloatType(element_type(self.value.type)).width]
        shifted = self + rounder if is_one else self.times_plus(self.like(factor), rounder)
        return shifted - rounder, shifted.bits()

    def times_plus(self, factor: "Real", addend: "Real | float") -> "Real":
        """`self * factor + addend`, rounded once."""
        return Real(math.fma(self.value, factor.value, self.like(addend).value))

    def polynomial(self, coefficients: Sequence[float]) -> "Real":
        """The polynomial of `coefficients`, the constant one first.

        As two independent chains of half the degree in the square: even and odd powers where it is
        long, else, with one multiply-add less, pairs of adjacent terms.
        """
        square = self * self
        if len(coefficients) > _LONG:
            odd = square._horner([self.like(each) for each in coefficients[1::2]])
            return odd.times_plus(self, square._horner([*map(self.like, coefficients[0::2])]))
        return square._horner(
            [
                self.like(odd[0]).times_plus(self, even) if odd else self.like(even)
                for even, *odd in (coefficients[i : i + 2] for i in range(0, len(coefficients), 2))
            ]
        )

    def _horner(self, coefficients: Sequence["Real"]) -> "Real":
        *lower, total = coefficients
        for coefficient in reversed(lower):
            total = total.times_plus(self, coefficient)
        return total
