"""`linalg-tile-transposes`: loops that read columns and write rows are tiled.

A plain nest uses one number of each cache line, and the line is evicted before the next.
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.linalg_ops import dimensions, indexing_maps

_TILES = {8: (64, 32, 16, 8), 16: (32, 16, 8), 32: (32, 16, 8), 64: (16, 8)}
"""The tile sizes to try, by the bits of an element."""


@dataclass(frozen=True)
class LinalgTileTransposes(ModulePass):
    """Tile parallel `linalg.generic` ops on static buffers that read one of them by columns.

    Tiled are the innermost loop and that of the buffer's last dimension, where a tile divides both
    sizes. Ops with a `linalg.index` stay as they are.
    """

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in operations(module):
                if op.name == "linalg.generic" and _is_plain(op):
                    loops = _crossed(op)
                    if loops is not None:
                        _tile(op, loops)


def _is_plain(op: ir.Operation) -> bool:
    iterators = [str(each) for each in ir.ArrayAttr(op.attributes["iterator_types"])]
    return (
        not len(op.results)
        and len(iterators) > 1
        and not any("reduction" in each for each in iterators)
        and not any(inner.name == "linalg.index" for inner in operations(op))
        and all(map_.is_projected_permutation for map_ in indexing_maps(op))
        and all(
            value.type.has_static_shape and not isinstance(value.type.layout, ir.StridedLayoutAttr)
            for value in op.operands
            if isinstance(value.type, ir.MemRefType)
        )
    )


def _crossed(op: ir.Operation) -> dict[int, int] | None:
    """The two loops to tile and the sides of the tiles; None where there is nothing to gain."""
    places = [dimensions(map_) for map_ in indexing_maps(op)]
    innermost = places[-1][-1] if places[-1] else None
    if innermost != len(ir.ArrayAttr(op.attributes["iterator_types"])) - 1:
        return None
    for loops, value in zip(places, op.operands, strict=True):
        if innermost not in loops[:-1]:
            continue
        element = value.type.element_type
        if not isinstance(element, ir.FloatType | ir.IntegerType):
            continue
        sizes = (value.type.shape[-1], value.type.shape[loops.index(innermost)])
        for tile in _TILES.get(element.width, ()):
            if all(size % tile == 0 and size > tile for size in sizes):
                return {loops[-1]: tile, innermost: tile}
    return None


def _tile(op: ir.Operation, tiles: dict[int, int]) -> None:
    """Each tiled loop becomes two, of which the inner ones come last."""
    iterators = list(ir.ArrayAttr(op.attributes["iterator_types"]))
    count = len(iterators)
    inner = {loop: count + index for index, loop in enumerate(sorted(tiles))}
    maps: list[ir.Attribute] = []
    operands: list[ir.Value] = []
    with ir.InsertionPoint(op), op.location:
        for map_, value in zip(indexing_maps(op), op.operands, strict=True):
            loops = dimensions(map_)
            new = [each for loop in loops for each in (loop, inner.get(loop)) if each is not None]
            exprs = [ir.AffineDimExpr.get(loop) for loop in new]
            maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(count + len(tiles), 0, exprs)))
            operands.append(_expanded(value, [tiles.get(loop) for loop in loops]))
        attributes = dict(op.attributes.items())
        attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
        attributes["iterator_types"] = ir.ArrayAttr.get([*iterators, *iterators[: len(tiles)]])
        new_op = ir.Operation.create(
            "linalg.generic", operands=operands, attributes=attributes, regions=1
        )
    op.regions[0].blocks[0].append_to(new_op.regions[0])
    op.erase()


def _expanded(value: ir.Value, tiles: list[int | None]) -> ir.Value:
    """The buffer with each tiled dimension as two."""
    if not any(tiles):
        return value
    shape: list[int] = []
    groups: list[list[int]] = []
    for size, tile in zip(value.type.shape, tiles, strict=True):
        parts = [size] if tile is None else [size // tile, tile]
        groups.append(list(range(len(shape), len(shape) + len(parts))))
        shape += parts
    type_ = ir.MemRefType.get(shape, value.type.element_type, None, value.type.memory_space)
    return memref.expand_shape(type_, value, groups, [], shape)
