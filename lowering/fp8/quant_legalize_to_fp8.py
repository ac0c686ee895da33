"""`quant-legalize-to-fp8`: casts of the `quant` dialect as ops that round."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects.fp8 import REFUSALS
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.dialects.uniform_types import storage_type
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.rewriting.retype import element_type
from mlir_fp8.lowering.rewriting.stablehlo import with_element

_CASTS = ("quant.qcast", "quant.dcast", "quant.scast")
_CAST = "builtin.unrealized_conversion_cast"


@dataclass(frozen=True)
class QuantLegalizeToFp8(ModulePass):
    """Turn `quant.qcast` and `quant.dcast` into `fp8.uniform_quantize` and `.uniform_dequantize`.

    MLIR folds a `quant.dcast` of a `quant.qcast` to what was cast, as if nothing were rounded;
    these ops stay. MLIR's own casts are between them and values of quantized types, and in the
    place of `quant.scast`.
    """

    def run(self, module: ir.Operation) -> None:
        for op in operations(module, *_CASTS):
            load_fp8_dialect(module.context)
            with op.location, ir.InsertionPoint(op):
                _legalize(op)


def _legalize(op: ir.Operation) -> None:
    given, result = op.operands[0], op.results[0].type
    if not all(isinstance(each, ir.RankedTensorType) for each in (given.type, result)):
        raise op_error(op, f"from {given.type} to {result}: only ranked tensors are compiled")
    if op.name == "quant.scast":
        replace_op(op, [_cast(given, result)])
        return
    is_quantize = op.name == "quant.qcast"
    quantized = element_type(result if is_quantize else given.type)
    element = storage_type(quantized)
    stored = with_element(given.type, element)
    if element == quantized:
        raise op_error(op, f"is of {quantized}: only quantization by known scales is compiled")
    name = "fp8.uniform_quantize" if is_quantize else "fp8.uniform_dequantize"
    made = ir.Operation.create(
        name,
        results=[stored if is_quantize else result],
        operands=[given if is_quantize else _cast(given, stored)],
        attributes={"type": ir.TypeAttr.get(quantized)},
    )
    if reason := REFUSALS[name](made):
        raise op_error(op, reason)
    replace_op(op, [_cast(made.results[0], result) if is_quantize else made.results[0]])


def _cast(value: ir.Value, type_: ir.Type) -> ir.Value:
    if value.type == type_:
        return value
    return ir.Operation.create(_CAST, results=[type_], operands=[value]).results[0]
