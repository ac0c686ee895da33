"""Rounding 64-bit integers to odd in the 53 bits of f64, so that a second rounding is innocuous.

t = (x | ((x & LOW) + LOW)) & ~LOW, for x of at least EXACT in magnitude, is rounding to odd: with
x = 2^11 q + r it is 2^11 (q | (r != 0)). An inexact t is odd in units of 2^11, while the values and
midpoints of every type of at most 51 bits are even there: t is on the side of them that x is on.
"""

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.lowering.codec.float_codec import constant
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import build, splat, with_element

_LOW = (1 << 11) - 1
"""The bits that 64-bit integers have and f64 has not."""

_EXACT = 1 << 53
"""Integers below are exact in f64."""


def in_stablehlo(value: ir.Value, source: ir.IntegerType) -> ir.Value:
    """64-bit integers that are exact in f64 and round to every narrow type as `value` does."""
    signless = with_element(value.type, ir.IntegerType.get_signless(64))
    x = value if source.is_signless else build("bitcast_convert", signless, [value])
    low = splat(signless, _LOW)
    sticky = build("add", signless, [build("and", signless, [x, low]), low])
    kept = splat(signless, ~_LOW)
    odd = build("and", signless, [build("or", signless, [x, sticky]), kept])
    if not source.is_signless:
        odd = build("bitcast_convert", value.type, [odd])
    magnitude = build("abs", value.type, [value]) if source.is_signless else value
    is_large = build(
        "compare",
        with_element(value.type, ir.IntegerType.get_signless(1)),
        [magnitude, splat(value.type, _EXACT)],
        {"comparison_direction": ir.Attribute.parse("#stablehlo<comparison_direction GE>")},
    )
    return build("select", value.type, [is_large, odd, value])


def in_arith(value: ir.Value, *, signed: bool) -> ir.Value:
    """The same of integers of arith, whose ops are `signed` or not."""
    element = element_type(value.type)
    low = constant(value.type, element, _LOW)
    sticky = arith.addi(arith.andi(value, low), low)
    jammed = arith.andi(arith.ori(value, sticky), constant(value.type, element, ~_LOW))
    if signed:
        magnitude = arith.maxsi(value, arith.subi(constant(value.type, element, 0), value))
    else:
        magnitude = value
    exact = arith.cmpi(arith.CmpIPredicate.ult, magnitude, constant(value.type, element, _EXACT))
    return arith.select(exact, value, jammed)
