"""Building and retyping StableHLO ops: the pieces that the narrow-float passes share."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.float_formats import NARROW_FLOATS, FloatFormat, NanEncoding


def names(dialect: str, ops: str) -> frozenset[str]:
    """The full names of `dialect`'s ops listed in `ops`."""
    return frozenset(f"{dialect}.{op}" for op in ops.split())


def element_type(value: ir.Value) -> ir.Type | None:
    """The element type of a tensor; None for tokens, tuples and scalars."""
    return value.type.element_type if isinstance(value.type, ir.ShapedType) else None


def narrow_format(value: ir.Value) -> FloatFormat | None:
    """The format of a tensor of f8, f6, f4, bf16 or f16; None for any other value."""
    return NARROW_FLOATS.get(str(element_type(value)))


def narrow_formats(option: str) -> frozenset[str]:
    """The narrow formats that a pass's option lists, comma-separated; all of them where empty."""
    if not option:
        return frozenset(NARROW_FLOATS)
    listed = frozenset(option.split(","))
    if unknown := sorted(listed - NARROW_FLOATS.keys()):
        known = ", ".join(NARROW_FLOATS)
        raise Fp8Error(f"'{unknown[0]}' in option 'formats' is not one of {known}")
    return listed


def concerns(op: ir.Operation, formats: frozenset[str]) -> bool:
    """Whether an operand or result of `op` is a tensor of one of `formats`."""
    return any(str(element_type(value)) in formats for value in (*op.operands, *op.results))


def has_static_shape(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType) and value.type.has_static_shape


def with_element(tensor: ir.Type, element: ir.Type) -> ir.Type:
    """The tensor type of the same shape and encoding over another element type."""
    if isinstance(tensor, ir.RankedTensorType):
        with ir.Location.unknown(tensor.context):
            return ir.RankedTensorType.get(tensor.shape, element, tensor.encoding)
    return ir.UnrankedTensorType.get(element, ir.Location.unknown(tensor.context))


def build(
    name: str,
    result: ir.Type,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Value:
    """The result of a new `stablehlo.name` at the current insertion point and location."""
    return build_op(f"stablehlo.{name}", result, operands, attributes)


def build_op(
    name: str,
    result: ir.Type,
    operands: Sequence[ir.Value],
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> ir.Value:
    """The result of a new op `name` of any dialect at the current insertion point and location."""
    op = ir.Operation.create(
        name, results=[result], operands=operands, attributes=dict(attributes or {})
    )
    return op.results[0]


def empty_constant(op: ir.Operation, type_: ir.Type) -> ir.Value:
    """A constant of `type_`, which has no elements, before `op`."""
    # As a whole op: the bindings have no class for an attribute of no complex numbers.
    constant = ir.Operation.parse(f"stablehlo.constant dense<> : {type_}", context=op.context)
    constant.location = op.location
    ir.InsertionPoint(op).insert(constant)
    return constant.results[0]


def splat(tensor: ir.Type, number: int) -> ir.Value:
    """A constant whose elements all are the integer `number`; `tensor` has a static shape."""
    element = ir.IntegerAttr.get(ir.RankedTensorType(tensor).element_type, number)
    value = ir.DenseElementsAttr.get_splat(tensor, element)
    return build("constant", tensor, [], {"value": value})


def take_tuples_apart(module: ir.Operation) -> None:
    """Replace `get_tuple_element` of a `tuple` by what that is made of."""
    for op in operations(module, "stablehlo.get_tuple_element"):
        made = op.operands[0].owner
        if not isinstance(made, ir.Block) and made.name == "stablehlo.tuple":
            replace_op(op, [made.operands[ir.IntegerAttr(op.attributes["index"]).value]])


def renew_arguments(
    block: ir.Block,
    types: Sequence[ir.Type],
    location: ir.Location,
    made: Callable[[ir.Type, Iterator[ir.Value]], ir.Value],
) -> None:
    """Give `block` arguments of `types`; `made` takes from them what an old one, of a type, was."""
    old = list(block.arguments)
    new = iter([block.add_argument(type_, location) for type_ in types])
    with ir.InsertionPoint.at_block_begin(block):
        for argument in old:
            argument.replace_all_uses_with(made(argument.type, new))
    for _ in old:
        block.erase_argument(0)


def convert(value: ir.Value, element: ir.Type) -> ir.Value:
    """`value` converted to `element`; `value` itself where that is its element type."""
    if element_type(value) == element:
        return value
    return build("convert", with_element(value.type, element), [value])


def real_part(value: ir.Value) -> ir.Value:
    """`value` without its imaginary part, where it has one."""
    element = element_type(value)
    if not isinstance(element, ir.ComplexType):
        return value
    return build("real", with_element(value.type, element.element_type), [value])


def convert_operand(op: ir.Operation, index: int, element: ir.Type) -> None:
    with ir.InsertionPoint(op), op.location:
        op.operands[index] = convert(op.operands[index], element)


def retype_result(op: ir.Operation, index: int, element: ir.Type) -> None:
    """Make the op yield `element`, and convert that once to the declared type for its users."""
    result = op.results[index]
    declared = result.type
    result.set_type(with_element(declared, element))
    with ir.InsertionPoint.after(op), op.location:
        rounded = build("convert", declared, [result])
    result.replace_all_uses_except(rounded, ir.OpResult(rounded).owner.operation)


def is_total_order(op: ir.Operation) -> bool:
    """Whether a `stablehlo.compare` also orders NaNs and the two zeros."""
    return "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"])


def require_ordered_nans(op: ir.Operation, fmt: FloatFormat) -> None:
    """Refuse a total order on FNUZ types: whether 0x80 is below or above all is nowhere said."""
    if fmt.nan is NanEncoding.NEGATIVE_ZERO:
        reason = f"TOTALORDER has no place for the unsigned NaN of {fmt.name}; compare in f32"
        raise op_error(op, reason)
