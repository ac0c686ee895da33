"""The numbers of dense constants: wide floats, bf16 too, and integers of any width."""

import ml_dtypes
import numpy as np
from torch_mlir import ir

_HEXADECIMAL = 'dense<"0x'


def constant_array(value: ir.Attribute) -> np.ndarray:
    """The numbers of a dense constant of f32, bf16 or f16."""
    type_ = ir.RankedTensorType(ir.DenseElementsAttr(value).type)
    if str(type_.element_type) != "bf16":
        return np.array(value)
    text = str(value)  # which is all that the bindings give of bf16
    if text.startswith(_HEXADECIMAL):
        data = bytes.fromhex(text[len(_HEXADECIMAL) : text.index('"', len(_HEXADECIMAL))])
        return np.frombuffer(data, ml_dtypes.bfloat16).reshape(type_.shape)
    same = ir.RankedTensorType.get(type_.shape, ir.F32Type.get())
    wide = ir.Attribute.parse(f"{text[: text.rindex(' : ')]} : {same}")
    return np.array(wide).astype(ml_dtypes.bfloat16)


def integer_constant(attribute: ir.Attribute, storage: str) -> np.ndarray:
    """The numbers that a dense constant of integers holds as `storage`, such as ui8, as int64."""
    type_ = ir.RankedTensorType(ir.DenseElementsAttr(attribute).type)
    bits = int(storage.lstrip("ui"))
    if bits % 8:  # of which the bindings read none: one byte holds each
        text = str(attribute)
        with ir.Location.unknown(attribute.context):
            byte = ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_signless(8))
            attribute = ir.Attribute.parse(f"{text[: text.rindex(' : ')]} : {byte}")
    array = np.array(attribute).astype(np.int64) & ((1 << bits) - 1)
    return array if storage.startswith("u") else array - ((array >> (bits - 1)) << bits)
