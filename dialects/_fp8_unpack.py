"""`fp8.unpack`: f6 and f4 that lie bit-packed in bytes."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import ext

from mlir_fp8.dialects._fp8_attributes import attributes_refusal
from mlir_fp8.dialects._fp8_dialect import Fp8, report
from mlir_fp8.dialects.float_formats import SMALL_FLOATS

SHORT = {name: fmt.bits for name, fmt in SMALL_FLOATS.items() if fmt.bits < 8}
"""The bits of the formats that are packed."""


class UnpackCodes(Fp8.Operation, name="unpack", traits=[ext.Pure]):
    """The f4 or f6 numbers of `packed`, bytes of ui8 without gaps between codes along the last
    dimension: two f4 of each byte, four f6 of three.

    The bits of a row are those of its bytes one after the other, each from its lowest bit on; code
    i of a row has the bits from i * bits on. So the first f4 is the low half of a byte, as
    `stablehlo.bitcast_convert`, torch's float4_e2m1fn_x2 and safetensors' F4 have it.
    """

    packed: ir.Value[Any]
    result: ir.OpResult[Any]

    @staticmethod
    def verify_invariants(op: Any) -> bool:
        return report(op, unpack_refusal(op.operation))


def packed_size(element: str, count: int) -> int | None:
    """The bytes of `count` codes that lie side by side; None where these are not whole bytes."""
    codes = {4: 2, 6: 4}[SHORT[element]]
    return None if count % codes else count * SHORT[element] // 8


def unpack_refusal(op: ir.Operation) -> str:
    """What is wrong with an `fp8.unpack`, or nothing."""
    if len(op.operands) != 1 or len(op.results) != 1:
        return "takes a tensor and gives one"
    packed, result = op.operands[0].type, op.results[0].type
    if not all(isinstance(each, ir.RankedTensorType) and each.rank for each in (packed, result)):
        return f"takes tensors of rank 1 or more, not {packed} to {result}"
    if not packed.has_static_shape or not result.has_static_shape:
        return f"takes static shapes, not {packed} to {result}"
    element = str(result.element_type)
    if element not in SHORT or str(packed.element_type) != "ui8":
        return f"takes ui8 and gives one of {', '.join(SHORT)}, not {packed} to {result}"
    *outer, last = result.shape
    size = packed_size(element, last)
    if size is None:
        return f"gives {last} numbers of {element} side by side, which are no whole bytes"
    if [*outer, size] != list(packed.shape):
        return f"takes {packed} for {result}: that is {'x'.join(map(str, [*outer, size]))} of ui8"
    return attributes_refusal(op, {})
