"""`stablehlo-fold-transposes`: a transpose of a transpose is one, or none; that of a dot is a dot.

PyTorch's gradient of a linear layer's weight is a product that it transposes there and back.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import build


@dataclass(frozen=True)
class StablehloFoldTransposes(ModulePass):
    """Fold `stablehlo.transpose` into its operand, where that is one or a dot of no other use."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, "stablehlo.transpose"):
            with ir.InsertionPoint(op), op.location:
                folded = _folded(op)
            if folded is None:
                continue
            inner = producer(op.operands[0])
            replace_op(op, [folded])
            if inner is not None and not any(list(each.uses) for each in inner.results):
                inner.erase()


def _folded(op: ir.Operation) -> ir.Value | None:
    """What gives the result of `op` without it."""
    order, operand = _order(op), op.operands[0]
    inner = producer(operand)
    if inner is not None and inner.name == "stablehlo.transpose":
        order, operand = [_order(inner)[each] for each in order], inner.operands[0]
    type_ = op.results[0].type
    if order == sorted(order) and operand.type == type_:
        return operand
    if operand != op.operands[0]:
        permutation = {"permutation": ir.DenseI64ArrayAttr.get(order)}
        return build("transpose", type_, [operand], permutation)
    if inner is None or inner.name != "stablehlo.dot_general" or len(list(operand.uses)) != 1:
        return None
    return _transposed_dot(inner, order, type_)


def _order(transpose: ir.Operation) -> list[int]:
    return list(ir.DenseI64ArrayAttr(transpose.attributes["permutation"]))


def _transposed_dot(dot: ir.Operation, order: list[int], type_: ir.Type) -> ir.Value | None:
    """`dot` with its operands swapped, if that is how its result is transposed."""
    dims = _stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
    left, right = dot.operands
    batches = len(dims.lhs_batching_dimensions)
    free = left.type.rank - batches - len(dims.lhs_contracting_dimensions)
    rank = len(order)
    if order != [*range(batches), *range(batches + free, rank), *range(batches, batches + free)]:
        return None
    attributes = dict(dot.attributes.items())
    attributes["dot_dimension_numbers"] = _stablehlo.DotDimensionNumbers.get(
        dims.rhs_batching_dimensions,
        dims.lhs_batching_dimensions,
        dims.rhs_contracting_dimensions,
        dims.lhs_contracting_dimensions,
    )
    if "precision_config" in attributes:
        precisions = ir.ArrayAttr(attributes["precision_config"])
        attributes["precision_config"] = ir.ArrayAttr.get(list(precisions)[::-1])
    with dot.location:
        return build("dot_general", type_, [right, left], attributes)
