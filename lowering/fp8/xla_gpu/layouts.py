"""Layouts of quantized operands that XLA:GPU else chooses badly, and results without a transpose.

cuBLASLt multiplies f8 with the contracted dimension innermost ("TN") before Blackwell; what is not
so XLA transposes itself, as f8. A tensor that products contract along both dimensions is to be
quantized row-major: of the quantization and the transpose XLA then makes one kernel, which reads
the wide tensor once. XLA lays operands out so where both are f8E4M3FN (`is_fp8_to_fp8` of
xla/service/gpu/transforms/layout_assignment.cc); of others it may write the transpose first, and
make the row-major codes of that, in a kernel of their own (seen with jax 0.11.2).
"""

import dataclasses

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.dialects._fp8_product_builder import ProductOptions, build_product
from mlir_fp8.dialects._fp8_product_parts import FLAGS
from mlir_fp8.dialects.fp8 import Product, product_parts
from mlir_fp8.lowering.rewriting.stablehlo import build

_TYPES = ("operand_type", "dot_type", "epilogue_type")


def lay_out(module: ir.Operation) -> None:
    """Let the scaled dots in `module` give results as they are used, of row-major codes.

    A transpose of a result that the dot of swapped operands gives as well goes. Codes that
    `module` quantizes, for products of two formats, are row-major: by `LayoutConstraint`, the
    custom call of XLA and `jax.experimental.layout.with_layout_constraint`.
    """
    constrained: dict[ir.Value, ir.Value] = {}
    for op in operations(module, "fp8.scaled_dot"):
        dot = _without_transpose(op)
        for index in (0, 1):
            _constrain(dot, index, constrained)


def _constrain(dot: ir.Operation, index: int, constrained: dict[ir.Value, ir.Value]) -> None:
    """Let operand `index` of `dot`, if it is codes quantized here or these moved, be row-major."""
    user, number = dot, index
    op = producer(dot.operands[index])
    while op is not None and op.name in ("stablehlo.transpose", "stablehlo.reshape"):
        user, number, op = op, 0, producer(op.operands[0])
    if op is None or op.name != "fp8.quantize":
        return
    codes = op.results[0]
    if codes not in constrained:
        with ir.InsertionPoint.after(op), op.location:
            constrained[codes] = _row_major(codes)
    user.operands[number] = constrained[codes]


def _row_major(x: ir.Value) -> ir.Value:
    order = list(range(ir.RankedTensorType(x.type).rank))[::-1]
    layouts = ir.Attribute.parse(f"[dense<{order}> : tensor<{len(order)}xindex>]")
    attributes = {
        "call_target_name": ir.StringAttr.get("LayoutConstraint"),
        "operand_layouts": layouts,
        "result_layouts": layouts,
    }
    return build("custom_call", x.type, [x], attributes)


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
