"""XLA's `ApproxTopK` and `TopK` by stable sorts: the exact first elements in a comparator's order.

On CPUs XLA sorts as well, and gives as many elements as the call declares. Where the comparator
asks for the greater of two f32 numbers, it compares in the total order, in which NaN is above
infinity (a negative one below all) and 0.0 above -0.0: so does this. Other comparators are taken at
their word, for which NaN is no element of an order: where one lands is not defined.
"""

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import op_error, symbol_name
from mlir_fp8.base.operations import call_target, clone_op, operations, replace_op
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape

_APPROXIMATE = ("ApproxTopK", "stablehlo.dynamic_approx_top_k")


def is_top_k(target: str) -> bool:
    return target in _APPROXIMATE or target == "TopK"


def expand_top_k(module: ir.Operation, op: ir.Operation) -> None:
    """Replace a custom call of one of these targets, and drop a comparator that nobody else has."""
    for value in (*op.operands, *op.results):
        if not has_static_shape(value):
            raise op_error(op, f"on {value.type} needs a static shape: refine shapes first")
    comparator = _comparator(module, op)
    with op.location, ir.InsertionPoint(op):
        values, dimension = _sorted_values(op)
        _check(op, values, dimension)
        results = _first(op, values, dimension, comparator)
    replace_op(op, results)
    if comparator is not None and not _is_used(module, comparator):
        comparator.erase()


def called_computations(op: ir.Operation) -> list[str]:
    """The functions that a custom call names."""
    if "called_computations" not in op.attributes:
        return []
    named = ir.ArrayAttr(op.attributes["called_computations"])
    return [ir.FlatSymbolRefAttr(name).value for name in named]


def _comparator(module: ir.Operation, op: ir.Operation) -> ir.Operation | None:
    called = called_computations(op)
    if len(called) != 1:
        if call_target(op) == "TopK" and not called:
            return None
        raise op_error(op, f"calls '{call_target(op)}' with {len(called)} computations, not one")
    table = ir.SymbolTable(module)
    function = table[called[0]].operation if called[0] in table else None
    if function is None or function.name != "func.func" or len(function.regions[0].blocks) != 1:
        raise op_error(op, f"calls '{call_target(op)}', whose computation @{called[0]} has no body")
    return function


def _sorted_values(op: ir.Operation) -> tuple[list[ir.Value], int]:
    """What is sorted, and along which dim."""
    operands = list(op.operands)
    if call_target(op) in _APPROXIMATE:
        return operands[: len(op.results)], _reduction_dim(op)
    shape = list(operands[0].type.shape) if operands else []
    if len(operands) != 1 or len(op.results) != 2 or not shape:
        raise op_error(op, "calls 'TopK' on other than one tensor, for values and indices")
    type_ = ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(32))
    last = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(shape) - 1)
    return [operands[0], build("iota", type_, [], {"iota_dimension": last})], len(shape) - 1


def _reduction_dim(op: ir.Operation) -> int:
    for holder in ("mhlo.backend_config", "backend_config"):
        options = op.attributes.get(holder)
        if isinstance(options, ir.DictAttr) and "reduction_dim" in options:
            return ir.IntegerAttr(options["reduction_dim"]).value
    raise op_error(op, f"calls '{call_target(op)}' without a reduction_dim")


def _check(op: ir.Operation, values: list[ir.Value], dimension: int) -> None:
    for value, result in zip(values, op.results, strict=False):
        wide, narrow = list(value.type.shape), list(result.type.shape)
        fits = value.type.element_type == result.type.element_type and len(wide) == len(narrow)
        if fits and 0 <= dimension < len(wide) and narrow[dimension] <= wide[dimension]:
            del wide[dimension], narrow[dimension]
            if wide == narrow:
                continue
        raise op_error(
            op, f"calls '{call_target(op)}' for {result.type} of {value.type} along dim {dimension}"
        )
    if len(values) != len(op.results):
        raise op_error(op, f"calls '{call_target(op)}' with {len(values)} tensors to sort")


def _first(
    op: ir.Operation, values: list[ir.Value], dimension: int, comparator: ir.Operation | None
) -> list[ir.Value]:
    sort = ir.Operation.create(
        "stablehlo.sort",
        results=[value.type for value in values],
        operands=values,
        attributes={
            "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension),
            "is_stable": ir.BoolAttr.get(True),
        },
        regions=1,
    )
    scalars = [
        ir.RankedTensorType.get([], value.type.element_type) for value in values for _ in range(2)
    ]
    block = sort.regions[0].blocks.append(*scalars, arg_locs=[op.location] * len(scalars))
    with ir.InsertionPoint(block):
        answer = (
            _compared(block.arguments[0], block.arguments[1])
            if comparator is None
            else _copied(op, comparator, block)
        )
        ir.Operation.create("stablehlo.return", operands=[answer])
    return [
        _sliced(value, result.type) for value, result in zip(sort.results, op.results, strict=True)
    ]


def _compared(left: ir.Value, right: ir.Value) -> ir.Value:
    """Whether `left` is greater, floats in the total order."""
    answer = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    how: dict[str, ir.Attribute] = {
        "comparison_direction": _stablehlo.ComparisonDirectionAttr.get("GT")
    }
    if isinstance(left.type.element_type, ir.FloatType):
        how["compare_type"] = _stablehlo.ComparisonTypeAttr.get("TOTALORDER")
    return build("compare", answer, [left, right], how)


def _copied(op: ir.Operation, comparator: ir.Operation, block: ir.Block) -> ir.Value:
    source = comparator.regions[0].blocks[0]
    *body, returned = [view.operation for view in source.operations]
    if [each.type for each in source.arguments] != [each.type for each in block.arguments]:
        raise op_error(op, f"calls '{call_target(op)}', whose computation takes other types")
    values: dict[ir.Value, ir.Value] = dict(zip(source.arguments, block.arguments, strict=True))
    if _is_greater_of_f32(source, body):
        return _compared(block.arguments[0], block.arguments[1])
    if call_target(op) == "TopK":
        raise op_error(op, "calls 'TopK' with a computation other than the greater of two f32")
    for inner in body:
        clone_op(inner, values)
    return values[returned.operands[0]]


def _is_greater_of_f32(source: ir.Block, body: list[ir.Operation]) -> bool:
    first = list(source.arguments)[:2]
    return (
        len(body) == 1
        and body[0].name == "stablehlo.compare"
        and list(body[0].operands) == first
        and isinstance(first[0].type.element_type, ir.F32Type)
        and "GT" in str(body[0].attributes["comparison_direction"])
    )


def _sliced(value: ir.Value, type_: ir.Type) -> ir.Value:
    shape = list(ir.RankedTensorType(type_).shape)
    bounds = {
        "start_indices": [0] * len(shape),
        "limit_indices": shape,
        "strides": [1] * len(shape),
    }
    attributes = {name: ir.DenseI64ArrayAttr.get(sizes) for name, sizes in bounds.items()}
    return build("slice", type_, [value], attributes)


def _is_used(module: ir.Operation, function: ir.Operation) -> bool:
    name = symbol_name(function)
    for op in operations(module):
        if op.name == "stablehlo.custom_call" and name in called_computations(op):
            return True
        if op.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value == name:
            return True
    return False
