"""Scales: their types and shapes, for every op that takes one.

A scale is the number that a small float is multiplied by to give what it stands for. Its shape is
that of rank 0, one for the whole tensor, or it has the data's rank, and each size divides the
data's: 1 is one for the whole dimension, d one for each index, d/b one for each block of b. Of data
MxK, rows have Mx1, columns 1xK, MX blocks Mx(K/32), 128x128 blocks (M/128)x(K/128).
"""

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS

SCALE_TYPES = ("f32", "bf16", "f16", "f8E8M0FNU", "f8E4M3FN")
"""f8E8M0FNU is what MX has, f8E4M3FN what NVFP4 has."""

DATA_TYPES = tuple(name for name, fmt in SMALL_FLOATS.items() if fmt.signed)
"""What scaled data is of: f8, f6 and f4, without f8E8M0FNU, which has no sign and no zero."""

WIDE_TYPES = tuple(name for name in FORMATS if name not in SMALL_FLOATS)
"""What small floats are quantized from and dequantized to: bf16, f16, f32 and f64."""


def tensor_refusal(type_: ir.Type, what: str) -> str:
    """What is wrong with an operand or result of any kind: it needs a static shape."""
    if not isinstance(type_, ir.RankedTensorType) or type_.encoding is not None:
        return f"has {what} of type {type_}: it is a ranked tensor without encoding"
    if not type_.has_static_shape:
        return f"has {what} of type {type_}, whose shape is open: refine shapes first"
    return ""


def element_refusal(type_: ir.RankedTensorType, what: str, allowed: tuple[str, ...]) -> str:
    """What is wrong with the element type of an operand or result."""
    if str(type_.element_type) in allowed:
        return ""
    return f"has {what} of {type_.element_type}: it is one of {', '.join(allowed)}"


def scale_refusal(scale: ir.RankedTensorType, data: ir.RankedTensorType, what: str) -> str:
    """What is wrong with a scale of `data`, or nothing."""
    reason = element_refusal(scale, what, SCALE_TYPES)
    if reason or scale.rank == 0:
        return reason
    if scale.rank != data.rank:
        ranks = "0" if data.rank == 0 else f"0 or {data.rank}"
        return f"has {what} of type {scale} for {data}: its rank is {ranks}"
    for dim, (size, of) in enumerate(zip(scale.shape, data.shape, strict=True)):
        if size not in (1, of) and (size == 0 or of == 0 or of % size):
            return (
                f"has {what} of type {scale} for {data}: size {size} of dimension {dim} "
                f"does not divide {of}"
            )
    return ""
