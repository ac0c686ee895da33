"""Scales of MX that a program decodes from their codes by itself, as converts of f8E8M0FNU.

torchao has `2 ** (code - 127)` in f32, NaN for 255: the same number for every code.
"""

import math

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type, has_static_shape, names

_SCALE = "f8E8M0FNU"
_BIAS, _NAN = 127, 255
_SAME = names("stablehlo", "broadcast_in_dim reshape")


def convert_decoded_scales(module: ir.Operation) -> None:
    """Replace selects that decode f8E8M0FNU to f32 by converts, which give the same numbers."""
    for op in operations(module, "stablehlo.select"):
        value = op.results[0]
        if not has_static_shape(value) or str(element_type(value)) != "f32":
            continue
        scale = _powers(op)
        if scale is not None and shape(scale) == shape(value):
            with ir.InsertionPoint(op), op.location:
                replace_op(op, [convert(scale, ir.F32Type.get())])


def _powers(select: ir.Operation) -> ir.Value | None:
    """`select(code != 255, 2 ** (code - 127), NaN)`."""
    flag, number, other = select.operands
    code = _compared(flag, "NE", _NAN)
    power = _made(number, "stablehlo.power")
    nan = splat_number(other)
    if code is None or power is None or nan is None or not math.isnan(nan):
        return None
    if splat_number(power.operands[0]) != 2:
        return None
    exponent = _made(power.operands[1], "stablehlo.convert")
    less = None if exponent is None else _made(exponent.operands[0], "stablehlo.subtract")
    if less is None or _integer(less.operands[1]) != _BIAS:
        return None
    own = _widened(less.operands[0])
    return _source(code) if own is not None and _plain(own) == _plain(code) else None


def _compared(flag: ir.Value, direction: str, number: int) -> ir.Value | None:
    op = _made(flag, "stablehlo.compare")
    if op is None or f" {direction}>" not in str(op.attributes["comparison_direction"]):
        return None
    return op.operands[0] if _integer(op.operands[1]) == number else None


def _integer(value: ir.Value) -> int | None:
    """The one integer that all elements of a constant are."""
    op = _made(value, "stablehlo.constant")
    held = None if op is None else op.attributes["value"]
    if not isinstance(held, ir.DenseIntElementsAttr) or not held.is_splat:
        return None
    return ir.IntegerAttr(held.get_splat_value()).value


def _made(value: ir.Value, name: str) -> ir.Operation | None:
    op = producer(_plain(value))
    return op if op is not None and op.name == name else None


def _plain(value: ir.Value) -> ir.Value:
    """`value` without reshapes and broadcasts that change nothing."""
    op = producer(value)
    while op is not None and op.name in _SAME and shape(op.operands[0]) == shape(value):
        value = op.operands[0]
        op = producer(value)
    return value


def _widened(value: ir.Value) -> ir.Value | None:
    """The bytes that `value` has as wider integers, in which 127 less is no wrap."""
    op = _made(value, "stablehlo.convert")
    if op is None or str(element_type(op.operands[0])) != "ui8":
        return None
    wide = element_type(op.results[0])
    is_wide = isinstance(wide, ir.IntegerType) and wide.width > 8 and not wide.is_unsigned
    return op.operands[0] if is_wide else None


def _source(code: ir.Value) -> ir.Value | None:
    """The scale whose bits `code`, of bytes, are."""
    op = _made(code, "stablehlo.bitcast_convert")
    if op is None or str(element_type(op.operands[0])) != _SCALE:
        return None
    return op.operands[0]
