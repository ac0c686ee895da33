"""`fp8-to-block-scaled-dot`: `fp8.scaled_dot` with scales of blocks, as JAX and XLA write them."""

import dataclasses
import json
from typing import Any

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.fp8 import Product, product_parts
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._emulation import enclosing_module
from mlir_fp8.lowering.fp8._block_scaled_dots import (
    COMPOSITE,
    CONFIG,
    CUSTOM_CALL,
    DEQUANTIZE_TYPES,
    DIMENSIONS,
    PREFERRED,
    no_block_scaled_dot,
    scaled_operands,
)
from mlir_fp8.lowering.fp8.ops.functions import Decompositions
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.fp8.scaling.block_operands import arranged
from mlir_fp8.lowering.fp8.scaling.decisions import print_remarks, signature
from mlir_fp8.lowering.rewriting.composites import replace_by_composite
from mlir_fp8.lowering.rewriting.stablehlo import build

FORMS = ("custom-call", "composite", "hlo")


@dataclasses.dataclass(frozen=True)
class Fp8ToBlockScaledDot(ModulePass):
    """Rewrite dots with scales of blocks to what XLA runs as such; `block-scaled-dot-to-fp8` back.

    `form` is custom-call, `__op$block_scaled_dot`, which XLA:GPU on cuda hands to cuDNN or
    dequantizes itself, or composite, `xla.scaled_dot`, whose decomposition any reader runs: it
    dequantizes in bf16, so that others stay, or hlo, the same as a custom call of that name, which
    HLO text and protocol buffers have as `scaled-dot`. Operands of `__op$block_scaled_dot` are
    brought to `[B, M, K]` and `[B, N, K]`. `remarks` says on stderr why an op stays as it is.
    """

    form: str = "custom-call"
    remarks: bool = False

    def run(self, module: ir.Operation) -> None:
        if self.form not in FORMS:
            raise Fp8Error(f"option 'form' is one of {', '.join(FORMS)}, not '{self.form}'")
        left: list[tuple[ir.Location, str]] = []
        functions: dict[ir.Operation, Decompositions] = {}
        with module.context:
            for op in operations(module, "fp8.scaled_dot"):
                parts = product_parts(op)
                reason = (
                    no_block_scaled_dot(parts)
                    or (self.form != "custom-call" and _no_bf16(parts))
                    or ""
                )
                if reason:
                    left.append((op.location, f"'{op.name}' {signature(op)} stays: it {reason}"))
                elif self.form == "composite":
                    around = enclosing_module(op)
                    known = functions.setdefault(around, Decompositions(around))
                    _to_composite(parts, known)
                elif self.form == "hlo":
                    _to_scaled_dot(parts)
                else:
                    _to_custom_call(parts)
        if self.remarks:
            print_remarks(left)


def _no_bf16(parts: Product) -> str:
    if parts.operand_type == ir.BF16Type.get():
        return ""
    return f"dequantizes in {parts.operand_type}, where this form does in bf16"


def _to_custom_call(parts: Product) -> None:
    op = parts.op
    result = ir.RankedTensorType(op.results[0].type)
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batching = [list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)]
    summed = [list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)]
    with ir.InsertionPoint(op), op.location:
        operands = [
            _matrices(value, batching[side], summed[side])
            for side, value in enumerate((parts.a, parts.b))
        ]
        for side, (data, scale) in enumerate(scaled_operands(parts)):
            full = _full(scale, data, summed[side][0])
            operands.append(_matrices(full, batching[side], summed[side]))
        shape = [
            ir.RankedTensorType(operands[0].type).shape[0],
            *(ir.RankedTensorType(each.type).shape[1] for each in operands[:2]),
        ]
        made = _custom_call(operands, with_shape(op.results[0], shape), parts.operand_type)
        replace_op(op, [made if made.type == result else build("reshape", result, [made])])


def _custom_call(
    operands: list[ir.Value], result: ir.Type, operand_type: ir.Type | None
) -> ir.Value:
    (name,) = (key for key, text in DEQUANTIZE_TYPES.items() if text == str(operand_type))
    config = {"lhs_batch_dimensions": [0], "rhs_batch_dimensions": [0], "dequantize_type": name}
    layout = ir.Attribute.parse("dense<[2, 1, 0]> : tensor<3xindex>")
    attributes = {
        "call_target_name": ir.StringAttr.get(CUSTOM_CALL),
        "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2),
        "backend_config": ir.StringAttr.get(json.dumps({CONFIG: config})),
        "operand_layouts": ir.ArrayAttr.get([layout] * len(operands)),
        "result_layouts": ir.ArrayAttr.get([layout]),
    }
    return build("custom_call", result, operands, attributes)


def _matrices(x: ir.Value, batching: list[int], summed: list[int]) -> ir.Value:
    """`x` as `[batch, rows, summed]`, of one dimension each."""
    x = arranged(x, batching, summed)
    *kept, last = ir.RankedTensorType(x.type).shape
    batch = rows = 1
    for dim, size in enumerate(kept):
        batch, rows = (batch * size, rows) if dim < len(batching) else (batch, rows * size)
    type_ = with_shape(x, [batch, rows, last])
    return x if x.type == type_ else build("reshape", type_, [x])


def _full(scale: ir.Value, data: ir.Value, summed: int) -> ir.Value:
    """`scale` with an element of its own for each index of all dimensions but `summed`."""
    shape = list(ir.RankedTensorType(data.type).shape)
    shape[summed] = ir.RankedTensorType(scale.type).shape[summed]
    return broadcast(scale, with_shape(scale, shape), list(range(len(shape))))


def _to_composite(parts: Product, functions: Decompositions) -> None:
    op = parts.op
    i64 = ir.IntegerType.get_signless(64)

    def nested(value: Any) -> ir.Attribute:
        if isinstance(value, int):
            return ir.IntegerAttr.get(i64, value)
        return ir.ArrayAttr.get([nested(each) for each in value])

    element = ir.RankedTensorType(op.results[0].type).element_type
    _fill_scales(parts)
    with op.location:
        numbers = nested(_dimension_numbers(op))
        entries = ir.DictAttr.get({DIMENSIONS: numbers, PREFERRED: ir.TypeAttr.get(element)})
    function = functions.of(op, entries, COMPOSITE)
    replace_by_composite(op, COMPOSITE, entries, function, 0, {})


def _to_scaled_dot(parts: Product) -> None:
    op = parts.op
    _fill_scales(parts)
    attributes = {
        "call_target_name": ir.StringAttr.get(COMPOSITE),
        "backend_config": ir.StringAttr.get(json.dumps({DIMENSIONS: _dimension_numbers(op)})),
    }
    with ir.InsertionPoint(op), op.location:
        made = build("custom_call", op.results[0].type, list(op.operands)[:4], attributes)
    replace_op(op, [made])


def _fill_scales(parts: Product) -> None:
    """Let each scale have an element for each index of what is not summed."""
    op = parts.op
    summed = _dimension_numbers(op)[0]
    with ir.InsertionPoint(op), op.location:
        for side, (data, scale) in enumerate(scaled_operands(parts)):
            op.operands[2 + side] = _full(scale, data, summed[side][0])


def _dimension_numbers(op: ir.Operation) -> list[list[list[int]]]:
    """As JAX has them: contracting dimensions of both sides, then batching ones."""
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    return [
        [list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)],
        [list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)],
    ]
