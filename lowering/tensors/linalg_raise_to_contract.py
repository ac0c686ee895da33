"""`linalg-raise-to-contract`: multiply-and-add reductions become `linalg.contract`.

Elementwise fusion leaves named ops alone; it would recompute the operands of a generic contraction
(a division, a clamp, a cast) once per output column. Each operand and the result is wrapped in an
`scf.execute_region`: reshapes don't propagate through it, which would generalize the op again.
`canonicalize` inlines the regions. Loops are interchanged so that LLVM vectorizes without
reassociating sums: reductions outside the innermost parallel loop.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import clone_op, operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions

_MULTIPLY_ADD = (
    ["arith.mulf", "arith.addf", "linalg.yield"],
    ["arith.muli", "arith.addi", "linalg.yield"],
)


@dataclass(frozen=True)
class LinalgRaiseToContract(ModulePass):
    """Raise multiply-and-add `linalg.generic` and `linalg.matmul` ops to `linalg.contract`.

    Each with its operands in an `scf.execute_region`.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module):
            maps = _contraction_maps(op)
            if maps is not None:
                _raise(op, maps)


def _contraction_maps(op: ir.Operation) -> list[ir.AffineMap] | None:
    """The indexing maps of a contraction of two tensors into a third; None for any other op."""
    if op.name not in ("linalg.generic", "linalg.matmul", "linalg.batch_matmul"):
        return None
    if len(op.operands) != 3 or len(op.results) != 1:
        return None
    if not all(isinstance(operand.type, ir.RankedTensorType) for operand in op.operands):
        return None
    if op.results[0].type.element_type == ir.IntegerType.get_signless(1):
        return None  # a named op's sum of i1 is `or`
    attributes = ir.ArrayAttr(op.attributes["indexing_maps"])
    maps = [ir.AffineMapAttr(attribute).value for attribute in attributes]
    if not all(map_.is_projected_permutation for map_ in maps) or not _contracts(maps):
        return None
    (block,) = op.regions[0]
    body = [inner.operation for inner in block.operations]
    if [inner.name for inner in body] not in _MULTIPLY_ADD:
        return None
    left, right, accumulator = block.arguments
    product, total, yielded = body
    factors, terms = list(product.operands), list(total.operands)
    is_contraction = (
        factors in ([left, right], [right, left])
        and terms in ([accumulator, product.results[0]], [product.results[0], accumulator])
        and yielded.operands[0] == total.results[0]
    )
    return maps if is_contraction else None


def _contracts(maps: list[ir.AffineMap]) -> bool:
    """Whether each dimension is of an operand and the result, or of both operands; some are."""
    left, right, result = (set(dimensions(map_)) for map_ in maps)
    summed = set(range(maps[2].n_dims)) - result
    return bool(summed) and summed <= left & right and result <= left | right


def _raise(op: ir.Operation, maps: list[ir.AffineMap]) -> None:
    parallel = dimensions(maps[2])
    reduction = [d for d in range(maps[2].n_dims) if d not in parallel]
    order = parallel[:-1] + reduction + parallel[-1:]
    with ir.InsertionPoint(op), op.location:
        region = ir.Operation.create("scf.execute_region", [op.results[0].type], regions=1)
    inside = region.regions[0].blocks.append()
    with ir.InsertionPoint(inside), op.location:
        reordered = ir.ArrayAttr.get(
            [ir.AffineMapAttr.get(_renumber(map_, order)) for map_ in maps]
        )
        contract = ir.Operation.create(
            "linalg.contract",
            [op.results[0].type],
            [*map(_apart, list(op.operands)[:2]), op.operands[2]],
            {
                "indexing_maps": reordered,
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1]),
            },
            regions=1,
        )
        types = [operand.type.element_type for operand in op.operands]
        block = ir.Block.create_at_start(contract.regions[0], types, [op.location] * 3)
        mapping: dict[ir.Value, ir.Value] = {}
        mapping.update(zip(op.regions[0].blocks[0].arguments, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for inner in op.regions[0].blocks[0].operations:
                clone_op(inner.operation, mapping)
        ir.Operation.create("scf.yield", operands=[contract.results[0]])
    replace_op(op, region.results)


def _apart(value: ir.Value) -> ir.Value:
    """`value` wrapped in an `scf.execute_region`."""
    region = ir.Operation.create("scf.execute_region", [value.type], regions=1)
    with ir.InsertionPoint(region.regions[0].blocks.append()):
        ir.Operation.create("scf.yield", operands=[value])
    return region.results[0]


def _renumber(map_: ir.AffineMap, order: list[int]) -> ir.AffineMap:
    dims = [ir.AffineDimExpr.get(order.index(d)) for d in dimensions(map_)]
    return ir.AffineMap.get(map_.n_dims, 0, dims)
