"""`linalg-reorder-reductions`: reductions across rows go along them, row by row.

The reduced dimensions come last as StableHLO is lowered: a sum of columns would step from row to
row for each column anew. With the contiguous dimension innermost memory is read in order, and LLVM
vectorizes over the results, each of which is still reduced in the same order.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering._retype import operations


@dataclass(frozen=True)
class LinalgReorderReductions(ModulePass):
    """Give `linalg.generic` reductions of one buffer the order of its dimensions.

    Only where its last dimension is not reduced and the reduced ones stay in order.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and not len(op.results):
                    order = _better_order(op)
                    if order is not None:
                        _reorder(op, order)


def _better_order(op: ir.Operation) -> list[int] | None:
    iterators = ["reduction" in str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    reduced = [loop for loop, is_reduced in enumerate(iterators) if is_reduced]
    if not reduced or not iterators[-1] or any(i.name == "linalg.index" for i in operations(op)):
        return None
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if not all(map_.is_projected_permutation for map_ in maps):
        return None
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    orders = [[ir.AffineDimExpr(each).position for each in map_.results] for map_ in maps[:inputs]]
    whole = [order for order in orders if len(order) == len(iterators)]
    if not whole or any(order != whole[0] for order in whole):
        return None
    order = whole[0]
    is_kept = [loop for loop in order if iterators[loop]] == reduced
    return order if is_kept and not iterators[order[-1]] else None


def _reorder(op: ir.Operation, order: list[int]) -> None:
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(
        [ir.AffineMapAttr.get(_renumbered(map_, order)) for map_ in maps]
    )
    iterators = ir.ArrayAttr(op.attributes["iterator_types"])
    op.attributes["iterator_types"] = ir.ArrayAttr.get([iterators[loop] for loop in order])


def _renumbered(map_: ir.AffineMap, order: list[int]) -> ir.AffineMap:
    places = [order.index(ir.AffineDimExpr(each).position) for each in map_.results]
    dims = [ir.AffineDimExpr.get(place) for place in places]
    return ir.AffineMap.get(map_.n_dims, 0, dims)
