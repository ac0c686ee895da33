"""`stablehlo-legalize-quantized-ops`: quantized tensors become their storage, arithmetic floats.

The specification's semantics of an op on quantized types: dequantize the operands, compute in the
expressed type, quantize the result. Dots of bytes over f32 sum integers instead, exactly, and round
where they are scaled. (Upstream's `stablehlo-legalize-quant-to-math` requantizes
integers in another rounding, and takes few ops per axis.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, read_instead, replace_op
from mlir_fp8.dialects.uniform_types import storage_type
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._quantized import (
    MOVES,
    REFUSED,
    dequantize,
    is_quantized,
    quantization,
    quantize,
)
from mlir_fp8.lowering.arithmetic._quantized_dots import becomes_integer_dot
from mlir_fp8.lowering.rewriting.retype import retype_signatures, retype_values
from mlir_fp8.lowering.rewriting.stablehlo import build, has_static_shape, names, with_element

_CAST = "builtin.unrealized_conversion_cast"
_SOURCES = (
    names("stablehlo", "bitcast_convert constant custom_call uniform_quantize")
    | names("func", "func")
    | {_CAST}
)
_DIALECTS = ("stablehlo", "chlo", "func", "builtin")


@dataclass(frozen=True)
class StablehloLegalizeQuantizedOps(ModulePass):
    """Turn quantized types into their storage, and ops that compute on them into float ones.

    Dots of quantized bytes, up to a sum that i32 holds, are dots of integers; those of floats and
    quantized numbers (hybrid), convolutions too, dequantize the latter. Types are per tensor or per
    axis; values of others only move (`quant-legalize-to-fp8`).
    """

    def run(self, module: ir.Operation) -> None:
        ops = operations(module)
        # All that is quantized comes of these: elsewhere there is no need to look.
        if not any(op.name in _SOURCES and _is_quantized(op) for op in ops):
            return
        found = [op for op in ops if _is_quantized(op)]
        casts = [op for op in found if op.name == _CAST]
        for op in found:
            _check(op)
            if op.name in _SPECIAL or op.name not in (*MOVES, _CAST):
                with op.location, ir.InsertionPoint(op):
                    _SPECIAL.get(op.name, _compute)(op)
        ops = operations(module)
        with ir.Location.unknown(module.context):
            retype_values(ops, storage_type)
            retype_signatures(ops, storage_type)
            for op in casts:
                _undo(op)


def _is_quantized(op: ir.Operation) -> bool:
    values = [*op.operands, *op.results]
    values += [argument for region in op.regions for b in region for argument in b.arguments]
    if any(map(is_quantized, values)):
        return True
    return op.name == "func.func" and "!quant." in str(op.attributes["function_type"])


def _check(op: ir.Operation) -> None:
    if op.name.partition(".")[0] not in _DIALECTS or op.name in REFUSED:
        raise op_error(op, "on quantized types has no lowering: dequantize its operands")
    for value in (*op.operands, *op.results):
        if quantization(op, value) and op.name not in MOVES and not has_static_shape(value):
            raise op_error(op, f"on {value.type} needs a static shape")


def _undo(op: ir.Operation) -> None:
    """A cast between a quantized type and what is stored, which are the same type now."""
    given, result = op.operands[0], op.results[0].type
    if given.type != result:
        with op.location, ir.InsertionPoint(op):
            given = build("bitcast_convert", result, [given])  # signless and unsigned
    replace_op(op, [given])


def _quantize(op: ir.Operation) -> None:
    """`uniform_quantize`, of floats or of other quantized numbers."""
    before, after = (quantization(op, value) for value in (op.operands[0], op.results[0]))
    assert after is not None
    number = op.operands[0] if before is None else dequantize(op.operands[0], before)
    replace_op(op, [quantize(number, after, op.results[0].type)])


def _dequantize(op: ir.Operation) -> None:
    before = quantization(op, op.operands[0])
    assert before is not None
    replace_op(op, [dequantize(op.operands[0], before)])


def _constant(op: ir.Operation) -> None:
    """Its value is of signless integers, whatever the storage is."""
    result = op.results[0]
    q = quantization(op, result)
    assert q is not None
    quantized = result.type
    value = op.attributes["value"].type
    if value == with_element(quantized, q.storage):
        return
    result.set_type(value)
    with ir.InsertionPoint.after(op):
        read_instead(result, lambda stored: build("bitcast_convert", quantized, [stored]))


def _compute(op: ir.Operation) -> None:
    if becomes_integer_dot(op):
        return
    for index, operand in enumerate(op.operands):
        q = quantization(op, operand)
        if q is not None:
            op.operands[index] = dequantize(operand, q)
    with ir.InsertionPoint.after(op):
        for result in op.results:
            q = quantization(op, result)
            if q is None:
                continue
            quantized = result.type
            result.set_type(with_element(quantized, q.expressed))
            read_instead(result, partial(quantize, q=q, result=quantized))


_SPECIAL: dict[str, Callable[[ir.Operation], None]] = {
    "stablehlo.constant": _constant,
    "stablehlo.uniform_dequantize": _dequantize,
    "stablehlo.uniform_quantize": _quantize,
}
