"""Ops of the tensor dialect on sizes and shapes, and assertions of cf."""

from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.lowering.frontend.sizes.build import (
    assertion,
    dimension,
    element,
    size,
    tensor_type,
    vector,
)
from mlir_fp8.lowering.frontend.sizes.shapes import constant_index
from mlir_fp8.lowering.rewriting.stablehlo import build

Lowering = Callable[[ir.Operation, list[ir.Value]], ir.Value | None]


def lower(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    """The tensor for the result of `op`, one of `TENSORS`; None where it needs constant indices."""
    return _LOWERINGS[op.name](op, operands)


def _cast(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    type_ = tensor_type(op.results[0].type)
    is_ranked = isinstance(type_, ir.RankedTensorType) and isinstance(
        operands[0].type, ir.RankedTensorType
    )
    return build("convert", type_, operands) if is_ranked else None


def _dimension(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    index = constant_index(op.operands[1])
    type_ = operands[0].type
    if index is None or not isinstance(type_, ir.RankedTensorType):
        return None
    if index not in range(type_.rank):
        return None
    return dimension(operands[0], index)


def _element(op: ir.Operation, operands: list[ir.Value]) -> ir.Value | None:
    type_ = ir.RankedTensorType(operands[0].type)
    indices = [constant_index(operand) for operand in list(op.operands)[1:]]
    if not all(index in range(extent) for index, extent in zip(indices, type_.shape, strict=True)):
        return None
    return element(operands[0], [index for index in indices if index is not None])


def _from_elements(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    type_ = ir.RankedTensorType(tensor_type(op.results[0].type))
    if type_.rank == 0:
        return operands[0]
    flat = vector(operands, type_.element_type)
    return flat if type_.rank == 1 else build("reshape", type_, [flat])


def _assert(op: ir.Operation, operands: list[ir.Value]) -> None:
    assertion(operands[0], ir.StringAttr(op.attributes["msg"]).value)


_LOWERINGS: dict[str, Lowering] = {
    "cf.assert": _assert,
    "tensor.cast": _cast,
    "tensor.dim": _dimension,
    "tensor.extract": _element,
    "tensor.from_elements": _from_elements,
    "tensor.rank": lambda op, operands: size(ir.RankedTensorType(operands[0].type).rank),
}
TENSORS = frozenset(_LOWERINGS)
