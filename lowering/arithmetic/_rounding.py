"""Rounding toward zero and stochastic rounding, as StableHLO ops that every engine runs alike.

A number becomes one that the target holds, or that lies beyond its range as if the exponent went
on; the plain `stablehlo.convert` that follows is then exact, whatever its rounding, and makes of
infinity, NaN and overflow what the target has for them.

In units of the target's last place at |x|, 2^(max(e, emin) - m) for 2^e <= |x| < 2^(e+1), |x| is q;
it becomes floor(q) toward zero, and floor(q + r / 2^B) by B random bits r. All is done on the bits
of f32 or f64 as integers, and the only product is exact and normal: flushing subnormals to zero, as
XLA does, changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.dialects.rounding_modes import RoundingMode
from mlir_fp8.lowering.arithmetic._squares import random_bits
from mlir_fp8.lowering.arithmetic.accumulate_in_f32 import REDUCTIONS
from mlir_fp8.lowering.arithmetic.float_normalization import BODIES, FloatNormalization
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    element_type,
    has_static_shape,
    real_part,
    splat,
    with_element,
)

MARK = "mlir_fp8.rounding"
"""Of a convert whose operand has been rounded: no other rounding applies to it."""


@dataclass(frozen=True)
class Rounding:
    """How a convert rounds.

    Stochastic: with f the part of q after the point and B bits of the generator, the chance of the
    larger neighbour is floor(2^B f) / 2^B. B is 30 - m from f32 (m the target's mantissa bits),
    where that is f itself unless the result is subnormal in the target; 32 from f64. A number that
    the target holds stays. f8E8M0FNU, which has no zero, gives its smallest for all that is below.
    """

    mode: RoundingMode
    saturate: bool
    """Beyond the target's range, infinity included, the largest value of that sign."""
    key: Callable[[], ir.Value] | None = None
    """Emits the generator's key, a tensor<i64>; for stochastic rounding alone."""


def round_convert(op: ir.Operation, fmt: FloatFormat, rounding: Rounding) -> None:
    """Make `op`, a `stablehlo.convert` to `fmt`, round as `rounding` says.

    Its operand may be of any float or integer type; 64-bit integers are rounded once, too.
    """
    FloatNormalization().run(op)
    with ir.InsertionPoint(op), op.location:
        value = real_part(op.operands[0])
        saturate = rounding.saturate
        if rounding.mode is not RoundingMode.NEAREST_EVEN:
            value = _pre_rounded(op, value, fmt, rounding)
            # Without infinity and NaN that is what overflow means, but not to every engine.
            saturate |= fmt.overflow_code == fmt.max_code
        if saturate:
            value = _clamped(value, fmt)
        op.operands[0] = value
        op.attributes[MARK] = ir.StringAttr.get(rounding.mode)


def saturate_convert(op: ir.Operation, fmt: FloatFormat) -> None:
    """Let `op`, a `stablehlo.convert` to `fmt` from f32 or f64, give no overflow."""
    with ir.InsertionPoint(op), op.location:
        op.operands[0] = _clamped(op.operands[0], fmt)


def _clamped(value: ir.Value, fmt: FloatFormat) -> ir.Value:
    """NaN stays; so does the sign of what a format without sign has no code for."""
    scalar = ir.RankedTensorType.get([], ir.ShapedType(value.type).element_type)
    low, high = (_float_splat(scalar, number) for number in (-float(fmt.max), float(fmt.max)))
    return build("clamp", value.type, [low, value, high])


def _pre_rounded(op: ir.Operation, value: ir.Value, fmt: FloatFormat, how: Rounding) -> ir.Value:
    if not has_static_shape(value):
        raise op_error(op, f"rounds {how.mode} on {value.type}: refine shapes first")
    wide = FORMATS.get(str(element_type(value)))
    if wide is None or wide.bits < 32:
        raise op_error(op, f"from {value.type} has no rounding {how.mode}: convert to f32 first")
    if how.key is None:
        return _PreRounding(value, wide, fmt, None).result()
    require_index(op)
    return _PreRounding(value, wide, fmt, random_bits(value.type, how.key())).result()


def require_index(op: ir.Operation) -> None:
    """In a body that is run once per element nothing says which element it is."""
    parent = op.parent
    while parent is not None:
        if parent.name in BODIES | REDUCTIONS:
            reason = (
                f"in the body of {parent.name} has no index to draw random bits by: "
                "convert outside of it, or round to nearest or toward zero"
            )
            raise op_error(op, reason)
        parent = parent.parent


class _PreRounding:
    """The steps for one value of the float type `wide`, with `bits` toward a random neighbour."""

    def __init__(
        self, value: ir.Value, wide: FloatFormat, fmt: FloatFormat, bits: ir.Value | None
    ) -> None:
        self._value, self._wide, self._fmt, self._bits = value, wide, fmt, bits
        self._ints = with_element(value.type, ir.IntegerType.get_signless(wide.bits))
        # The significand is held with its point after bit `_point`, below the sign bit.
        self._point = wide.bits - 2
        self._lowest = wide.bias + _floor_log2(fmt)
        self._shares_f32_range = fmt.exponent_bits == FORMATS["f32"].exponent_bits

    def result(self) -> ir.Value:
        wide = self._wide
        all_bits = build("bitcast_convert", self._ints, [self._value])
        if not self._fmt.has_zero or not self._fmt.has_nan:
            all_bits = self._with_code(all_bits)
        magnitude = self._op("and", all_bits, wide.magnitude_mask)
        exponent, quanta = self._quanta(magnitude)
        sign = self._op("and", all_bits, -wide.sign_mask)
        if self._shares_f32_range:
            rounded = self._by_code(exponent, quanta, sign)
        else:
            rounded = self._by_product(exponent, quanta, sign)
        kept = self._compare("GE", magnitude, wide.infinity_code or 0)
        value = self._value
        if value.type != rounded.type:
            value = build("convert", rounded.type, [value])
        return build("select", rounded.type, [kept, value, rounded])

    def _with_code(self, all_bits: ir.Value) -> ir.Value:
        """Replace what the format has no code for by what has the right one: engines differ here.

        Without zero, zero and negative numbers become NaN; without NaN, it becomes the zero of the
        other sign.
        """
        wide = self._wide
        if not self._fmt.has_zero:
            is_number = self._compare("GT", all_bits, 0)
            other = splat(self._ints, wide.nan_code or 0)
        else:
            magnitude = self._op("and", all_bits, wide.magnitude_mask)
            is_number = self._compare("LE", magnitude, wide.infinity_code or 0)
            flipped = build("not", self._ints, [all_bits])
            other = self._op("and", flipped, -wide.sign_mask)
        all_bits = build("select", self._ints, [is_number, all_bits, other])
        self._value = build("bitcast_convert", self._value.type, [all_bits])
        return all_bits

    def _quanta(self, magnitude: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The biased exponent whose last place counts, and the number of quanta, rounded."""
        wide, fmt = self._wide, self._fmt
        if not fmt.has_zero:
            magnitude = self._op("maximum", magnitude, self._smallest())
        exponent = self._op("shift_right_logical", magnitude, wide.mantissa_bits)
        fraction = self._op("and", magnitude, (1 << wide.mantissa_bits) - 1)
        implicit = self._op("minimum", exponent, 1)
        implicit = self._op("shift_left", implicit, wide.mantissa_bits)
        significand = self._two("or", fraction, implicit)
        if self._lowest == 0:  # f32's subnormals, without implicit bit, are the target's normal
            twice = self._op("shift_left", fraction, 1)
            is_subnormal = self._compare("EQ", exponent, 0)
            significand = build("select", self._ints, [is_subnormal, twice, significand])
        fixed = self._op("shift_left", significand, self._point - wide.mantissa_bits)
        if self._lowest > 0:
            raised = self._op("maximum", exponent, self._lowest)
            if self._lowest > 1:
                places = self._op("minimum", self._two("subtract", raised, exponent), wide.bits - 1)
                fixed = self._two("shift_right_logical", fixed, places)
            exponent = raised
        if self._bits is not None:
            fixed = self._two("add", fixed, self._below_last_place(self._bits))
        return exponent, self._op("shift_right_logical", fixed, self._point - fmt.mantissa_bits)

    def _below_last_place(self, bits: ir.Value) -> ir.Value:
        """The top of 32 random bits, as many as are below the last place; all of them in f64."""
        spare = 32 - (self._point - self._fmt.mantissa_bits)
        if spare <= 0:
            return self._op("shift_left", bits, -spare)
        few = build("shift_right_logical", bits.type, [bits, splat(bits.type, spare)])
        return build("convert", self._ints, [few])

    def _by_product(self, exponent: ir.Value, quanta: ir.Value, sign: ir.Value) -> ir.Value:
        wide, fmt, type_ = self._wide, self._fmt, self._value.type
        power = self._op("subtract", exponent, fmt.mantissa_bits)
        power = self._op("shift_left", power, wide.mantissa_bits)
        quantum = build("bitcast_convert", type_, [power])
        value = build("multiply", type_, [build("convert", type_, [quanta]), quantum])
        if self._bits is None:
            value = build("minimum", type_, [value, _float_splat(type_, float(fmt.max))])
        signed = self._two("or", build("bitcast_convert", self._ints, [value]), sign)
        return build("bitcast_convert", type_, [signed])

    def _by_code(self, exponent: ir.Value, quanta: ir.Value, sign: ir.Value) -> ir.Value:
        """The f32 whose top bits are the target's code, subnormals included."""
        fmt, f32 = self._fmt, FORMATS["f32"]
        steps = self._op("subtract", exponent, self._lowest)
        code = self._two("add", self._op("shift_left", steps, fmt.mantissa_bits), quanta)
        if not fmt.has_zero:
            code = self._op("subtract", code, 1)
        code = self._op("minimum", code, fmt.max_code if self._bits is None else fmt.overflow_code)
        if self._wide is not f32:
            i32 = with_element(self._ints, ir.IntegerType.get_signless(f32.bits))
            sign = self._op("shift_right_logical", sign, self._wide.bits - f32.bits)
            code, sign = (build("convert", i32, [each]) for each in (code, sign))
        places = f32.mantissa_bits - fmt.mantissa_bits
        bits = build("shift_left", code.type, [code, splat(code.type, places)])
        if not fmt.has_zero:
            smallest = splat(code.type, 1 << (f32.mantissa_bits - 1))
            bits = build("maximum", code.type, [bits, smallest])
        bits = build("or", code.type, [bits, sign])
        return build("bitcast_convert", with_element(code.type, ir.F32Type.get()), [bits])

    def _smallest(self) -> int:
        """The bits of the target's smallest value."""
        mantissa_bits = self._wide.mantissa_bits
        return self._lowest << mantissa_bits if self._lowest else 1 << (mantissa_bits - 1)

    def _op(self, name: str, value: ir.Value, number: int) -> ir.Value:
        return self._two(name, value, splat(self._ints, number))

    def _two(self, name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        return build(name, self._ints, [left, right])

    def _compare(self, direction: str, value: ir.Value, number: int) -> ir.Value:
        text = f"#stablehlo<comparison_direction {direction}>"
        attributes = {"comparison_direction": ir.Attribute.parse(text)}
        result = with_element(self._ints, ir.IntegerType.get_signless(1))
        return build("compare", result, [value, splat(self._ints, number)], attributes)


def _floor_log2(fmt: FloatFormat) -> int:
    """The exponent of the smallest normal value."""
    return 1 - fmt.bias if fmt.has_zero else -fmt.bias


def _float_splat(tensor: ir.Type, number: float) -> ir.Value:
    element = ir.FloatAttr.get(ir.RankedTensorType(tensor).element_type, number)
    return build("constant", tensor, [], {"value": ir.DenseElementsAttr.get_splat(tensor, element)})
