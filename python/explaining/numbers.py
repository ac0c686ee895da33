"""Constants as numbers, and the intervals that values are known to lie in."""

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering._retype import codes_of_constants
from mlir_fp8.lowering._stablehlo import element_type, names
from mlir_fp8.lowering.scaled_dot.values import producer

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


def numbers(op: ir.Operation) -> np.ndarray | None:
    """The values of a constant of floats or integers, in f64 and flat; None for what is none.

    A constant that repeats one number gives that number.
    """
    if op.name != "stablehlo.constant":
        return None
    element = str(element_type(op.results[0]))
    attribute = _attribute(op, "value")
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    if attribute.is_splat:
        one = attribute.get_splat_value()
        if isinstance(one, ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr):
            return np.array([one.value], np.float64)
        return None
    fmt = FORMATS.get(element)
    if fmt is None or fmt.native:
        return np.array(attribute).astype(np.float64).reshape(-1)
    with op.context:
        (codes,) = codes_of_constants([attribute], lambda _: fmt.storage_bits)
    unsigned = np.array(codes).astype(f"uint{fmt.storage_bits}")
    return unsigned.view(fmt.dtype).astype(np.float64).reshape(-1)


def _attribute(op: ir.Operation, name: str) -> ir.Attribute | None:
    try:
        return op.attributes[name]
    except TypeError:  # dense complex numbers, for which the bindings have no class
        return None


class Intervals:
    """What values are known to lie in, from clamps, ranges of types and constants before them."""

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
        known = self._of_op(op, depth + 1)
        result = Interval(max(known.low, limits.low), min(known.high, limits.high))
        self._known[value] = result
        return result

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
                return of[0]
            case "clamp":
                return of[0].maximum(of[1]).minimum(of[2])
            case "minimum":
                return of[0].minimum(of[1])
            case "maximum":
                return of[0].maximum(of[1])
            case "abs":
                return of[0].abs()
            case "negate":
                return Interval(-of[0].high, -of[0].low)
            case _:
                return Interval()

    def _join(self, values: list[ir.Value], depth: int) -> Interval:
        found = [self.of(each, depth) for each in values]
        return Interval(min(each.low for each in found), max(each.high for each in found))


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
