"""StableHLO on sizes: rank-0 tensors for scalars, rank-1 tensors of i64 for shapes.

All at the current insertion point and location. `index` is i64 here.
"""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.retype import retype
from mlir_fp8.lowering.rewriting.stablehlo import build, splat

_UNSIGNED = {"i2": "ui2", "i4": "ui4", "i8": "ui8", "i16": "ui16", "i32": "ui32", "i64": "ui64"}


def tensor_type(type_: ir.Type) -> ir.Type:
    """The type of the tensor that stands for a value of `type_`, a tensor or a scalar."""
    tensor = type_ if isinstance(type_, ir.ShapedType) else ir.RankedTensorType.get([], type_)
    return retype(tensor, lambda t: _i64() if isinstance(t, ir.IndexType) else t)


def size(number: int) -> ir.Value:
    return splat(ir.RankedTensorType.get([], _i64()), number)


def shape(numbers: Sequence[int]) -> ir.Value:
    type_ = ir.RankedTensorType.get([len(numbers)], _i64())
    value = ir.Attribute.parse(f"dense<{list(numbers) or ''}> : {type_}")
    return build("constant", type_, [], {"value": value})


def rank(extents: ir.Value) -> int:
    return ir.RankedTensorType(extents.type).shape[0]


def dimension(tensor: ir.Value, index: int) -> ir.Value:
    """The size of one dimension, which the specification has in i32."""
    narrow = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    dim = ir.IntegerAttr.get(_i64(), index)
    return cast(build("get_dimension_size", narrow, [tensor], {"dimension": dim}), _i64())


def shape_of(tensor: ir.Value) -> ir.Value:
    return vector([dimension(tensor, i) for i in range(ir.RankedTensorType(tensor.type).rank)])


def vector(scalars: Sequence[ir.Value], element: ir.Type | None = None) -> ir.Value:
    """A rank-1 tensor of rank-0 tensors; `element` is that of one without any."""
    if not scalars:
        return cast(shape([]), element or _i64())
    element = ir.RankedTensorType(scalars[0].type).element_type
    one = ir.RankedTensorType.get([1], element)
    return concatenate([build("reshape", one, [scalar]) for scalar in scalars])


def concatenate(vectors: Sequence[ir.Value]) -> ir.Value:
    if len(vectors) == 1:
        return vectors[0]
    element = ir.RankedTensorType(vectors[0].type).element_type
    type_ = ir.RankedTensorType.get([sum(map(rank, vectors))], element)
    return build("concatenate", type_, vectors, {"dimension": ir.IntegerAttr.get(_i64(), 0)})


def element(tensor: ir.Value, indices: Sequence[int]) -> ir.Value:
    """One element, as a rank-0 tensor."""
    if not indices:
        return tensor
    type_ = ir.RankedTensorType(tensor.type)
    bounds = {
        "start_indices": indices,
        "limit_indices": [index + 1 for index in indices],
        "strides": [1] * len(indices),
    }
    attributes = {name: ir.DenseI64ArrayAttr.get(list(each)) for name, each in bounds.items()}
    one = ir.RankedTensorType.get([1] * len(indices), type_.element_type)
    sliced = build("slice", one, [tensor], attributes)
    return build("reshape", ir.RankedTensorType.get([], type_.element_type), [sliced])


def elements(extents: ir.Value) -> list[ir.Value]:
    return [element(extents, [i]) for i in range(rank(extents))]


def binary(name: str, left: ir.Value, right: ir.Value) -> ir.Value:
    return build(name, left.type, [left, right])


def compare(direction: str, left: ir.Value, right: ir.Value) -> ir.Value:
    type_ = retype(left.type, lambda _: ir.IntegerType.get_signless(1))
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return build("compare", type_, [left, right], {"comparison_direction": attribute})


def select(which: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
    return build("select", left.type, [which, left, right])


def both(truths: Sequence[ir.Value]) -> ir.Value:
    """Whether all of some rank-0 truth values hold."""
    held = splat(ir.RankedTensorType.get([], ir.IntegerType.get_signless(1)), 1)
    for truth in truths:
        held = binary("and", held, truth)
    return held


def cast(value: ir.Value, element_type: ir.Type) -> ir.Value:
    type_ = retype(value.type, lambda _: element_type)
    return value if type_ == value.type else build("convert", type_, [value])


def unsigned(value: ir.Value) -> ir.Value:
    """The same bits in an unsigned type; i1 is one."""
    return _bitcast(value, lambda name: _UNSIGNED.get(name, name))


def signless(value: ir.Value) -> ir.Value:
    return _bitcast(value, lambda name: name.removeprefix("u"))


def fill(like: ir.Value, number: int) -> ir.Value:
    """`number` in the static shape and integer type of `like`."""
    return splat(like.type, number)


def assertion(holds: ir.Value, message: str, inputs: Sequence[ir.Value] = ()) -> None:
    """What `stablehlo-check-shape-assertions` checks; {0} in `message` is the first of `inputs`."""
    attributes = {
        "call_target_name": ir.StringAttr.get("shape_assertion"),
        "error_message": ir.StringAttr.get(message),
        "has_side_effect": ir.BoolAttr.get(True),
    }
    ir.Operation.create(
        "stablehlo.custom_call", results=[], operands=[holds, *inputs], attributes=attributes
    )


def _bitcast(value: ir.Value, rename) -> ir.Value:
    type_ = retype(value.type, lambda t: ir.Type.parse(rename(str(t))))
    return value if type_ == value.type else build("bitcast_convert", type_, [value])


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)
