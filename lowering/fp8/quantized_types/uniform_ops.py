"""`fp8.uniform_quantize` and `fp8.uniform_dequantize` as ops of scaled FP8."""

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer, replace_op
from mlir_fp8.dialects.uniform_types import Quantization, read_uniform
from mlir_fp8.lowering.fp8.quantized_types.storage import WIDE, Remark, Storage, is_wide
from mlir_fp8.lowering.fp8.scaling.quantizers import erase_unused
from mlir_fp8.lowering.rewriting.stablehlo import build, build_op, with_element

_QUANTIZE, _DEQUANTIZE = "fp8.uniform_quantize", "fp8.uniform_dequantize"
_UNKNOWN = f"what it reads is no constant, and not of an {_QUANTIZE} of its type"


def scale_uniform_ops(module: ir.Operation, storage: Storage) -> list[Remark]:
    """Rewrite ops of floats that types store, and on integers what is quantized and read back.

    What reads integers that come from elsewhere stays, with a remark.
    """
    remarks: list[Remark] = []
    for op in operations(module, _QUANTIZE, _DEQUANTIZE):
        value = op.results[0]
        q = read_uniform(ir.TypeAttr(op.attributes["type"]).value, list(value.type.shape))
        assert isinstance(q, Quantization)  # the verifier has seen to that
        with op.location, ir.InsertionPoint(op):
            if q.is_float:
                _scale_floats(op, q, storage)
            elif op.name == _DEQUANTIZE:
                remarks += _scale_integers(op, q, storage)
    return remarks


def _scale_floats(op: ir.Operation, q: Quantization, storage: Storage) -> None:
    value = op.results[0]
    flags = {"saturate": ir.UnitAttr.get()} if op.name == _QUANTIZE else None
    operands = [op.operands[0], storage.scale_of(value, q)]
    replace_op(op, [build_op(op.name.replace("uniform_", ""), value.type, operands, flags)])


def _scale_integers(op: ir.Operation, q: Quantization, storage: Storage) -> list[Remark]:
    before = producer(op.operands[0])
    if before is None or is_wide(q) or str(q.expressed) not in (*WIDE, "f64"):
        return [(op.location, f"'{op.name}' stays: {_UNKNOWN}")]
    type_ = with_element(op.operands[0].type, ir.Type.parse(storage.format))
    remarks: list[Remark] = []
    if before.name == "stablehlo.constant":
        value, lost = storage.constant(before.attributes["value"], type_, q)
        stored = build("constant", type_, [], {"value": value})
        remarks.append((before.location, f"a constant {before.results[0].type} {lost}"))
    elif before.name == _QUANTIZE and before.attributes["type"] == op.attributes["type"]:
        stored = storage.stored(before.operands[0], q, type_)
    else:
        return [(op.location, f"'{op.name}' stays: {_UNKNOWN}")]
    scale = storage.scale_of(op.results[0], q)
    replace_op(op, [build_op("fp8.dequantize", op.results[0].type, [stored, scale])])
    erase_unused([before])
    return remarks
