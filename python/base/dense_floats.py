"""The numbers of dense constants of wide floats, of which the bindings read all but bf16."""

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
