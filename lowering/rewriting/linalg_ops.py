"""Builders of linalg ops that avoid the bindings' classes, whose import takes a tenth of a
second."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.retype import element_type


def indexing_maps(op: ir.Operation) -> list[ir.AffineMap]:
    return [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]


def dimensions(map_: ir.AffineMap) -> list[int]:
    """The dimensions that `map_`, a projected permutation, gives, in its order."""
    return [ir.AffineDimExpr(result).position for result in map_.results]


def yield_op(values: Sequence[ir.Value]) -> None:
    ir.Operation.create("linalg.yield", operands=values)


def fill(value: ir.Value, out: ir.Value) -> ir.Operation:
    """`linalg.fill` of `out`, a tensor or a buffer, with the scalar `value`."""
    return _moved("linalg.fill", value, out)


def copy(source: ir.Value, out: ir.Value) -> ir.Operation:
    """`linalg.copy` of `source` to `out`, of one shape and element type."""
    return _moved("linalg.copy", source, out)


def elementwise(function: Callable[[ir.Value], ir.Value], source: ir.Value) -> ir.Value:
    """`linalg.generic` that gives `function`, of the same type, of each number of a tensor."""
    type_ = ir.RankedTensorType(source.type)
    out = ir.Operation.create("tensor.empty", [type_]).results[0]
    maps = [ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))] * 2
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    attributes = {
        "indexing_maps": ir.ArrayAttr.get(maps),
        "iterator_types": ir.ArrayAttr.get([parallel] * type_.rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
    }
    op = ir.Operation.create(
        "linalg.generic", [type_], [source, out], attributes=attributes, regions=1
    )
    block = op.regions[0].blocks.append(*[type_.element_type] * 2, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(block), op.location:
        yield_op([function(block.arguments[0])])
    return op.results[0]


def _moved(name: str, source: ir.Value, out: ir.Value) -> ir.Operation:
    results = [out.type] if isinstance(out.type, ir.RankedTensorType) else []
    sizes = ir.DenseI32ArrayAttr.get([1, 1])
    op = ir.Operation.create(
        name, results, [source, out], attributes={"operandSegmentSizes": sizes}, regions=1
    )
    types = [element_type(source.type), element_type(out.type)]
    block = op.regions[0].blocks.append(*types, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(block), op.location:
        yield_op([block.arguments[0]])
    return op
