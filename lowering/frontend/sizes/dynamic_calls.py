"""JAX's custom calls for ops that have no dynamic form in StableHLO, once their sizes are constant.

`stablehlo.dynamic_reduce_window`, `dynamic_rng_bit_generator` and `dynamic_top_k` take as operands
what the op has as attributes, or as its result's shape. Upstream's refinement passes them by, as it
does a `bitcast_convert` to another rank.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from mlir_fp8.base.operations import call_target, clone_op, operations
from mlir_fp8.lowering.frontend.sizes.dynamic import is_dynamic_type
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape


def replace_dynamic_calls(module: ir.Operation) -> bool:
    """Replace the calls whose size operands are constants by the ops; whether any were."""
    replaced = False
    for op in operations(module):
        replacement = _replacement(op)
        if replacement is None:
            continue
        with op.context, ir.InsertionPoint(op), op.location:
            new = replacement(op)
            if new is None:
                continue
            for old, value in zip(op.results, new.results, strict=True):
                # Users keep their types until they are refined.
                old.replace_all_uses_with(build("convert", old.type, [value]))
        op.erase()
        replaced = True
    return replaced


def _replacement(op: ir.Operation) -> Callable[[ir.Operation], ir.Operation | None] | None:
    if op.name == "stablehlo.custom_call":
        return _REPLACEMENTS.get(call_target(op))
    return _bitcast if op.name == "stablehlo.bitcast_convert" else None


def _constants(values: Sequence[ir.Value]) -> list[list[int]] | None:
    """The elements of constants; None where one is not known yet."""
    found: list[list[int]] = []
    for value in values:
        if not isinstance(value, ir.OpResult) or value.owner.name != "stablehlo.constant":
            return None
        found.append(
            [int(each) for each in ir.DenseIntElementsAttr(value.owner.attributes["value"])]
        )
    return found


def _reduce_window(op: ir.Operation) -> ir.Operation | None:
    """Operands, initial values, then window, strides, both dilations and padding."""
    count = (len(op.operands) - 5) // 2
    known = _constants(list(op.operands)[2 * count :])
    if known is None or not all(map(has_static_shape, list(op.operands)[: 2 * count])):
        return None
    *sizes, padding = known
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    attributes: dict[str, ir.Attribute] = {
        name: ir.DenseI64ArrayAttr.get(each) for name, each in zip(names, sizes, strict=True)
    }
    pairs = [list(pair) for pair in zip(padding[::2], padding[1::2], strict=True)]
    attributes["padding"] = ir.Attribute.parse(f"dense<{pairs}> : tensor<{len(pairs)}x2xi64>")
    shape = _windows(ir.RankedTensorType(op.operands[0].type).shape, sizes, pairs)
    results = [_with_shape(result.type, shape) for result in op.results]
    new = ir.Operation.create(
        "stablehlo.reduce_window",
        results=results,
        operands=list(op.operands)[: 2 * count],
        attributes=attributes,
        regions=1,
    )
    (computation,) = ir.ArrayAttr(op.attributes["called_computations"])
    _copy_body(_function(op, ir.FlatSymbolRefAttr(computation).value), new.regions[0])
    return new


def _windows(
    shape: Sequence[int], sizes: Sequence[Sequence[int]], padding: Sequence[Sequence[int]]
) -> list[int]:
    """How many windows there are in each dimension, as the specification counts them."""
    counts: list[int] = []
    for extent, window, stride, of_base, of_window, around in zip(
        shape, *sizes, padding, strict=True
    ):
        dilated = (extent - 1) * of_base + 1 if extent else 0
        whole = sum(around) + dilated
        reach = (window - 1) * of_window + 1 if window else 0
        counts.append(0 if whole == 0 or reach > whole else (whole - reach) // stride + 1)
    return counts


def _function(op: ir.Operation, name: str) -> ir.Operation:
    root = op
    while root.parent is not None:
        root = root.parent.operation
    return ir.SymbolTable(root)[name].operation


def _copy_body(function: ir.Operation, region: ir.Region) -> None:
    body = function.regions[0].blocks[0]
    types = [argument.type for argument in body.arguments]
    block = region.blocks.append(*types, arg_locs=[function.location] * len(types))
    values: dict[ir.Value, ir.Value] = dict(zip(body.arguments, block.arguments, strict=True))
    place = ir.InsertionPoint(block)
    *ops, returned = (each.operation for each in body.operations)
    for op in ops:
        clone_op(op, values, place)
    results = [values[operand] for operand in list(returned.operands)]
    with place, returned.location:
        ir.Operation.create("stablehlo.return", operands=results)


def _random_bits(op: ir.Operation) -> ir.Operation | None:
    known = _constants(list(op.operands)[1:])
    if known is None:
        return None
    return ir.Operation.create(
        "stablehlo.rng_bit_generator",
        results=[op.results[0].type, _with_shape(op.results[1].type, known[0])],
        operands=list(op.operands)[:1],
        attributes={"rng_algorithm": op.attributes["rng_algorithm"]},
    )


def _top_k(op: ir.Operation) -> ir.Operation | None:
    known = _constants(list(op.operands)[1:])
    if known is None or not has_static_shape(op.operands[0]):
        return None
    ((k,),) = known
    shape = [*ir.RankedTensorType(op.operands[0].type).shape[:-1], k]
    return ir.Operation.create(
        "chlo.top_k",
        results=[_with_shape(result.type, shape) for result in op.results],
        operands=list(op.operands)[:1],
        attributes={"k": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), k)},
    )


def _bitcast(op: ir.Operation) -> ir.Operation | None:
    """Between widths: the narrower type has a last dimension more, which its result declares."""
    source, result = op.operands[0].type, op.results[0].type
    if not has_static_shape(op.operands[0]) or not is_dynamic_type(result):
        return None
    shape = ir.RankedTensorType(source).shape
    rank = ir.RankedTensorType(result).rank
    if rank < len(shape):
        shape = shape[:rank]
    elif rank > len(shape):
        shape = [*shape, ir.RankedTensorType(result).shape[-1]]
    new_type = _with_shape(result, shape)
    if is_dynamic_type(new_type):
        return None
    return ir.Operation.create(op.name, results=[new_type], operands=list(op.operands))


def _with_shape(type_: ir.Type, shape: Sequence[int]) -> ir.Type:
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(type_).element_type)


_REPLACEMENTS: dict[str, Callable[[ir.Operation], ir.Operation | None]] = {
    "stablehlo.dynamic_reduce_window": _reduce_window,
    "stablehlo.dynamic_rng_bit_generator": _random_bits,
    "stablehlo.dynamic_top_k": _top_k,
}
