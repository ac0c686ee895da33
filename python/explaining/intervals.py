"""Interval analysis: bounds of values."""

import math
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.operations import producer
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.explaining.numbers import numbers
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_ALL, _FIRST = slice(None), slice(0, 1)
# Ops whose results hold elements of some of their operands alone.
_JOINED = {
    f"stablehlo.{name}": operands
    for names, operands in (
        ("broadcast broadcast_in_dim reshape reverse slice transpose optimization_barrier", _FIRST),
        ("dynamic_slice gather dynamic_reshape dynamic_broadcast_in_dim", _FIRST),
        ("concatenate pad", _ALL),
        ("select", slice(1, 3)),
        ("dynamic_update_slice", slice(0, 2)),
    )
    for name in names.split()
}
_WITHIN_ONE = names("stablehlo", "tanh logistic sine cosine sign")
_CONTROL = names("stablehlo", "while if case")
_SPREADS = names("stablehlo", "broadcast_in_dim reshape")
_LONGEST_PATH = 64


@dataclass(frozen=True)
class Interval:
    """The numbers from `low` to `high`; a value in it may also be NaN."""

    low: float = -math.inf
    high: float = math.inf

    def minimum(self, other: "Interval") -> "Interval":
        return Interval(min(self.low, other.low), min(self.high, other.high))

    def maximum(self, other: "Interval") -> "Interval":
        return Interval(max(self.low, other.low), max(self.high, other.high))

    def abs(self) -> "Interval":
        ends = abs(self.low), abs(self.high)
        return Interval(0.0 if self.low <= 0 <= self.high else min(ends), max(ends))

    def add(self, other: "Interval") -> "Interval":
        return _spanning([self.low + other.low, self.high + other.high])

    def negate(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def multiply(self, other: "Interval") -> "Interval":
        ends = (self.low, self.high), (other.low, other.high)
        return _spanning([a * b for a, b in product(*ends)])

    def reciprocal(self) -> "Interval":
        """Nothing is known of what may be divided by zero."""
        return (
            Interval() if self.low <= 0 <= self.high else _spanning([1 / self.low, 1 / self.high])
        )

    def join(self, other: "Interval") -> "Interval":
        return Interval(min(self.low, other.low), max(self.high, other.high))


def _spanning(ends: list[float]) -> Interval:
    """The interval from the least to the largest; all numbers where one is NaN."""
    return Interval() if any(map(math.isnan, ends)) else Interval(min(ends), max(ends))


_SHARE = Interval(0.0, 1 + 2.0**-7)
"""Of a sum, which may have been rounded to bf16."""


class Intervals:
    """Bounds of values, from the clamps, type ranges and constants that they depend on."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Interval] = {}

    def of(self, value: ir.Value, depth: int = 0) -> Interval:
        """The interval of `value`, looked for over a path of at most 64 ops."""
        found = self._known.get(value)
        if found is not None:
            return found
        limits, op = _of_type(value), producer(value)
        if op is None or depth > _LONGEST_PATH:
            return limits
        known = self._of_result(op, value, depth + 1)
        result = Interval(max(known.low, limits.low), min(known.high, limits.high))
        self._known[value] = result
        return result

    def _of_result(self, op: ir.Operation, value: ir.Value, depth: int) -> Interval:
        if op.name in _CONTROL:
            return self._join(_branches(op, ir.OpResult(value).result_number), depth)
        return self._of_op(op, depth)

    def _of_op(self, op: ir.Operation, depth: int) -> Interval:
        constant = numbers(op)
        if constant is not None:
            finite = constant[~np.isnan(constant)]
            return Interval(float(finite.min()), float(finite.max())) if finite.size else Interval()
        if op.name in _WITHIN_ONE:
            return Interval(-1.0, 1.0)
        operands = list(op.operands)
        if op.name in _JOINED:
            return self._join(operands[_JOINED[op.name]], depth)
        of = [self.of(each, depth) for each in operands[:3]]
        match op.name.removeprefix("stablehlo."):
            case "convert" | "reduce_precision":
                is_float = isinstance(element_type(op.results[0]), ir.FloatType)
                return _rounded(of[0], op) if is_float else of[0]
            case "clamp":
                return of[0].maximum(of[1]).minimum(of[2])
            case "minimum":
                return of[0].minimum(of[1])
            case "maximum":
                return of[0].maximum(of[1])
            case "abs":
                return of[0].abs()
            case "negate":
                return of[0].negate()
            case "exponential":
                return Interval(0.0)
            case "add":
                return _rounded(of[0].add(of[1]), op)
            case "subtract":
                return _rounded(of[0].add(of[1].negate()), op)
            case "multiply":
                return _rounded(of[0].multiply(of[1]), op)
            case "divide":
                if of[0].low >= 0 and _is_sum_over(operands[1], operands[0]):
                    return _SHARE
                return _rounded(of[0].multiply(of[1].reciprocal()), op)
            case _:
                return Interval()

    def _join(self, values: list[ir.Value], depth: int) -> Interval:
        return reduce(Interval.join, (self.of(each, depth) for each in values))


def _branches(op: ir.Operation, index: int) -> list[ir.Value]:
    """What result `index` of a loop or branch may be: that of each body, and what enters a loop."""
    bodies = list(op.regions)[1:] if op.name == "stablehlo.while" else list(op.regions)
    yielded = [body.blocks[0].operations[-1].operands[index] for body in bodies]
    return [*yielded, op.operands[index]] if op.name == "stablehlo.while" else yielded


def _is_sum_over(value: ir.Value, terms: ir.Value) -> bool:
    """Whether `value`, spread or converted, is a sum over `terms`: a share of it is 1 at most."""
    op = producer(_unspread(value))
    if op is None or op.name != "stablehlo.reduce" or len(op.results) != 1:
        return False
    body = [each.operation.name for each in op.regions[0].blocks[0].operations]
    is_sum = body[:1] == ["stablehlo.add"] and len(body) == 2 and splat_number(op.operands[1]) == 0
    return is_sum and _unspread(op.operands[0]) == _unspread(terms)


def _unspread(value: ir.Value) -> ir.Value:
    op = producer(value)
    while op is not None and (op.name in _SPREADS or op.name == "stablehlo.convert"):
        value = op.operands[0]
        op = producer(value)
    return value


def _rounded(found: Interval, op: ir.Operation) -> Interval:
    """In the type of the result: rounding is monotone."""
    dtype = element_dtype(str(element_type(op.results[0])))
    if not isinstance(element_type(op.results[0]), ir.FloatType):
        return Interval()
    with np.errstate(over="ignore"):
        ends = np.array([found.low, found.high]).astype(dtype).astype(np.float64)
    return Interval(float(ends[0]), float(ends[1]))


def _of_type(value: ir.Value) -> Interval:
    element = element_type(value)
    fmt = FORMATS.get(str(element))
    if fmt is not None:
        limit = float(fmt.max)
        # An infinity of a small float is what the user asked for where it was made.
        return Interval(-limit if fmt.signed else 0.0, limit) if fmt.is_small else Interval()
    if isinstance(element, ir.IntegerType):
        bits = element.width
        if element.is_unsigned or bits == 1:
            return Interval(0.0, 2.0**bits - 1)
        return Interval(-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)
    return Interval()
