"""Bit-packed f6 and f4 between passes: a custom call, then a call of a function that unpacks them.

Kernels read the packed codes in place of what the function gives.
"""

import re

from torch_mlir import ir

from mlir_fp8.base.operations import call_target
from mlir_fp8.dialects.float_formats import FORMATS

_TARGET = "mlir_fp8.unpack"
_FUNCTION = re.compile(r"mlir_fp8_unpack_(\d)_\d+")


def unpack_call(packed: ir.Value, type_: ir.Type) -> ir.Value:
    """The result of a new custom call at the insertion point: `packed`, of ui8, as `type_`."""
    attributes: dict[str, ir.Attribute] = {"call_target_name": ir.StringAttr.get(_TARGET)}
    op = ir.Operation.create(
        "stablehlo.custom_call", results=[type_], operands=[packed], attributes=attributes
    )
    return op.results[0]


def is_unpack(op: ir.Operation) -> bool:
    """Whether `op` is such a custom call."""
    return op.name == "stablehlo.custom_call" and call_target(op) == _TARGET


def function_name(element: str, number: int) -> str:
    """The name of a function that unpacks numbers of `element`."""
    return f"mlir_fp8_unpack_{FORMATS[element].bits}_{number}"


def unpacked_bits(op: ir.Operation) -> int:
    """The bits of the codes that `op` unpacks, a call of such a function; else 0."""
    if op.name != "func.call":
        return 0
    match = _FUNCTION.fullmatch(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
    return int(match[1]) if match else 0
