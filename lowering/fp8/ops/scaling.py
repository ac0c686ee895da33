"""Scales on data, in StableHLO: `fp8.quantize` and `fp8.dequantize`, and what they are made of."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.rewriting.stablehlo import build, convert


def quantize(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.quantize` on `operands`, at the current insertion point."""
    x, scale = operands
    element = ir.RankedTensorType(op.results[0].type).element_type
    scaled = rescale(x, scale, divide=not is_set(op, "inverse"))
    return [to_element(scaled, element, saturate=is_set(op, "saturate"))]


def dequantize(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The StableHLO of an `fp8.dequantize` on `operands`, at the current insertion point."""
    q, scale = operands
    element = ir.RankedTensorType(op.results[0].type).element_type
    return [rescale(convert(q, element), scale, divide=is_set(op, "inverse"))]


def rescale(x: ir.Value, scale: ir.Value, *, divide: bool) -> ir.Value:
    """`x` times `scale`, or over it, in its type; `scale` has rank 0 or its rank."""
    dimensions = range(ir.RankedTensorType(scale.type).rank)
    return rescale_along(x, scale, list(dimensions), divide=divide)


def rescale_along(
    x: ir.Value, scale: ir.Value, dimensions: Sequence[int], *, divide: bool
) -> ir.Value:
    """As `rescale`; dimension i of `scale` is `dimensions[i]`, in rising order, of `x`."""
    of_type = convert(scale, ir.RankedTensorType(x.type).element_type)
    factor = spread(of_type, ir.RankedTensorType(x.type), dimensions)
    return build("divide" if divide else "multiply", x.type, [x, factor])


def spread(scale: ir.Value, target: ir.RankedTensorType, dimensions: Sequence[int]) -> ir.Value:
    """`scale` repeated to the type `target`: each size 1, or that of `target`, or a divisor."""
    sizes = dict(zip(dimensions, ir.RankedTensorType(scale.type).shape, strict=True))
    shape: list[int] = []  # with a dimension of its own for what is inside of a block
    positions: list[int] = []
    for dim, whole in enumerate(target.shape):
        if dim in sizes:
            positions.append(len(shape))
        size = sizes.get(dim, 1)
        shape += [whole] if size in (1, whole) else [size, whole // size]
    broad = broadcast(scale, ir.RankedTensorType.get(shape, target.element_type), positions)
    return broad if len(shape) == target.rank else build("reshape", target, [broad])


def broadcast(value: ir.Value, type_: ir.Type, dimensions: Sequence[int]) -> ir.Value:
    """`stablehlo.broadcast_in_dim`; `value` itself where that is its type."""
    if value.type == type_:
        return value
    dims = ir.DenseI64ArrayAttr.get(dimensions)
    return build("broadcast_in_dim", type_, [value], {"broadcast_dimensions": dims})


def to_element(x: ir.Value, element: ir.Type, *, saturate: bool) -> ir.Value:
    """`x` converted to `element`, clamped before to its largest finite values if `saturate`."""
    if saturate:
        limit = float(FORMATS[str(element)].max)  # exact in bf16 and wider, for small floats
        bounds = [number(with_shape(x, []), sign * limit) for sign in (-1, 1)]
        x = build("clamp", x.type, [bounds[0], x, bounds[1]])
    return convert(x, element)


def number(type_: ir.Type, value: float) -> ir.Value:
    """A constant whose elements all are `value`, rounded to the element type of `type_`."""
    element = ir.FloatAttr.get(ir.RankedTensorType(type_).element_type, value)
    splat = ir.DenseElementsAttr.get_splat(type_, element)
    return build("constant", type_, [], {"value": splat})


def with_shape(value: ir.Value, shape: Sequence[int]) -> ir.Type:
    """The tensor type of another shape over the element type of `value`."""
    return ir.RankedTensorType.get(shape, ir.RankedTensorType(value.type).element_type)


def largest(x: ir.Value, floor: float) -> ir.Value:
    """The largest of all elements of `x` and `floor`, of rank 0; NaN where one is NaN."""
    scalar = with_shape(x, [])
    dims = ir.DenseI64ArrayAttr.get(range(ir.RankedTensorType(x.type).rank))
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[scalar],
        operands=[x, number(scalar, floor)],
        attributes={"dimensions": dims},
        regions=1,
    )
    location = ir.Location.current
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        maximum = build("maximum", scalar, list(body.arguments))
        ir.Operation.create("stablehlo.return", operands=[maximum])
    return op.results[0]
