"""`custom_call @mlir_fp8.exchange`: what simulated devices exchange, in the form between passes."""

from torch_mlir import ir

from mlir_fp8.arrays.exchange import Exchange
from mlir_fp8.base.operations import call_target, operations
from mlir_fp8.dialects.float_formats import NARROW_FLOATS
from mlir_fp8.lowering.rewriting.stablehlo import build, with_element

EXCHANGES = "mlir_fp8.exchanges"
"""On a module, the exchanges that its calls have the numbers of, as JSON."""
_TARGET = "mlir_fp8.exchange"


def exchange_call(exchange: Exchange, result: ir.Type, *operands: ir.Value) -> ir.Value:
    """The result of a new call at the insertion point, of one operand or none.

    Narrow floats are exchanged as integers of their codes.
    """
    if (fmt := NARROW_FLOATS.get(str(ir.RankedTensorType(result).element_type))) is not None:
        code = ir.IntegerType.get_signless(fmt.bits)
        codes = [build("bitcast_convert", with_element(x.type, code), [x]) for x in operands]
        got = exchange_call(exchange, with_element(result, code), *codes)
        return build("bitcast_convert", result, [got])
    text = ir.StringAttr.get
    attributes = {
        "call_target_name": text(_TARGET),
        "backend_config": text(exchange.to_json()),
        "has_side_effect": ir.BoolAttr.get(value=True),
    }
    op = ir.Operation.create(
        "stablehlo.custom_call", results=[result], operands=operands, attributes=attributes
    )
    return op.results[0]


def is_exchange(op: ir.Operation) -> bool:
    """Whether `op` is such a call."""
    return op.name == "stablehlo.custom_call" and call_target(op) == _TARGET


def exchanges(module: ir.Operation) -> list[ir.Operation]:
    """All such calls."""
    return list(filter(is_exchange, operations(module, "stablehlo.custom_call")))


def exchange_of(call: ir.Operation) -> Exchange:
    """What `call` asks for."""
    return Exchange.from_json(ir.StringAttr(call.attributes["backend_config"]).value)
