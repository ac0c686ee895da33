"""A scaled product as the StableHLO that XLA:GPU makes one FP8 call of."""

import dataclasses
from collections.abc import Mapping
from typing import cast

from torch_mlir import ir

from mlir_fp8.dialects._fp8_product_builder import ProductOptions, build_product
from mlir_fp8.dialects._fp8_product_parts import FLAGS, OPERANDS
from mlir_fp8.dialects._fp8_product_shapes import dot_shape, shape_attributes
from mlir_fp8.dialects.fp8 import Product
from mlir_fp8.lowering.fp8.ops.products import scaled_product
from mlir_fp8.lowering.fp8.ops.scaling import largest, rescale, to_element
from mlir_fp8.lowering.fp8.xla_gpu.dims import as_matrices
from mlir_fp8.lowering.fp8.xla_gpu.narrow_sums import rounded_at_once
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type

_OTHERS = ("operand_type", "dot_type", "epilogue_type", "alpha", "beta", "activation")


def convolution(parts: Product) -> list[ir.Value]:
    """The results of a convolution, whose operands are dequantized right before it."""
    return _decomposed(parts, shape_attributes(parts.op), parts.op.results[0].type)


def matrix_product(parts: Product, *, narrow: bool) -> list[ir.Value]:
    """The results of a dot: as matrices, and back; `narrow` as of `rounded_at_once`.

    What is quantized is so within the form that XLA matches, but where that would give another
    amax, or a result type that cuBLASLt does not have.
    """
    matrices = as_matrices(parts)
    declared = ir.RankedTensorType(parts.op.results[0].type)
    numbers = {"dot_dimension_numbers": matrices.numbers}
    own, parts = matrices.parts, matrices.parts
    is_unsupported = _is_e5m2_of_e4m3(parts)
    # What was added may have the bias as its values, which amax must not see.
    is_apart = is_unsupported or (matrices.padded and parts.amax)
    if is_apart:
        own = dataclasses.replace(parts, d_scale=None, d_inverse=False, saturate=False, amax=False)
    element = parts.epilogue_type if is_apart else declared.element_type
    lhs, rhs = (ir.RankedTensorType(each.type).shape for each in (own.a, own.b))
    shape = dot_shape(lhs, rhs, matrices.numbers)
    x, *amax = _decomposed(own, numbers, ir.RankedTensorType.get(shape, element), narrow=narrow)
    x = matrices.cut(x)
    if is_unsupported:
        x = build("optimization_barrier", x.type, [x])
    if is_apart:
        parts = dataclasses.replace(parts, d_scale=matrices.d_scale)
        x, *amax = _quantized(parts, x, declared.element_type)
    return [x if x.type == declared else build("reshape", declared, [x]), *amax]


def _is_e5m2_of_e4m3(parts: Product) -> bool:
    """Whether XLA would make a matmul that cuBLASLt's table of types does not have."""
    result = str(ir.RankedTensorType(parts.op.results[0].type).element_type)
    operands = {str(element_type(each)) for each in (parts.a, parts.b)}
    return parts.saturate and result == "f8E5M2" and operands == {"f8E4M3FN"}


def _quantized(parts: Product, x: ir.Value, element: ir.Type) -> list[ir.Value]:
    """The steps of an epilogue behind its activation."""
    amax = [largest(build("abs", x.type, [x]), 0.0)] if parts.amax else []
    if parts.d_scale is not None:
        x = rescale(x, parts.d_scale, divide=not parts.d_inverse)
    return [to_element(x, element, saturate=parts.saturate), *amax]


def _decomposed(
    parts: Product, shape: Mapping[str, ir.Attribute], result: ir.Type, *, narrow: bool = False
) -> list[ir.Value]:
    """The StableHLO of `parts`, whose product is rounded by itself where XLA has such a one.

    With `narrow` before it is scaled, too.
    """
    given = {name: getattr(parts, name) for name in (*OPERANDS[2:], *FLAGS, *_OTHERS)}
    options = cast(ProductOptions, given)
    built = build_product(parts.op.name, parts.a, parts.b, result, shape, options)
    op = ir.OpResult(built[0]).owner.operation
    operands = list(op.operands)
    with ir.InsertionPoint(op):
        values = scaled_product(op, operands)
    op.erase()
    return rounded_at_once(_product_op(values, operands), values, narrow=narrow)


def _product_op(values: list[ir.Value], operands: list[ir.Value]) -> ir.Operation:
    """The dot or convolution between `operands` and `values`."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if value in operands:
            continue
        op = ir.OpResult(value).owner.operation
        if op.name in ("stablehlo.dot_general", "stablehlo.convolution"):
            return op
        stack += op.operands
    raise AssertionError("a scaled product holds a product")
