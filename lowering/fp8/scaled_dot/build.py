"""Replaces a dot, its dequantizers and its epilogue by a fused op."""

from collections.abc import Mapping
from typing import Any

from torch_mlir import ir

from mlir_fp8.base.operations import erase_with_producers
from mlir_fp8.base.shardings import annotate, read_sharding
from mlir_fp8.dialects._fp8_product_builder import build_product
from mlir_fp8.dialects._fp8_product_shapes import (
    CONVOLUTION_ATTRIBUTES,
    convolution_shape,
    dot_shape,
)
from mlir_fp8.dialects.fp8 import ProductOptions
from mlir_fp8.lowering.fp8.scaled_dot.dependence import dependents
from mlir_fp8.lowering.fp8.scaled_dot.epilogue import Epilogue
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.moves import move_data
from mlir_fp8.lowering.fp8.scaled_dot.product import PRODUCTS, Product, dot_numbers
from mlir_fp8.lowering.fp8.scaled_dot.scale import Scale
from mlir_fp8.lowering.rewriting.shardings import is_constraint
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type, names

_PURE = ("stablehlo.", "chlo.", "fp8.")
_FUSED = "mlir_fp8.fused"
"""On the dot whose work a fused op does: other dots stay, since they are still to be looked at."""
_KEPT = (
    PRODUCTS
    | names("stablehlo", "custom_call infeed recv")
    | names("fp8", "scaled_convolution scaled_dot scaled_ragged_dot")
)


def build_fused(product: Product, epilogue: Epilogue) -> ir.Operation | Obstacle:
    """The fused op, in the place of the last op that it does the work of."""
    end = epilogue.quantization.end if epilogue.quantization else epilogue.end
    last = ir.OpResult(end).owner.operation
    with ir.InsertionPoint(last), product.op.location:
        fused = _create(product, epilogue, ir.RankedTensorType(end.type).element_type)
    reason = _refusal(fused)
    if reason:
        erase_with_producers(fused, _may_go)
        edit = "change the operands to formats and shapes that the op takes"
        formats = {element_type(side.source) for side in (product.lhs, product.rhs)}
        kind = "mixed-formats" if len(formats) == 2 else "refused"
        return Obstacle(kind, "dot", reason, product.op.location, edit)
    _keep_sharding(product.op, last, fused)
    product.op.attributes[_FUSED] = ir.UnitAttr.get()
    end.replace_all_uses_with(fused.results[0])
    if epilogue.amax is not None:
        _replace_amax(epilogue.amax.reduce, fused)
    erase_with_producers(last, _may_go)
    return fused


def _keep_sharding(dot: ir.Operation, last: ir.Operation, fused: ir.Operation) -> None:
    """What the last op says of its result, or what the dot does, is so of the fused op's."""
    sharding = read_sharding(last.attributes) or read_sharding(dot.attributes)
    if sharding is not None:
        ranks = [ir.RankedTensorType(each.type).rank for each in fused.results]
        annotate(fused, sharding, *map(sharding.replicated, ranks[1:]))


def _refusal(op: ir.Operation) -> str:
    """What the dialect's verifier says against `op`, if anything."""
    try:
        op.verify()
    except ir.MLIRError as error:
        return error.error_diagnostics[0].message.splitlines()[0]
    return ""


def _create(product: Product, epilogue: Epilogue, result: ir.Type) -> ir.Operation:
    """The op, which the verifier was not asked about."""
    options = _options(product, epilogue)
    lhs = move_data(product.lhs.source, product.lhs.moves)
    rhs = lhs if _is_square(product) else move_data(product.rhs.source, product.rhs.moves)
    op = product.op
    left, right = (ir.RankedTensorType(each.type).shape for each in (lhs, rhs))
    if product.is_dot:
        attributes = {"dot_dimension_numbers": dot_numbers(op)}
        shape = dot_shape(left, right, attributes["dot_dimension_numbers"])
    else:
        attributes = {
            each: op.attributes[each] for each in CONVOLUTION_ATTRIBUTES if each in op.attributes
        }
        shape = convolution_shape(left, right, attributes)
    name = "fp8.scaled_dot" if product.is_dot else "fp8.scaled_convolution"
    type_ = ir.RankedTensorType.get(shape, result)
    results = build_product(name, lhs, rhs, type_, attributes, options)
    return ir.OpResult(results[0]).owner.operation


def _is_square(product: Product) -> bool:
    return product.op.operands[0] == product.op.operands[1]


def _options(product: Product, epilogue: Epilogue) -> ProductOptions:
    quantization = epilogue.quantization
    scales: Mapping[str, Scale | None] = {
        "a": product.lhs.scale or epilogue.a_scale,
        "b": product.rhs.scale or epilogue.b_scale,
        "d": quantization.scale if quantization else None,
    }
    matrix, bias = epilogue.matrix, epilogue.bias
    f32, step_type = ir.F32Type.get(), epilogue.epilogue_type
    # The f32 sum is not rounded to f32 first.
    dot_type = step_type if epilogue.dot_type == f32 else epilogue.dot_type
    options: dict[str, Any] = {
        "operand_type": product.operand_type,
        "dot_type": None if dot_type == f32 else dot_type,
        "epilogue_type": None if step_type == dot_type else step_type,
        "alpha": epilogue.alpha,
        "beta": matrix.beta if matrix else None,
        "c": matrix.value if matrix else None,
        "bias": bias.build() if bias else None,
        "activation": epilogue.activation,
        "amax": epilogue.amax is not None,
        "saturate": quantization is not None and quantization.saturate,
        "fast_accum": product.fast_accum,
    }
    for name, scale in scales.items():
        if scale is not None:
            is_same = name == "b" and scale is product.rhs.scale and _is_square(product)
            options[f"{name}_scale"] = options["a_scale"] if is_same else scale.build()
            # The output is divided by its scale, operands are multiplied by theirs.
            options[f"{name}_inverse"] = scale.inverse
    return ProductOptions(**options)


def _replace_amax(reduce: ir.Operation, fused: ir.Operation) -> None:
    """Give the users of `reduce` the fused op's amax, behind which those before it are moved."""
    result = reduce.results[0]
    last = fused
    for op in dependents(result, fused):
        op.move_after(last)
        last = op
    with ir.InsertionPoint.after(fused), reduce.location:
        element = element_type(result)
        assert element is not None
        amax = convert(fused.results[1], element)
    result.replace_all_uses_with(amax)
    erase_with_producers(reduce, _may_go)


def _may_go(op: ir.Operation) -> bool:
    if op.name in _KEPT:
        return _FUSED in op.attributes or is_constraint(op)
    return op.name.startswith(_PURE) and not len(op.regions)
