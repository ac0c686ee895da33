"""What torch-mlir leaves to be computed of constants: splats cast and spread, sizes of iotas.

As splats of their own they are part of what reads them; else each is a tensor that is computed.
"""

import math
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.operations import operations

_CONSTANTS = ("stablehlo.constant", "arith.constant")
_SPREADING = ("stablehlo.reshape", "stablehlo.broadcast_in_dim")
_EXACT = 2**53
"""Integers up to it are f64 numbers."""


def fold_constants(module: ir.Module) -> None:
    """Casts of splats to f32 and f64, and splats of other shapes, as constants; static iotas."""
    for op in operations(module.operation):
        if op.name == "stablehlo.dynamic_iota":
            _fold_iota(op)
        elif op.name == "stablehlo.convert":
            _fold(op, _cast(op))
        elif op.name in _SPREADING:
            _fold(op, _splat(op.operands[0]))


def _fold(op: ir.Operation, element: ir.Attribute | None) -> None:
    target = op.results[0].type
    if element is None or not target.has_static_shape:
        return
    with op.location, ir.InsertionPoint(op):
        splat = ir.DenseElementsAttr.get_splat(target, element)
        constant = ir.Operation.create("stablehlo.constant", [target], [], {"value": splat})
    op.results[0].replace_all_uses_with(constant.results[0])


def _cast(op: ir.Operation) -> ir.Attribute | None:
    """What f32, f64 and integers are in f32 or f64, where an f64 holds them."""
    target = op.results[0].type.element_type
    splat: Any = _splat(op.operands[0])
    if splat is None or not isinstance(target, ir.F32Type | ir.F64Type):
        return None
    source = str(splat.type)
    if source not in ("f32", "f64", "i32", "i64") or math.isnan(splat.value):
        return None
    if source.startswith("i") and abs(splat.value) > _EXACT:
        return None
    return ir.FloatAttr.get(target, float(splat.value), op.location)


def _splat(operand: ir.Value) -> ir.Attribute | None:
    """The element that a constant consists of."""
    if isinstance(operand.owner, ir.Block):
        return None
    if isinstance(operand.type.element_type, ir.ComplexType):  # which the bindings do not read
        return None
    owner = operand.owner.operation
    dense = owner.attributes["value"] if owner.name in _CONSTANTS else None
    if not isinstance(dense, ir.DenseElementsAttr) or not dense.is_splat:
        return None
    return dense.get_splat_value()


def _fold_iota(op: ir.Operation) -> None:
    type_ = op.results[0].type
    if not type_.has_static_shape:
        return
    with op.location, ir.InsertionPoint(op):
        dimension = {"iota_dimension": op.attributes["iota_dimension"]}
        made = ir.Operation.create("stablehlo.iota", [type_], [], dimension)
    op.results[0].replace_all_uses_with(made.results[0])
