"""`linalg-transpose-to-vector`: transposes in vector registers, tile by tile.

Upstream's loops use one number of each cache line, and the line is evicted before the next.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.loops._transposed_tiles import TransposedTiles
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions, indexing_maps


@dataclass(frozen=True)
class LinalgTransposeToVector(ModulePass):
    """Replace `linalg.generic` ops on buffers that only transpose, so that rows become columns.

    Static layouts and elements of 8 to 64 bits. The remainder of sizes that are no multiple of a
    vector stays a `linalg.generic`.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and _is_vectorized(op):
                    op.erase()


def _is_vectorized(op: ir.Operation) -> bool:
    """Whether `op` is such a transpose, of one tile at least; it is loops of these then."""
    maps = indexing_maps(op)
    block = op.regions[0].blocks[0]
    first = next(iter(block.operations)).operation
    if first.name != "linalg.yield" or list(first.operands) != [block.arguments[0]]:
        return False
    if len(maps) != 2 or len(op.results) or not all(map_.is_permutation for map_ in maps):
        return False
    if not len(maps[0].results):
        return False
    source, target = op.operands
    read = dimensions(maps[0])
    loops = [read.index(loop) for loop in dimensions(maps[1])]
    whole = TransposedTiles.of(source, target, loops)
    if whole is None:
        return False
    tiled = (len(loops) - 1, whole.columns)
    inside, outside = list(whole.target.type.shape), []
    with ir.InsertionPoint(op), op.location:
        for dimension in tiled:
            size = inside[dimension]
            inside[dimension] = size // whole.lanes * whole.lanes
            offsets, rest = [0] * len(loops), list(inside)
            offsets[dimension], rest[dimension] = inside[dimension], size - inside[dimension]
            outside.append((offsets, rest))
        if 0 in inside:
            return False
        for offsets, rest in outside:
            if 0 not in rest:
                _emit_copy(*_parts(whole, offsets, rest), loops)
        source, target = _parts(whole, [0] * len(loops), inside)
        TransposedTiles(source, target, whole.loops).emit()
    return True


def _parts(
    whole: TransposedTiles, offsets: list[int], sizes: list[int]
) -> tuple[ir.Value, ir.Value]:
    """What is read and written of it, by its place and its sizes in the result."""
    if sizes == list(whole.target.type.shape):
        return whole.source, whole.target
    order = [whole.loops.index(dimension) for dimension in range(len(sizes))]
    return (
        _subview(whole.source, [offsets[d] for d in order], [sizes[d] for d in order]),
        _subview(whole.target, offsets, sizes),
    )


def _subview(buffer: ir.Value, offsets: list[int], sizes: list[int]) -> ir.Value:
    strides, start = buffer.type.get_strides_and_offset()
    start += sum(offset * stride for offset, stride in zip(offsets, strides, strict=True))
    type_ = ir.MemRefType.get(
        sizes, buffer.type.element_type, ir.StridedLayoutAttr.get(start, strides),
        buffer.type.memory_space,
    )  # fmt: skip
    return ir.Operation.create(
        "memref.subview",
        [type_],
        [buffer],
        {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
            "static_offsets": ir.DenseI64ArrayAttr.get(offsets),
            "static_sizes": ir.DenseI64ArrayAttr.get(sizes),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * len(sizes)),
        },
    ).results[0]


def _emit_copy(source: ir.Value, target: ir.Value, loops: list[int]) -> None:
    """A remainder of rows or columns, as scalars."""
    rank = len(loops)
    read = [ir.AffineDimExpr.get(loops.index(dimension)) for dimension in range(rank)]
    maps = [ir.AffineMap.get(rank, 0, read), ir.AffineMap.get_identity(rank)]
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
        "iterator_types": ir.ArrayAttr.get([parallel] * rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
    }
    copy = ir.Operation.create(
        "linalg.generic", [], [source, target], attributes=attributes, regions=1
    )
    element = source.type.element_type
    block = ir.Block.create_at_start(copy.regions[0], [element] * 2, [copy.location] * 2)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", [], [block.arguments[0]])
