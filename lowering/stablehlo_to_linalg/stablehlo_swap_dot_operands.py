"""`stablehlo-swap-dot-operands`: no product of a matrix per batch and a vector looks like two.

Upstream's conversion takes batching dimensions [0]x[0] and contracting ones [2]x[1] with a result
of rank 3 for `linalg.batch_matmul`, and makes an op that does not verify where the left operand has
both of the result's free dimensions.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass


@dataclass(frozen=True)
class StablehloSwapDotOperands(ModulePass):
    """Swap the operands of such a `stablehlo.dot_general`: the result stays as it is."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name == "stablehlo.dot_general" and _is_mistaken(op):
                _swap(op)


def _is_mistaken(op: ir.Operation) -> bool:
    ranks = [operand.type.rank for operand in op.operands]
    return ranks == [4, 2] and _BATCH_MATMUL in str(op.attributes["dot_dimension_numbers"])


def _swap(op: ir.Operation) -> None:
    op.operands[0], op.operands[1] = op.operands[1], op.operands[0]
    op.attributes["dot_dimension_numbers"] = ir.Attribute.parse(_SWAPPED, op.context)
    if "precision_config" in op.attributes:
        precisions = ir.ArrayAttr(op.attributes["precision_config"])
        op.attributes["precision_config"] = ir.ArrayAttr.get(list(precisions)[::-1], op.context)


_BATCHED = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0]"
_CONTRACTED = "lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}]"
_BATCH_MATMUL = f"{_BATCHED}, {_CONTRACTED.format(2, 1)}"
_SWAPPED = f"#stablehlo.dot<{_BATCHED}, {_CONTRACTED.format(1, 2)}>"
