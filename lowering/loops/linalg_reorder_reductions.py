"""`linalg-reorder-reductions`: loop interchange, so that reductions read memory in order.

StableHLO's lowering puts the reduced dimensions innermost: a sum of columns would stride from row
to row, a convolution from channel to channel of its kernel. With the contiguous dimension
innermost, accesses have unit stride and LLVM vectorizes over the results, each of which is still
reduced in the same order.
"""

import re
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import indexing_maps


@dataclass(frozen=True)
class LinalgReorderReductions(ModulePass):
    """Move the loop of the result's last dimension inside the reductions of a `linalg.generic`.

    Only where each input has that dimension last or not at all, and the innermost reduction strides
    across the rows of one. Ops with a `linalg.index` stay as they are.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and not len(op.results):
                    order = _better_order(op)
                    if order is not None:
                        _reorder(op, order)


def _better_order(op: ir.Operation) -> list[int] | None:
    reduced = ["reduction" in str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    if not any(reduced) or not reduced[-1]:
        return None
    if any(inner.name == "linalg.index" for inner in operations(op)):
        return None
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    uses = [[_loops(expr) for expr in map_.results] for map_ in indexing_maps(op)]
    last = _contiguous(uses[inputs])
    if last is None or reduced[last] or any(_contiguous(use) != last for use in uses[inputs:]):
        return None
    if any(last in loops for use in uses[:inputs] for loops in use[:-1]):
        return None
    summed = len(reduced) - 1
    if not any(summed in loops for use in uses[:inputs] for loops in use[:-1]):
        return None
    # The reductions keep their order, so that sums keep their bits.
    return [loop for loop in range(len(reduced)) if loop != last] + [last]


def _loops(expr: ir.AffineExpr) -> list[int]:
    return [int(number) for number in re.findall(r"d(\d+)", str(expr))]


def _contiguous(use: list[list[int]]) -> int | None:
    """The loop that alone indexes the last dimension."""
    return use[-1][0] if use and len(use[-1]) == 1 else None


def _reorder(op: ir.Operation, order: list[int]) -> None:
    count = len(order)
    places = [ir.AffineDimExpr.get(order.index(loop)) for loop in range(count)]
    renumbered = ir.AffineMap.get(count, 0, places)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(
        [
            ir.AffineMapAttr.get(
                ir.AffineMap.get(count, 0, [each.compose(renumbered) for each in map_.results])
            )
            for map_ in indexing_maps(op)
        ]
    )
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    op.attributes["iterator_types"] = ir.ArrayAttr.get([iterators[loop] for loop in order])
