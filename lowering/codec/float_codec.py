"""Codes of narrow floats to and from f32 and f64, as branch-free integer ops of the arith dialect.

Every function takes and gives scalars, vectors or tensors alike and emits ops at the current
insertion point. No op depends on the sign of a zero or on flush-to-zero, and there are no lookup
tables.
"""

import functools
from dataclasses import dataclass
from fractions import Fraction

from torch_mlir import ir
from torch_mlir.dialects import arith

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat

_UGT, _ULT = arith.CmpIPredicate.ugt, arith.CmpIPredicate.ult
_EQ, _SGT = arith.CmpIPredicate.eq, arith.CmpIPredicate.sgt


def with_element(shaped: ir.Type, element: ir.Type) -> ir.Type:
    """`element` with the shape of `shaped`: `element` itself for a scalar."""
    if isinstance(shaped, ir.VectorType):
        return ir.VectorType.get(shaped.shape, element, scalable=shaped.scalable_dims or None)
    if isinstance(shaped, ir.RankedTensorType):
        return ir.RankedTensorType.get(shaped.shape, element, shaped.encoding)
    return element


def constant(shaped: ir.Type, element: ir.Type, value: int | float) -> ir.Value:
    """`value` of type `element` as a splat in the shape of `shaped`."""
    if isinstance(element, ir.IntegerType):
        half = 1 << (element.width - 1)
        signed = (int(value) + half) % (2 * half) - half  # the bindings take signed values
        attribute: ir.Attribute = ir.IntegerAttr.get(element, signed)
    else:
        attribute = ir.FloatAttr.get(element, value)
    kind = with_element(shaped, element)
    if kind != element:
        attribute = ir.DenseElementsAttr.get_splat(kind, attribute)
    return arith.constant(kind, attribute)


@dataclass(frozen=True)
class _Wide:
    """The format of the computation, f32 or f64, in the shape of the value."""

    format: FloatFormat
    shaped: ir.Type

    @property
    def float_type(self) -> ir.Type:
        return ir.Type.parse(self.format.name)

    @property
    def int_type(self) -> ir.Type:
        return ir.IntegerType.get_signless(self.format.bits)

    def int(self, value: int | None) -> ir.Value:
        assert value is not None, "asked for a code that the format lacks"
        return constant(self.shaped, self.int_type, value)

    def bits_of(self, value: ir.Value) -> ir.Value:
        return arith.bitcast(with_element(self.shaped, self.int_type), value)

    def float_of(self, bits: ir.Value) -> ir.Value:
        return arith.bitcast(with_element(self.shaped, self.float_type), bits)


def decode(fmt: FloatFormat, code: ir.Value) -> ir.Value:
    """f32 from codes held in integers of `fmt.storage_bits`; exact for every narrow format."""
    wide = _Wide(FORMATS["f32"], code.type)
    bits = arith.extui(with_element(code.type, wide.int_type), code)
    shift = wide.format.mantissa_bits - fmt.mantissa_bits
    if fmt.signed and fmt.exponent_bits == wide.format.exponent_bits:
        return wide.float_of(arith.shli(bits, wide.int(shift)))  # bf16: the top half
    magnitude = arith.andi(bits, wide.int(fmt.magnitude_mask)) if fmt.signed else bits
    rebias = (wide.format.bias - fmt.bias) << wide.format.mantissa_bits
    result = arith.shli(magnitude, wide.int(shift))
    if rebias:
        result = _with_subnormals(wide, fmt, arith.addi(result, wide.int(rebias)))
    elif not fmt.has_zero:
        half = 1 << (wide.format.mantissa_bits - 1)  # 2**-127 is an f32 subnormal
        smallest = arith.cmpi(_EQ, magnitude, wide.int(0))
        result = arith.select(smallest, wide.int(half), result)
    result = _decode_specials(wide, fmt, bits, magnitude, result)
    if fmt.signed:
        sign = arith.andi(bits, wide.int(fmt.sign_mask))
        sign = arith.shli(sign, wide.int(wide.format.bits - fmt.bits))
        result = arith.ori(result, sign)
    return wide.float_of(result)


def decode_to_bf16(fmt: FloatFormat, code: ir.Value) -> ir.Value:
    """The codes of bf16, which holds every number of a small float; one NaN for all, with its sign.

    They are the upper halves of f32's, whose lower halves are zero.
    """
    wide = _Wide(FORMATS["f32"], code.type)
    bits = wide.bits_of(decode(fmt, code))
    if fmt.has_infinity:  # then NaNs have payloads
        infinity, nan = wide.int(wide.format.infinity_code), wide.int(wide.format.nan_code)
        magnitude = arith.andi(bits, wide.int((1 << 31) - 1))
        one_nan = arith.ori(bits, nan)
        # Clears the NaN payload below the quiet bit.
        one_nan = arith.andi(one_nan, wide.int((1 << 31) | (wide.format.nan_code or 0)))
        bits = arith.select(arith.cmpi(_UGT, magnitude, infinity), one_nan, bits)
    upper = arith.shrui(bits, wide.int(16))
    return arith.trunci(with_element(code.type, ir.IntegerType.get_signless(16)), upper)


def _with_subnormals(wide: _Wide, fmt: FloatFormat, bits: ir.Value) -> ir.Value:
    """`bits`, right for normal numbers, for those below the smallest normal one too.

    Subnormals were given an implicit 1: s / 2 * (1 + f) for s * f, with s the smallest normal. 2 x
    - s takes it away: exact, and normal in f32.
    """
    at_least = arith.maxui(bits, wide.int(bits_in(wide.format, fmt.smallest_normal)))
    number = wide.float_of(bits)
    lacking = arith.subf(number, wide.float_of(at_least))
    return wide.bits_of(arith.addf(number, lacking))


def _decode_specials(
    wide: _Wide, fmt: FloatFormat, bits: ir.Value, magnitude: ir.Value, result: ir.Value
) -> ir.Value:
    infinity, nan = FORMATS["f32"].infinity_code, FORMATS["f32"].nan_code
    if fmt.nan_code is not None and fmt.nan_code == fmt.sign_mask:
        return arith.select(arith.cmpi(_EQ, bits, wide.int(fmt.nan_code)), wide.int(nan), result)
    if fmt.has_infinity and fmt.exponent_bits < wide.format.exponent_bits:
        # The all-ones exponent moves to f32's, mantissa (zero, or a NaN's payload) kept.
        special = arith.ori(result, wide.int(infinity))
        return arith.select(arith.cmpi(_UGT, magnitude, wide.int(fmt.max_code)), special, result)
    if fmt.nan_code is not None and not fmt.has_infinity:
        above = arith.cmpi(_UGT, magnitude, wide.int(fmt.max_code))
        return arith.select(above, wide.int(nan), result)
    return result


def encode(fmt: FloatFormat, value: ir.Value, *, saturate: bool) -> ir.Value:
    """Codes, in integers of `fmt.storage_bits`, nearest to f32 or f64 values, ties to even.

    Beyond the range: infinity, else NaN, else the largest value; the largest with `saturate`.
    """
    element = value.type.element_type if isinstance(value.type, ir.ShapedType) else value.type
    wide = _Wide(FORMATS[str(element)], value.type)
    bits = wide.bits_of(value)
    top = 1 << (wide.format.bits - 1)
    magnitude = arith.andi(bits, wide.int(top - 1))
    limit = fmt.max_code if saturate else fmt.overflow_code
    if fmt.exponent_bits == wide.format.exponent_bits:
        code = _rounded_same_range(wide, fmt, magnitude)
        beyond = arith.cmpi(_SGT, magnitude, wide.int(_last_in_range(wide.format, fmt)))
        code = arith.select(beyond, wide.int(limit), code)
    else:
        # The code of overflow is the largest one, or the next.
        clamped = arith.minui(magnitude, wide.int(bits_in(wide.format, fmt.magnitude(limit))))
        code = _rounded(wide, fmt, clamped)
    sign = arith.andi(bits, wide.int(top))
    sign = arith.shrui(sign, wide.int(wide.format.bits - fmt.bits))
    is_nan = None
    if limit != fmt.nan_code:  # else NaN, beyond every number, was clamped to NaN
        is_nan = arith.cmpi(_SGT, magnitude, wide.int(wide.format.infinity_code))
    code = _with_sign(wide, fmt, code, sign, is_nan, bits, magnitude)
    return arith.trunci(
        with_element(value.type, ir.IntegerType.get_signless(fmt.storage_bits)), code
    )


def _with_sign(
    wide: _Wide,
    fmt: FloatFormat,
    code: ir.Value,
    sign: ir.Value,
    is_nan: ir.Value | None,
    bits: ir.Value,
    magnitude: ir.Value,
) -> ir.Value:
    if not fmt.signed:
        # Negative numbers have no code either, nor zero where the format lacks it.
        positive = arith.cmpi(_SGT, bits, wide.int(0))
        if fmt.has_zero:
            positive = arith.ori(positive, arith.cmpi(_EQ, magnitude, wide.int(0)))
        ordered = arith.cmpi(_SGT, wide.int(wide.format.overflow_code + 1), magnitude)
        return arith.select(arith.andi(positive, ordered), code, wide.int(fmt.nan_code))
    if fmt.nan_code == fmt.sign_mask:
        # No negative zero: its code is the NaN, which has no sign.
        is_zero = arith.cmpi(_EQ, code, wide.int(0))
        code = arith.ori(code, arith.select(is_zero, wide.int(0), sign))
        return code if is_nan is None else arith.select(is_nan, wide.int(fmt.nan_code), code)
    if is_nan is None:
        return arith.ori(code, sign)
    if fmt.nan_code is None:
        # NaN to a format without one: the zero of the other sign, as ml_dtypes and XLA give.
        flipped = arith.xori(sign, wide.int(fmt.sign_mask))
        return arith.select(is_nan, flipped, arith.ori(code, sign))
    return arith.ori(arith.select(is_nan, wide.int(fmt.nan_code), code), sign)


def _rounded(wide: _Wide, fmt: FloatFormat, magnitude: ir.Value) -> ir.Value:
    """The code of an in-range magnitude, rounded by one float subtraction.

    The magnitude is subtracted from a power of two whose ulp is the code's, with `bias` ulps more:
    so the difference rounds to nearest even at the code's last place. Below the smallest normal,
    that ulp stays the smallest subnormal. The low bits of the difference hold `bias` minus the
    significand; the exponent above them, shifted to the code's place, is `bias` too large. The code
    is the one minus the other, in the bits below the exponent.
    """
    shift = wide.format.mantissa_bits - fmt.mantissa_bits
    smallest = bits_in(wide.format, fmt.smallest_normal)
    bias = (smallest >> shift) + (shift << fmt.mantissa_bits)
    assert bias % 2 == 0, "ties would go to odd"
    exponent = arith.andi(magnitude, wide.int(wide.format.infinity_code))
    exponent = arith.maxui(exponent, wide.int(smallest))
    power = arith.addi(exponent, wide.int((shift << wide.format.mantissa_bits) + bias))
    difference = arith.subf(wide.float_of(power), wide.float_of(magnitude))
    bits = wide.bits_of(difference)
    code = arith.subi(arith.shrui(bits, wide.int(shift)), bits)
    if fmt.has_zero:
        return arith.andi(code, wide.int((1 << fmt.storage_bits) - 1))
    # Codes start at the smallest normal, whose significand is 1; what rounds below it is it.
    code = arith.andi(code, wide.int((1 << wide.format.mantissa_bits) - 1))
    return arith.maxsi(arith.subi(code, wide.int(1)), wide.int(0))


def _rounded_same_range(wide: _Wide, fmt: FloatFormat, magnitude: ir.Value) -> ir.Value:
    """The code where both formats have the same exponents: the top bits after adding half an
    ulp."""
    shift = wide.format.mantissa_bits - fmt.mantissa_bits
    if fmt.has_zero:
        lowest = arith.andi(arith.shrui(magnitude, wide.int(shift)), wide.int(1))
        half = arith.addi(lowest, wide.int((1 << (shift - 1)) - 1))
    else:
        # The only significand is 1, odd: of two neighbours the upper is the even one. Between the
        # two lowest values lies the wide format's own subnormal range, half as wide.
        subnormal = arith.cmpi(_ULT, magnitude, wide.int(1 << shift))
        half = arith.select(subnormal, wide.int(1 << (shift - 2)), wide.int(1 << (shift - 1)))
    return arith.shrui(arith.addi(magnitude, half), wide.int(shift))


@functools.cache
def _last_in_range(wide: FloatFormat, fmt: FloatFormat) -> int:
    """The bits of the largest wide value that rounds to a finite code: half an ulp above the
    largest, the tie included where it rounds to even."""
    exponent = bits_in(wide, fmt.max) >> wide.mantissa_bits
    half_place = Fraction(2) ** (exponent - wide.bias - fmt.mantissa_bits - 1)
    is_even = fmt.mantissa_bits > 0 and fmt.max_code % 2 == 0
    return bits_in(wide, fmt.max + half_place) - (0 if is_even else 1)


@functools.cache
def bits_in(wide: FloatFormat, value: Fraction) -> int:
    """The bits of a value that is normal in `wide`, or beyond it as if its exponent range went
    on."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    significand = value / Fraction(2) ** exponent * (1 << wide.mantissa_bits)
    return ((exponent + wide.bias - 1) << wide.mantissa_bits) + int(significand)
