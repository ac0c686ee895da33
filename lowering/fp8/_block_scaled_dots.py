"""Dots with scales of blocks as XLA has them: names, and the forms of their attributes."""

from typing import Any

from torch_mlir import ir

CUSTOM_CALL = "__op$block_scaled_dot"
"""Of operands `[B, M, K]`, `[B, N, K]` and their scales, in xla/service/gpu/cublas_cudnn.h."""
COMPOSITE = "xla.scaled_dot"
CONFIG = "scaled_dot_backend_config"
DIMENSIONS = "dimension_numbers"
PREFERRED = "preferred_element_type"
DEQUANTIZE_TYPES = {"BF16": "bf16", "F16": "f16", "F32": "f32"}


def nested_integers(attribute: ir.Attribute) -> Any:
    """The integers of an attribute, in lists as it has them; `TypeError` for any other."""
    if isinstance(attribute, ir.ArrayAttr):
        return [nested_integers(each) for each in attribute]
    if isinstance(attribute, ir.IntegerAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.DenseIntElementsAttr):
        return [attribute[index] for index in range(len(attribute))]
    raise TypeError(f"{attribute} is no list of integers")
