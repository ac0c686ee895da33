"""`stablehlo-fold-empty`: what has no elements is a constant, what reduces it its initial value.

Upstream's conversion to linalg leaves such reductions, and makes slices that do not verify.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.stablehlo import (
    build,
    convert,
    empty_constant,
    has_static_shape,
    names,
)

# Ops that do more than give their results, or are folded already.
_KEPT = names(
    "stablehlo",
    """after_all all_reduce async_start case collective_permute constant custom_call if infeed
    outfeed recv return send while""",
)

# Ops that make of no elements what their last operands say.
_FILLED = names("stablehlo", "pad reduce")


@dataclass(frozen=True)
class StablehloFoldEmpty(ModulePass):
    """Fold StableHLO ops whose results, or whose reduced or padded operands, have no elements."""

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, inner_first=True):
            if not op.name.startswith("stablehlo.") or op.name in _KEPT or not len(op.results):
                continue
            if all(map(is_empty, op.results)):
                replace_op(op, [empty_constant(op, result.type) for result in op.results])
            elif op.name in _FILLED and is_empty(op.operands[0]):
                _fold_to_initial_values(op)


def is_empty(value: ir.Value) -> bool:
    return has_static_shape(value) and math.prod(value.type.shape) == 0


def _fold_to_initial_values(op: ir.Operation) -> None:
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
