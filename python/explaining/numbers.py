"""Constants as numbers."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.rewriting.retype import codes_of_constants
from mlir_fp8.lowering.rewriting.stablehlo import element_type


def numbers(op: ir.Operation) -> np.ndarray | None:
    """The values of a constant of floats or integers, in f64 and flat; None for what is none.

    A constant that repeats one number gives that number.
    """
    if op.name != "stablehlo.constant":
        return None
    element = str(element_type(op.results[0]))
    attribute = _attribute(op, "value")
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    if attribute.is_splat:
        one = attribute.get_splat_value()
        if isinstance(one, ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr):
            return np.array([one.value], np.float64)
        return None
    fmt = FORMATS.get(element)
    if fmt is None or fmt.native:
        return np.array(attribute).astype(np.float64).reshape(-1)
    with op.context:
        (codes,) = codes_of_constants([attribute], lambda _: fmt.storage_bits)
    unsigned = np.array(codes).astype(f"uint{fmt.storage_bits}")
    return unsigned.view(fmt.dtype).astype(np.float64).reshape(-1)


def _attribute(op: ir.Operation, name: str) -> ir.Attribute | None:
    try:
        return op.attributes[name]
    except TypeError:  # dense complex numbers, for which the bindings have no class
        return None
