"""`real_dynamic_slice` and `dynamic_pad` with run-time indices and a static result shape.

Dimension by dimension, as gathers of indices: result element i of a slice is the operand's at
start + i * stride, one of padding that at (i - low) / (interior + 1) where it is one.
"""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.frontend.sizes.build import (
    binary,
    cast,
    compare,
    elements,
    fill,
    select,
    size,
)
from mlir_fp8.lowering.rewriting.stablehlo import build


def sliced(op: ir.Operation) -> ir.Value:
    """What replaces a `real_dynamic_slice`: as long as declared, whatever its limits are.

    A start from which so many elements are not there moves back (at least to 0), as that of
    `dynamic_slice` does.
    """
    data, starts, _, strides = op.operands
    shape = ir.RankedTensorType(op.results[0].type).shape
    given = [cast(each, _i64()) for each in (starts, strides)]
    for dim, (count, start, stride) in enumerate(zip(shape, *map(elements, given), strict=True)):
        extent = ir.RankedTensorType(data.type).shape[dim]
        if count > extent:
            raise op_error(
                op, f"takes {count} of {extent} elements: declare no more than there are"
            )
        data = _taken(data, dim, _places(extent, count, start, stride))
    return data


def _places(extent: int, count: int, start: ir.Value, stride: ir.Value) -> ir.Value:
    """start + i * stride, for `count` of i; of one element the stride says nothing."""
    numbers = _numbers(count)
    if count <= 1:
        stride = size(1)
    span = binary("multiply", stride, size(max(count - 1, 0)))
    latest = binary("subtract", size(max(extent - 1, 0)), span)
    start = binary("maximum", binary("minimum", start, latest), size(0))
    steps = binary("multiply", numbers, _spread(stride, numbers))
    return binary("add", steps, _spread(start, numbers))


def padded(
    data: ir.Value, around: ir.Value, low: ir.Value, interior: ir.Value, result: ir.Type
) -> ir.Value:
    """`data` from `low` on, with `interior` elements of `around` between any two, cut to `result`.

    `low`, which may be negative, and `interior` are rank-1 tensors; `around` is of rank 0.
    """
    shape = ir.RankedTensorType(result).shape
    if 0 in ir.RankedTensorType(data.type).shape:
        return _broadcast(around, [], result)
    lows, interiors = (elements(cast(each, _i64())) for each in (low, interior))
    is_data: list[tuple[int, ir.Value]] = []
    for dim, count in enumerate(shape):
        extent = ir.RankedTensorType(data.type).shape[dim]
        numbers = _numbers(count)
        place = binary("subtract", numbers, _spread(lows[dim], numbers))
        step = _spread(binary("add", interiors[dim], size(1)), numbers)
        index, zero = binary("divide", place, step), fill(numbers, 0)
        is_inside = [
            compare("GE", place, zero),
            compare("LT", index, fill(numbers, extent)),
            compare("EQ", binary("remainder", place, step), zero),
        ]
        is_data.append((dim, binary("and", binary("and", *is_inside[:2]), is_inside[2])))
        index = binary("maximum", binary("minimum", index, fill(numbers, extent - 1)), zero)
        data = _taken(data, dim, index)
    others = _broadcast(around, [], result)
    truth = ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(1))
    for dim, mask in is_data:
        data = select(_broadcast(mask, [dim], truth), data, others)
    return data


def _taken(data: ir.Value, dim: int, indices: ir.Value) -> ir.Value:
    """The slices of `data` along `dim` that `indices`, a rank-1 tensor, name."""
    type_ = ir.RankedTensorType(data.type)
    (count,) = ir.RankedTensorType(indices.type).shape
    shape = [count if i == dim else extent for i, extent in enumerate(type_.shape)]
    slice_sizes = [1 if i == dim else extent for i, extent in enumerate(type_.shape)]
    kept = ", ".join(str(i) for i in range(type_.rank) if i != dim)
    numbers = ir.Attribute.parse(
        f"#stablehlo.gather<offset_dims = [{kept}], collapsed_slice_dims = [{dim}],"
        f" start_index_map = [{dim}], index_vector_dim = 1>"
    )
    attributes = {
        "dimension_numbers": numbers,
        "slice_sizes": ir.DenseI64ArrayAttr.get(slice_sizes),
    }
    result = ir.RankedTensorType.get(shape, type_.element_type)
    return build("gather", result, [data, indices], attributes)


def _numbers(count: int) -> ir.Value:
    """0, 1, ... below `count`, in i64."""
    type_ = ir.RankedTensorType.get([count], _i64())
    return build("iota", type_, [], {"iota_dimension": ir.IntegerAttr.get(_i64(), 0)})


def _spread(scalar: ir.Value, like: ir.Value) -> ir.Value:
    return _broadcast(scalar, [], like.type)


def _broadcast(value: ir.Value, dims: Sequence[int], result: ir.Type) -> ir.Value:
    attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
    return build("broadcast_in_dim", result, [value], attributes)


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
