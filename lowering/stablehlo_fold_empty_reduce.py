"""`stablehlo-fold-empty-reduce`: a reduction over no elements is its initial value everywhere.

Upstream's conversion to linalg leaves such reductions.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations
from mlir_fp8.lowering._stablehlo import build, convert, has_static_shape


@dataclass(frozen=True)
class StablehloFoldEmptyReduce(ModulePass):
    """Replace each `stablehlo.reduce` of no elements by its broadcast initial values."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            if op.name == "stablehlo.reduce" and _is_empty(op.operands[0]):
                _fold(op)


def _is_empty(value: ir.Value) -> bool:
    return has_static_shape(value) and math.prod(value.type.shape) == 0


def _fold(op: ir.Operation) -> None:
    initial_values = list(op.operands)[len(op.results) :]
    with ir.InsertionPoint(op), op.location:
        nowhere = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        for result, initial in zip(op.results, initial_values, strict=True):
            element = ir.RankedTensorType(result.type).element_type
            everywhere = build(
                "broadcast_in_dim", result.type, [convert(initial, element)], nowhere
            )
            result.replace_all_uses_with(everywhere)
    op.erase()
