"""Scales that are powers of two: any number rounded up to one, and which values are ones.

Any two of them multiply exactly in f32 and in bf16, and so does a sum of products of f8: the
smallest such sum is 2^-25 (f8E4M3FN by f8E5M2), times 2^-100 a normal number of bf16.
"""

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.lowering.rewriting.stablehlo import build, names, splat, with_element

LEAST, LARGEST = 2.0**-50, 2.0**63
POWERS_OF_TWO = "mlir_fp8.powers_of_two"
"""The numbers of results of a call that are powers of two, as its attribute."""
_MANTISSA, _EXPONENT = 0x007FFFFF, -0x00800000
_LEAST_BITS, _LARGEST_BITS = ((exponent + 127) << 23 for exponent in (-50, 63))
_MOVES = names(
    "stablehlo", "broadcast_in_dim broadcast optimization_barrier reshape reverse slice transpose"
)


def power_of_two(scale: ir.Value) -> ir.Value:
    """The least power of two from 2^-50 to 2^63 that is not below `scale`, f32 of any shape.

    2^63 of what is above, 2^-50 of zeros and negative numbers; NaN stays NaN. As TransformerEngine,
    whose scale, 1 over this, loses its mantissa (`compute_scale_from_amax`), within these bounds.
    """
    type_ = scale.type
    whole = with_element(type_, ir.IntegerType.get_signless(32))
    bits = build("bitcast_convert", whole, [scale])
    bits = build("add", whole, [bits, splat(whole, _MANTISSA)])
    bits = build("and", whole, [bits, splat(whole, _EXPONENT)])
    bits = build("clamp", whole, [splat(whole, _LEAST_BITS), bits, splat(whole, _LARGEST_BITS)])
    rounded = build("bitcast_convert", type_, [bits])
    flags = with_element(type_, ir.IntegerType.get_signless(1))
    direction = ir.Attribute.parse("#stablehlo<comparison_direction EQ>")
    is_number = build("compare", flags, [scale, scale], {"comparison_direction": direction})
    return build("select", type_, [is_number, rounded, scale])


def to_power_of_two(scale: np.ndarray) -> np.ndarray:
    """As `power_of_two`, of an f32 array of numbers that are above 0."""
    mantissa, exponent = np.frexp(scale.astype(np.float64))
    up = np.where(mantissa == 0.5, exponent - 1, exponent)
    return np.ldexp(1.0, np.clip(up, -50, 63)).astype(np.float32)


def is_power_of_two(value: ir.Value) -> bool:
    """Whether all elements are known to be powers of two from 2^-50 to 2^63, or NaN."""
    op = producer(value)
    while op is not None and op.name in _MOVES:
        value = op.operands[ir.OpResult(value).result_number if len(op.results) > 1 else 0]
        op = producer(value)
    if op is None:
        return False
    if op.name == "fp8.update_scale":
        return value == op.results[0] and is_set(op, "power_of_two")
    if op.name == "stablehlo.constant":
        return _holds_powers(op)
    if POWERS_OF_TWO in op.attributes:
        return ir.OpResult(value).result_number in ir.DenseI64ArrayAttr(
            op.attributes[POWERS_OF_TWO]
        )
    return op.name == "stablehlo.select" and _is_rounded(op)


def _holds_powers(constant: ir.Operation) -> bool:
    held = constant.attributes["value"]
    if not isinstance(held, ir.DenseFPElementsAttr):
        return False
    array = np.array([held[at] for at in range(1 if held.is_splat else len(held))], np.float64)
    return bool(np.all((np.frexp(array)[0] == 0.5) & (array >= LEAST) & (array <= LARGEST)))


def _is_rounded(select: ir.Operation) -> bool:
    """Whether `select` ends what `power_of_two` builds."""
    flag, rounded, scale = select.operands
    test, cast = producer(flag), producer(rounded)
    if test is None or test.name != "stablehlo.compare" or list(test.operands) != [scale, scale]:
        return False
    if "EQ" not in str(test.attributes["comparison_direction"]):
        return False
    clamp = producer(cast.operands[0]) if cast and cast.name.endswith("bitcast_convert") else None
    if clamp is None or clamp.name != "stablehlo.clamp":
        return False
    low, bits, high = clamp.operands
    mask = producer(bits)
    if mask is None or mask.name != "stablehlo.and":
        return False
    wanted = (_LEAST_BITS, _LARGEST_BITS, _EXPONENT)
    return tuple(map(_integer, (low, high, mask.operands[1]))) == wanted


def _integer(value: ir.Value) -> int | None:
    op = producer(value)
    if op is None or op.name != "stablehlo.constant":
        return None
    held = op.attributes["value"]
    if not isinstance(held, ir.DenseIntElementsAttr) or not held.is_splat:
        return None
    return ir.IntegerAttr(held.get_splat_value()).value
