"""What an `fp8.scaled_ragged_dot` must be: each rule that one may break, with the reason."""

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import FLAG, SIZES, Form, attributes_refusal, sizes_form
from mlir_fp8.dialects._fp8_product_rules import STEP_TYPES, families_refusal
from mlir_fp8.dialects._fp8_ragged_parts import (
    OPERANDS,
    SIZE_TYPES,
    RaggedParts,
    numbers_refusal,
    ragged_parts,
)
from mlir_fp8.dialects._fp8_scales import (
    DATA_TYPES,
    SCALE_TYPES,
    element_refusal,
    tensor_refusal,
)
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, is_ragged_attribute, ragged_numbers

_FORMS: dict[str, Form] = {
    NUMBERS: ("a #chlo.ragged_dot<...>", is_ragged_attribute),
    SIZES: sizes_form(OPERANDS, 3),
    "fast_accum": FLAG,
}


def ragged_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.scaled_ragged_dot`, or nothing."""
    reason = attributes_refusal(op, _FORMS, (SIZES, NUMBERS)) or _tensors_refusal(op)
    if reason:
        return reason
    a, b = (_tensor(each) for each in list(op.operands)[:2])
    if reason := numbers_refusal(ragged_numbers(op), (a.rank, b.rank)):
        return reason
    parts = ragged_parts(op)
    return (
        element_refusal(a, "a", DATA_TYPES)
        or element_refusal(b, "b", DATA_TYPES)
        or families_refusal(a, b)
        or element_refusal(_tensor(parts.group_sizes), "group_sizes", SIZE_TYPES)
        or _shapes_refusal(parts)
        or _scale_refusal(parts, "a", parts.a_scale, a)
        or _scale_refusal(parts, "b", parts.b_scale, b)
        or element_refusal(_tensor(op.results[0]), "a result", STEP_TYPES)
    )


def _tensor(value: ir.Value) -> ir.RankedTensorType:
    return ir.RankedTensorType(value.type)


def _tensors_refusal(op: ir.Operation) -> str:
    sizes = list(ir.DenseI32ArrayAttr(op.attributes[SIZES]))
    if sum(sizes) != len(op.operands):
        return f"has {len(op.operands)} operands, {sum(sizes)} by {SIZES}"
    if len(op.results) != 1:
        return f"has {len(op.results)} results: it gives one tensor"
    names = [name for name, size in zip(OPERANDS, sizes, strict=True) if size]
    for value, name in zip([*op.operands, *op.results], [*names, "a result"], strict=True):
        if reason := tensor_refusal(value.type, name):
            return reason
    return ""


def _shapes_refusal(parts: RaggedParts) -> str:
    shapes = [_tensor(each).shape for each in (parts.a, parts.b)]
    sizes, result = _tensor(parts.group_sizes), _tensor(parts.op.results[0])
    summed = [shape[dim] for shape, dim in zip(shapes, parts.contracted, strict=True)]
    if summed[0] != summed[1]:
        return f"sums {summed[0]} numbers of a and {summed[1]} of b"
    if sizes.rank != 1 or sizes.shape[0] < 1:
        return f"has group_sizes of type {sizes}: one number for each group, of which there is one"
    if parts.group is not None and shapes[1][parts.group] != parts.groups:
        return f"has {shapes[1][parts.group]} matrices in b for {parts.groups} groups"
    free = [shape[dim] for shape, dim in zip(shapes, parts.free, strict=True)]
    wanted = free if parts.group is not None else [parts.groups, *free]
    if list(result.shape) != wanted:
        return f"has a result {result}: its shape is {'x'.join(map(str, wanted))}"
    return ""


def _scale_refusal(
    parts: RaggedParts, name: str, scale: ir.Value | None, data: ir.RankedTensorType
) -> str:
    if scale is None:
        return ""
    type_ = _tensor(scale)
    if reason := element_refusal(type_, f"{name}_scale", SCALE_TYPES):
        return reason
    if list(type_.shape) in ([], [parts.groups]):
        return ""
    contracted = parts.contracted[0 if name == "a" else 1]
    allowed = [(1,) if dim == contracted else (1, size) for dim, size in enumerate(data.shape)]
    if type_.rank != data.rank or any(
        size not in sizes for size, sizes in zip(type_.shape, allowed, strict=True)
    ):
        return (
            f"has {name}_scale of type {type_} for {data}: it has rank 0, a number for each of "
            f"{parts.groups} groups, or sizes 1 or those of {name}, 1 along dimension {contracted}"
        )
    return ""
