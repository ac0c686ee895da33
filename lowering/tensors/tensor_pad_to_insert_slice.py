"""`tensor-pad-to-insert-slice`: only the border is filled, and the source is inserted.

Upstream fills the whole result and copies the source over it. Here each element is written once,
and the source can be computed into the result's buffer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from mlir_fp8.base.operations import operations, replace_op, terminator
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import fill


@dataclass(frozen=True)
class TensorPadToInsertSlice(ModulePass):
    """Replace `tensor.pad` by one value, of static shape, by fills and `tensor.insert_slice`."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "tensor.pad"):
            value = _padding(op)
            if value is not None:
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, [_padded(op, value)])


def _padding(op: ir.Operation) -> ir.Value | None:
    """The padding value; None where it varies, or a size is dynamic."""
    shaped = [op.operands[0].type, op.results[0].type]
    if len(op.operands) > 1 or not all(type_.has_static_shape for type_ in shaped):
        return None
    block = op.regions[0].blocks[0]
    value = terminator(block).operands[0]
    if isinstance(value.owner, ir.Block):
        return None if value.owner == block else value
    if value.owner.operation.block != block:
        return value
    if value.owner.operation.name != "arith.constant":
        return None
    value.owner.operation.move_before(op)
    return value


def _padded(op: ir.Operation, value: ir.Value) -> ir.Value:
    source, type_ = op.operands[0], op.results[0].type
    lows = list(ir.DenseI64ArrayAttr(op.attributes["static_low"]))
    inside, whole = list(source.type.shape), list(type_.shape)
    result = tensor.empty(whole, type_.element_type)
    for dim, low in enumerate(lows):
        for offset, size in ((0, low), (low + inside[dim], whole[dim] - low - inside[dim])):
            sizes = [*inside[:dim], size, *whole[dim + 1 :]]
            offsets = [*lows[:dim], offset, *([0] * (len(whole) - dim - 1))]
            if 0 not in sizes:
                result = _filled(result, value, offsets, sizes)
    return result if 0 in inside else _inserted(source, result, lows)


def _filled(
    result: ir.Value, value: ir.Value, offsets: Sequence[int], sizes: Sequence[int]
) -> ir.Value:
    type_ = ir.RankedTensorType.get(sizes, result.type.element_type)
    ones = [1] * len(sizes)
    part = tensor.extract_slice(type_, result, [], [], [], offsets, sizes, ones)
    return _inserted(fill(value, part).results[0], result, offsets)


def _inserted(source: ir.Value, result: ir.Value, offsets: Sequence[int]) -> ir.Value:
    sizes = list(source.type.shape)
    return tensor.insert_slice(source, result, [], [], [], offsets, sizes, [1] * len(sizes))
