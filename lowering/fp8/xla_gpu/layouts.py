"""Operands that hold what is contracted innermost, and results that need no transpose.

cuBLASLt multiplies f8 so alone before Blackwell ("TN"), and XLA:GPU transposes by itself what is
not: the f8 tensor, in a kernel of its own, which reads what another has written. Here the wide
tensor is quantized in both arrangements: XLA makes one kernel of these, which reads it once.
"""

import dataclasses

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects._fp8_product_builder import ProductOptions, build_product
from mlir_fp8.dialects._fp8_product_parts import FLAGS
from mlir_fp8.dialects.fp8 import Product, product_parts
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, with_element

_TYPES = ("operand_type", "dot_type", "epilogue_type")


def contract_last(module: ir.Operation) -> None:
    """Let the scaled dots of matrices in `module` contract the last dimension of both operands.

    Where an operand is quantized in `module`, and has one contracted and one free dimension. A
    transpose of a result that the dot of swapped operands gives as well goes before.
    """
    made: dict[tuple[ir.Value, tuple[int, ...]], ir.Value] = {}
    for op in operations(module, "fp8.scaled_dot"):
        swapped = _without_transpose(op)
        _contract_last(swapped, made)


def _without_transpose(op: ir.Operation) -> ir.Operation:
    """`op`, or in the place of the transpose that alone uses it the product the other way round."""
    parts, result = product_parts(op), op.results[0]
    users = [use.owner.operation for use in result.uses]
    if len(users) != 1 or users[0].name != "stablehlo.transpose":
        return op
    has_side = any(each is not None for each in (parts.c, parts.bias))
    scale = parts.d_scale
    if has_side or (scale is not None and ir.RankedTensorType(scale.type).rank):
        return op
    numbers = _numbers(op)
    batches = len(numbers.lhs_batching_dimensions)
    rank = ir.RankedTensorType(result.type).rank
    contracted = len(numbers.lhs_contracting_dimensions)
    end = ir.RankedTensorType(parts.a.type).rank - contracted
    order = [*range(batches), *range(end, rank), *range(batches, end)]
    if list(ir.DenseI64ArrayAttr(users[0].attributes["permutation"])) != order:
        return op
    swapped = dataclasses.replace(
        parts,
        a=parts.b,
        b=parts.a,
        a_scale=parts.b_scale,
        b_scale=parts.a_scale,
        a_inverse=parts.b_inverse,
        b_inverse=parts.a_inverse,
    )
    turned = _stablehlo.DotDimensionNumbers.get(
        numbers.rhs_batching_dimensions,
        numbers.lhs_batching_dimensions,
        numbers.rhs_contracting_dimensions,
        numbers.lhs_contracting_dimensions,
    )
    new = _rebuilt(swapped, turned, users[0].results[0].type)
    replace_op(users[0], [new.results[0]])
    for old, value in zip(list(op.results)[1:], list(new.results)[1:], strict=True):
        old.replace_all_uses_with(value)
    op.erase()
    return new


def _contract_last(op: ir.Operation, made: dict[tuple[ir.Value, tuple[int, ...]], ir.Value]) -> None:
    parts, numbers = product_parts(op), _numbers(op)
    sides = (
        (numbers.lhs_batching_dimensions, numbers.lhs_contracting_dimensions),
        (numbers.rhs_batching_dimensions, numbers.rhs_contracting_dimensions),
    )
    values = [parts.a, parts.b]
    dims = [list(contracting) for _, contracting in sides]
    for side, (batching, contracting) in enumerate(sides):
        rank = ir.RankedTensorType(values[side].type).rank
        if list(batching) or rank != 2 or list(contracting) != [0]:
            continue
        scale = (parts.a_scale, parts.b_scale)[side]
        if scale is not None and ir.RankedTensorType(scale.type).rank:
            continue
        turned = _quantized_in_order(values[side], (1, 0), made)
        if turned is not None:
            values[side], dims[side] = turned, [1]
    if values == [parts.a, parts.b]:
        return
    turned = _stablehlo.DotDimensionNumbers.get(
        numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, *dims
    )
    replaced = dataclasses.replace(parts, a=values[0], b=values[1])
    replace_op(op, list(_rebuilt(replaced, turned, op.results[0].type).results))


def _quantized_in_order(
    codes: ir.Value,
    order: tuple[int, ...],
    made: dict[tuple[ir.Value, tuple[int, ...]], ir.Value],
) -> ir.Value | None:
    """`codes` transposed, quantized of what is transposed; None where they are not quantized here."""
    op = producer(codes)
    if op is not None and op.name == "stablehlo.transpose":
        inner = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return _quantized_in_order(op.operands[0], tuple(inner[each] for each in order), made)
    if op is None or op.name != "fp8.quantize":
        return None
    if list(order) == sorted(order):
        return codes
    if (codes, order) not in made:
        made[codes, order] = _quantized(op, order)
    return made[codes, order]


def _quantized(op: ir.Operation, order: tuple[int, ...]) -> ir.Value:
    x, scale = op.operands
    element = element_type(x)
    assert element is not None
    cast = producer(x)
    if cast is not None and cast.name == "stablehlo.convert":
        x = cast.operands[0]  # which is narrower
    shape = [ir.RankedTensorType(x.type).shape[each] for each in order]
    fmt = element_type(op.results[0])
    assert fmt is not None
    with ir.InsertionPoint.after(op), op.location:
        permutation = {"permutation": ir.DenseI64ArrayAttr.get(order)}
        codes = ir.IntegerType.get_signless(element_type(x).width)
        bits = build("bitcast_convert", with_element(x.type, codes), [x])
        bits = build("transpose", with_shape(bits, shape), [bits], permutation)
        turned = convert(build("bitcast_convert", with_shape(x, shape), [bits]), element)
        flags = {name: is_set(op, name) for name in ("inverse", "saturate")}
        return fp8.quantize(turned, scale, fmt, **flags)


def _numbers(op: ir.Operation) -> _stablehlo.DotDimensionNumbers:
    return _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])


def _rebuilt(parts: Product, numbers: ir.Attribute, result: ir.Type) -> ir.Operation:
    """`parts` of an op as a new one before it, with other dimension numbers."""
    op = parts.op
    options: ProductOptions = {
        "a_scale": parts.a_scale,
        "b_scale": parts.b_scale,
        "c": parts.c,
        "bias": parts.bias,
        "d_scale": parts.d_scale,
        "alpha": parts.alpha,
        "beta": parts.beta,
        "activation": parts.activation,
    }
    for name in FLAGS:
        options[name] = getattr(parts, name)
    for name in _TYPES:
        if name in op.attributes:
            options[name] = getattr(parts, name)
    with ir.InsertionPoint(op), op.location:
        shape = {"dot_dimension_numbers": numbers}
        built = build_product(op.name, parts.a, parts.b, result, shape, options)
    new = ir.OpResult(built[0]).owner.operation
    for name in op.attributes:
        if "." in name:
            new.attributes[name] = op.attributes[name]
    return new
