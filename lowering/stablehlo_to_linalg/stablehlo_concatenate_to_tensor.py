"""`stablehlo-concatenate-to-tensor`: each operand is inserted as a whole.

Upstream selects the operand of each element: such a loop is no copy, and no operand can be computed
into the result's buffer.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import tensor

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class StablehloConcatenateToTensor(ModulePass):
    """Replace `stablehlo.concatenate` of static shapes by `tensor.insert_slice` ops."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name == "stablehlo.concatenate" and _is_static(op):
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, [_joined(op)])


def _is_static(op: ir.Operation) -> bool:
    return all(value.type.has_static_shape for value in (*op.operands, *op.results))


def _joined(op: ir.Operation) -> ir.Value:
    type_ = op.results[0].type
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    result: ir.Value = tensor.empty(type_.shape, type_.element_type)
    offsets = [0] * type_.rank
    for operand in op.operands:
        sizes = list(operand.type.shape)
        if 0 not in sizes:
            strides = [1] * type_.rank
            result = tensor.insert_slice(operand, result, [], [], [], offsets, sizes, strides)
        offsets[dim] += sizes[dim]
    return result
