"""How the scale of a block follows from the largest magnitude in it, by the names of rules.

"f32" is a scale in f32, `scale_of_amax`; the others are those of block formats, whose scales are
small floats themselves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.fp8.ops.scaling import largest, number, rescale, with_shape
from mlir_fp8.lowering.fp8.weights.code_formats import largest_code
from mlir_fp8.lowering.fp8.weights.scaled import maximum, scale_of_amax, scale_of_limit
from mlir_fp8.lowering.rewriting.collectives import Group, all_reduce
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat, with_element

F32, NVFP4 = "f32", "nvfp4"
MX_ROUNDINGS = ("floor", "ceil", "even")
NVFP4_BLOCK = 16
SCALE_ELEMENTS = {F32: "f32", NVFP4: "f8E4M3FN"}
"""The type of scales by rule; `mx_...` have f8E8M0FNU."""

_MANTISSA = 23
_MOST = 254
_NAN = 255
NVFP4_LARGEST_SCALE, _LEAST_SCALE = 448.0, 2.0**-6
_LEAST_NORMAL = np.float32(2.0**-126)


@dataclass(frozen=True)
class BlockScales:
    """The scales of blocks, and with NVFP4 the f32 number of the tensor, see `Scaled`, beside."""

    scale: ir.Value
    factor: ir.Value | None = None

    def divisor(self) -> ir.Value:
        """What the elements of each block are divided by."""
        if self.factor is None:
            return self.scale
        wide = convert(self.scale, ir.F32Type.get())
        return rescale(wide, self.factor, divide=False)


def mx_rule(rounding: str) -> str:
    return f"mx_{rounding}"


def rules() -> tuple[str, ...]:
    """The names of all rules."""
    return (F32, *map(mx_rule, MX_ROUNDINGS), NVFP4)


def scale_element(rule: str) -> str:
    """The type of the scales of a rule."""
    return SCALE_ELEMENTS.get(rule, "f8E8M0FNU")


def scales_of_amax(
    amax: ir.Value,
    format_: str,
    rule: str,
    factor: np.float32 | None = None,
    group: Group | None = None,
    apart: Sequence[int] = (),
) -> BlockScales:
    """The scales of blocks of `format_` whose largest magnitudes are `amax`, f32 of any shape.

    `factor` is NVFP4's number of the tensor, where it is known; else it is that of the parts that
    all devices of `group` hold, and of each index along the dimensions `apart`.
    """
    if rule == F32:
        return BlockScales(scale_of_amax(amax, format_))
    if rule == NVFP4:
        return _nvfp4(amax, format_, factor, group, apart)
    return BlockScales(_mx(amax, FORMATS[format_], rule.removeprefix("mx_")))


def scales_of_array(
    amax: np.ndarray, format_: str, rule: str, factor: np.float32 | None = None
) -> tuple[np.ndarray, np.float32 | None]:
    """As `scales_of_amax`, of an f32 array of finite numbers."""
    most = np.float32(largest_code(format_))
    if rule == F32:
        return _normal(amax / most), None
    fmt = FORMATS[format_]
    if rule == NVFP4:
        least, limit = np.float32(_LEAST_SCALE), np.float32(NVFP4_LARGEST_SCALE)
        if factor is None:
            factor = np.float32(_normal(amax.max(initial=0) / (limit * most)))
        scale = np.clip(amax / most / factor, least, limit)
        return scale.astype(FORMATS[scale_element(rule)].dtype), factor
    bits = amax.view(np.uint32) + np.uint32(_carried(fmt, rule.removeprefix("mx_")))
    code = (bits >> _MANTISSA).astype(np.int32) - _emax(fmt)
    return np.clip(code, 0, _MOST).astype(np.uint8).view(FORMATS[scale_element(rule)].dtype), None


def _normal(scale: np.ndarray) -> np.ndarray:
    """`scale`, 1 where that is 0 or subnormal."""
    return np.where(scale >= _LEAST_NORMAL, scale, np.float32(1)).astype(np.float32)


def _mx(amax: ir.Value, fmt: FloatFormat, rounding: str) -> ir.Value:
    """2^(exponent of amax, rounded - emax) as f8E8M0FNU: its code is that exponent, plus 127."""
    whole = with_element(amax.type, ir.IntegerType.get_signless(32))
    bits = build("bitcast_convert", whole, [amax])
    if carried := _carried(fmt, rounding):
        bits = build("add", whole, [bits, splat(whole, carried)])
    exponent = build("shift_right_logical", whole, [bits, splat(whole, _MANTISSA)])
    code = build("subtract", whole, [exponent, splat(whole, _emax(fmt))])
    code = build("clamp", whole, [splat(whole, 0), code, splat(whole, _MOST)])
    flags = with_element(amax.type, ir.IntegerType.get_signless(1))
    if rounding == "ceil":
        infinite = _compare(amax, number(amax.type, float("inf")), "EQ", flags)
        code = build("select", whole, [infinite, splat(whole, _MOST), code])
    code = build("select", whole, [_compare(amax, amax, "EQ", flags), code, splat(whole, _NAN)])
    byte = with_element(amax.type, ir.IntegerType.get_unsigned(8))
    narrow = build("convert", byte, [code])
    scale = with_element(amax.type, ir.Type.parse("f8E8M0FNU"))
    return build("bitcast_convert", scale, [narrow])


def _emax(fmt: FloatFormat) -> int:
    """The exponent of the largest number of a format."""
    return math.frexp(float(fmt.max))[1] - 1


def _carried(fmt: FloatFormat, rounding: str) -> int:
    """What is added to the bits of an amax, so that its exponent is the one that is wanted."""
    if rounding == "floor":
        return 0
    if rounding == "even":
        return 1 << (_MANTISSA - fmt.mantissa_bits - 1)
    # A mantissa above that of MAX carries.
    mantissa = float(fmt.max) / 2.0 ** _emax(fmt) - 1
    return (1 << _MANTISSA) - 1 - int(mantissa * 2**_MANTISSA)


def _nvfp4(
    amax: ir.Value,
    format_: str,
    known: np.float32 | None,
    group: Group | None,
    apart: Sequence[int],
) -> BlockScales:
    most = float(FORMATS[format_].max)
    if known is None:
        of_tensor = _largest_along(amax, apart)
        if group is not None:
            of_tensor = all_reduce(of_tensor, group, "maximum")
        factor = scale_of_limit(of_tensor, NVFP4_LARGEST_SCALE * most)
    else:
        factor = number(with_shape(amax, []), float(known))
    scale = build("divide", amax.type, [amax, number(amax.type, most)])
    scale = rescale(scale, factor, divide=True)
    bounds = [number(with_shape(scale, []), each) for each in (_LEAST_SCALE, NVFP4_LARGEST_SCALE)]
    scale = build("clamp", scale.type, [bounds[0], scale, bounds[1]])
    return BlockScales(convert(scale, ir.Type.parse(scale_element(NVFP4))), factor)


def _largest_along(amax: ir.Value, apart: Sequence[int]) -> ir.Value:
    """The largest of `amax`, of rank 0; with `apart` of each index, of the rank of `amax`."""
    shape = list(ir.RankedTensorType(amax.type).shape)
    if not shape:
        return amax
    if not apart:
        return largest(amax, 0.0)
    others = [dim for dim in range(len(shape)) if dim not in apart]
    found = maximum(amax, others, [shape[dim] for dim in sorted(apart)])
    sizes = [size if dim in apart else 1 for dim, size in enumerate(shape)]
    return build("reshape", with_shape(amax, sizes), [found])


def _compare(x: ir.Value, y: ir.Value, direction: str, flags: ir.Type) -> ir.Value:
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", flags, [x, y], {"comparison_direction": attribute})
