"""The operands of a group, which lie behind each other, reduced by the body of a collective."""

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat, with_element


def reduced(
    op: ir.Operation, stacked: ir.Value, count: int | ir.Value, result: ir.RankedTensorType
) -> ir.Value:
    """The first `count` parts along the first dimension of `stacked`, by the body of `op`.

    From the first on, one after the other. `count` is a number or a `tensor<i64>`. `result` is the
    type of the whole, of the element type that the body computes in; without a body, it is added.
    """
    i64 = ir.IntegerType.get_signless(64)
    scalar = ir.RankedTensorType.get([], i64)
    element = result.element_type
    if op.regions and len(op.regions[0].blocks):
        element = op.regions[0].blocks[0].arguments[0].type.element_type
    stacked = convert(stacked, element)
    part = with_element(result, element)
    zero, one = splat(scalar, 0), splat(scalar, 1)
    limit = splat(scalar, count) if isinstance(count, int) else count
    first = _part(stacked, zero, zero, part)
    loop = ir.Operation.create("stablehlo.while", [scalar, part], [one, first], regions=2)
    for region in loop.regions:
        region.blocks.append(scalar, part, arg_locs=[op.location] * 2)
    condition, body = (region.blocks[0] for region in loop.regions)
    with ir.InsertionPoint(condition):
        kind = {
            "comparison_direction": ir.Attribute.parse("#stablehlo<comparison_direction LT>"),
            "compare_type": ir.Attribute.parse("#stablehlo<comparison_type SIGNED>"),
        }
        truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        _return(build("compare", truth, [condition.arguments[0], limit], kind))
    with ir.InsertionPoint(body):
        number, total = body.arguments
        following = _combined(op, total, _part(stacked, number, zero, part))
        _return(build("add", scalar, [number, one]), following)
    return convert(loop.results[1], result.element_type)


def _part(stacked: ir.Value, number: ir.Value, zero: ir.Value, type_: ir.Type) -> ir.Value:
    shape = [1, *stacked.type.shape[1:]]
    sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get(shape)}
    starts = [number, *[zero] * (len(shape) - 1)]
    cut = ir.RankedTensorType.get(shape, ir.RankedTensorType(stacked.type).element_type)
    return build("reshape", type_, [build("dynamic_slice", cut, [stacked, *starts], sizes)])


def _combined(op: ir.Operation, left: ir.Value, right: ir.Value) -> ir.Value:
    if not op.regions:  # `cross-replica-sum`
        return build("add", left.type, [left, right])
    every = ir.DenseI64ArrayAttr.get(range(len(left.type.shape)))
    dimensions: dict[str, ir.Attribute] = {"dimensions": every}
    combined = ir.Operation.create(
        "stablehlo.map", [left.type], [left, right], dimensions, regions=1
    )
    copy = op.clone()
    copy.regions[0].blocks[0].append_to(combined.regions[0])
    copy.erase()
    return combined.results[0]


def _return(*values: ir.Value) -> None:
    ir.Operation.create("stablehlo.return", operands=list(values))
