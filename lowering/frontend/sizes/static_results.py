"""Dynamic ops whose result has a static shape, as static StableHLO ops.

Run-time sizes are ignored: where they contradict the result type, the specification (the dynamism
RFC's P2) leaves the behaviour undefined. Run-time indices are clamped to the operand, as
`dynamic_slice` clamps its start.
"""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import mlir_error, op_error
from mlir_fp8.base.operations import replace_op
from mlir_fp8.lowering.frontend.sizes import build as sizes
from mlir_fp8.lowering.frontend.sizes.dynamic import size_operands
from mlir_fp8.lowering.frontend.sizes.moved_elements import padded, sliced
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape
from mlir_fp8.lowering.rewriting.text_expansion import replace_by


def expand_static_results(ops: list[ir.Operation]) -> None:
    """Replace each dynamic op of `ops` whose data and result have static shapes."""
    for op in ops:
        expansion = _EXPANSIONS.get(op.name)
        is_static = all(map(has_static_shape, (*op.operands, *op.results)))
        if expansion is None or not is_static:
            continue
        try:
            expansion(op)
        except ir.MLIRError as error:
            reason = mlir_error(error, "as a static op").args[0]
            raise op_error(op, f"has sizes that contradict its result's: {reason}") from None


def _simply(text: Callable[[ir.Operation], str]) -> Callable[[ir.Operation], None]:
    """An expansion to one op, on the operands that do not determine sizes."""

    def expand(op: ir.Operation) -> None:
        data = list(op.operands)[: size_operands(op)[0]]
        names = [f"%{index}" for index in range(len(data))]
        types = [str(operand.type) for operand in data]
        given = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        result = op.results[0].type
        types_text = f": ({', '.join(types)}) -> {result}" if data else f": {result}"
        replace_by(
            op,
            f"func.func @op({given}) -> {result} {{\n"
            f"%r = {text(op)} {types_text}\nreturn %r : {result}\n}}",
            data,
        )

    return expand


def _iota(op: ir.Operation) -> str:
    return f"stablehlo.iota dim = {ir.IntegerAttr(op.attributes['iota_dimension']).value}"


def _reshape(op: ir.Operation) -> str:
    return "stablehlo.reshape %0"


def _broadcast(op: ir.Operation) -> str:
    dims = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    return f"stablehlo.broadcast_in_dim %0, dims = {dims}"


def _gather(op: ir.Operation) -> str:
    """Sizes of the slice are those of the result, but for the dimensions that it leaves out."""
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    result = ir.RankedTensorType(op.results[0].type)
    of_slice = iter([result.shape[dim] for dim in numbers.offset_dims])
    left_out = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    rank = ir.RankedTensorType(op.operands[0].type).rank
    slice_sizes = [1 if dim in left_out else next(of_slice) for dim in range(rank)]
    is_sorted = op.attributes.get("indices_are_sorted", ir.BoolAttr.get(False))
    return (
        f'"stablehlo.gather"(%0, %1) {{dimension_numbers = {op.attributes["dimension_numbers"]},'
        f" slice_sizes = array<i64: {', '.join(map(str, slice_sizes))}>,"
        f" indices_are_sorted = {is_sorted}}}"
    )


def _set_dimension_size(op: ir.Operation) -> None:
    """A slice; with a size of data the result would be bounded, which nothing here is."""
    size = op.operands[1].owner
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    declared = ir.RankedTensorType(op.results[0].type).shape
    if not isinstance(op.operands[1], ir.OpResult) or size.name != "stablehlo.constant":
        return
    (number,) = ir.DenseIntElementsAttr(size.attributes["value"])
    if number != declared[dim]:
        raise op_error(op, f"of {number} elements has a result of {declared[dim]}: declare as many")
    bounds = ", ".join(f"0:{extent}" for extent in declared)
    _simply(lambda _: f"stablehlo.slice %0 [{bounds}]")(op)


def _move_elements(
    move: Callable[[ir.Operation], ir.Value],
) -> Callable[[ir.Operation], None]:
    def expand(op: ir.Operation) -> None:
        with op.context, ir.InsertionPoint(op), op.location:
            value = move(op)
        replace_op(op, [value])

    return expand


def _pad(op: ir.Operation) -> ir.Value:
    data, padding, low, _, interior = op.operands
    return padded(data, padding, low, interior, op.results[0].type)


def _convolution(op: ir.Operation) -> ir.Value:
    """Of padded and dilated data: the result's sizes tell how much of these is read."""
    data, weights, padding = op.operands
    type_ = ir.RankedTensorType(data.type)
    kernel = ir.RankedTensorType(weights.type).shape
    result = ir.RankedTensorType(op.results[0].type)
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    count = len(numbers.input_spatial_dimensions)
    strides, of_data, of_kernel = (
        list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [1] * count
        for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    shape, low = list(type_.shape), [sizes.size(0)] * type_.rank
    interior = [0] * type_.rank
    for i, dim in enumerate(numbers.input_spatial_dimensions):
        window = (kernel[numbers.kernel_spatial_dimensions[i]] - 1) * of_kernel[i] + 1
        steps = result.shape[numbers.output_spatial_dimensions[i]] - 1
        shape[dim] = max(steps * strides[i] + window, 0)
        low[dim] = sizes.cast(sizes.element(padding, [i, 0]), ir.IntegerType.get_signless(64))
        interior[dim] = of_data[i] - 1
    zero = ir.RankedTensorType.get([], type_.element_type)
    value = ir.DenseElementsAttr.get_splat(zero, _zero(type_.element_type))
    around = build("constant", zero, [], {"value": value})
    whole = ir.RankedTensorType.get(shape, type_.element_type)
    data = padded(data, around, sizes.vector(low), sizes.shape(interior), whole)
    kept = {name: op.attributes[name] for name in op.attributes if name not in _OF_PADDING}
    return build("convolution", result, [data, weights], kept)


def _zero(element: ir.Type) -> ir.Attribute:
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, 0.0)
    return ir.IntegerAttr.get(element, 0)


_OF_PADDING = frozenset({"lhs_dilation", "padding"})
_EXPANSIONS: dict[str, Callable[[ir.Operation], None]] = {
    "stablehlo.dynamic_broadcast_in_dim": _simply(_broadcast),
    "stablehlo.dynamic_conv": _move_elements(_convolution),
    "stablehlo.dynamic_gather": _simply(_gather),
    "stablehlo.dynamic_iota": _simply(_iota),
    "stablehlo.dynamic_pad": _move_elements(_pad),
    "stablehlo.dynamic_reshape": _simply(_reshape),
    "stablehlo.real_dynamic_slice": _move_elements(sliced),
    "stablehlo.set_dimension_size": _set_dimension_size,
}
