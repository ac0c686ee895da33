"""numpy arrays and MLIR's dense constants, of every element type: float8 and sub-byte ones too.

The bindings read no float8 constants and build none from complex arrays; bytes are what they take.
Integers narrower than a byte are held in int8 and uint8 arrays.
"""

import re
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype, whole_bytes
from mlir_fp8.dialects.float_formats import FORMATS

_NARROW_INTEGER = re.compile(r"(u?)i[1-7]")
# MLIR prints longer constants as hexadecimal bytes.
_BLOCK = 64


def storage_dtype(element: str) -> np.dtype:
    """The dtype that holds an element type: as `element_dtype`, and int8 or uint8 for i2 to ui7."""
    narrow = _NARROW_INTEGER.fullmatch(element)
    if narrow and element != "i1":
        return np.dtype(np.uint8 if narrow[1] else np.int8)
    return element_dtype(element)


def dense(array: np.ndarray, element: str, context: ir.Context) -> ir.DenseElementsAttr:
    """The constant with the values of `array`, whose dtype is that of `element`."""
    with context, ir.Location.unknown():
        type_ = ir.Type.parse(element)
        data: Any = np.ascontiguousarray(whole_bytes(array))
        if element in FORMATS:
            data = data.view(f"uint{FORMATS[element].storage_bits}")
        elif data.dtype.kind == "c":
            data = np.ascontiguousarray(data.reshape(-1)).view(np.uint64)
        return ir.DenseElementsAttr.get(data, type=type_, shape=list(array.shape))


def element_texts(array: np.ndarray, element: str, context: ir.Context) -> list[str]:
    """Every element as MLIR prints it, in row-major order; complex ones as `[real, imaginary]`."""
    flat = array.reshape(-1)
    if element == "i1":
        return ["true" if value else "false" for value in flat]
    if element not in FORMATS and flat.dtype.kind in "iu":
        return [str(value) for value in flat]
    if flat.dtype.kind == "c":
        part = element.removeprefix("complex<").removesuffix(">")
        both = [
            element_texts(np.ascontiguousarray(p), part, context)
            for p in (np.real(flat), np.imag(flat))
        ]
        return [f"[{real}, {imaginary}]" for real, imaginary in zip(*both, strict=True)]
    texts: list[str] = []
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        printed = str(dense(block, element, context)).removeprefix("dense<").partition("> : ")[0]
        parts = printed.strip("[]").split(", ")
        texts += parts if len(parts) == block.size else parts * block.size
    return texts
