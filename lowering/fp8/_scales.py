"""Scales of quantized values: which value, and how it meets the elements of the data."""

from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
from mlir_fp8.lowering.fp8.scaled_dot.values import rounded, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

_SPREADS = names("stablehlo", "broadcast broadcast_in_dim reshape")


@dataclass(frozen=True)
class Scale:
    """A number, or a tensor of them, that data is divided by and, on the way back, multiplied by.

    `inverse`: multiplied by, and divided by on the way back. `spread` tells how the numbers of
    `root` meet the elements of the data; it is empty where there is one number.
    """

    root: ir.Value
    inverse: bool
    spread: tuple[str, ...]

    def undoes(self, other: "Scale") -> bool:
        """Whether `self` is the same value as `other`, up to a rounding to another wide type."""
        alike = self.inverse == other.inverse and self.spread == other.spread
        return alike and (self.root == other.root or _same_constants(self.root, other.root))

    @property
    def is_plausible(self) -> bool:
        """Whether it is a number, or fewer numbers than there is data: else it is data itself."""
        return bool(self.spread) or _is_number(self.root)


def scale_of(value: ir.Value, *, inverse: bool = False) -> Scale:
    """`value` as a scale: without what spreads it over the data, and not as a reciprocal."""
    spread: list[str] = []
    op = producer(value)
    while op is not None and (op.name in _SPREADS or widens_or_rounds(op)):
        if op.name in _SPREADS:
            attributes = [f"{name}={op.attributes[name]}" for name in op.attributes]
            spread.append(f"{op.name} {attributes} {ir.ShapedType(value.type).shape}")
        value = op.operands[0]
        op = producer(value)
    if _is_number(value):
        spread.clear()
    if op is not None and op.name == "stablehlo.divide" and splat_number(op.operands[0]) == 1:
        inner = scale_of(op.operands[1], inverse=not inverse)
        return Scale(inner.root, inner.inverse, (*spread, *inner.spread))
    return Scale(value, inverse, tuple(spread))


def dialect_scale(op: ir.Operation) -> Scale:
    """The scale of an `fp8.quantize` or `fp8.dequantize`, whose sizes divide those of the data."""
    inverse = "inverse" in op.attributes and op.attributes["inverse"] != ir.BoolAttr.get(False)
    scale = scale_of(op.operands[1], inverse=inverse)
    if _is_number(scale.root):
        return scale
    sizes, shape = (ir.ShapedType(op.operands[i].type).shape for i in (1, 0))
    blocks = f"{sizes} blocks of {shape}"
    return Scale(scale.root, scale.inverse, (blocks, *scale.spread))


def small_format(value: ir.Value) -> FloatFormat | None:
    """The format of a tensor of f8, f6 or f4; None for any other value."""
    fmt = FORMATS.get(str(element_type(value)))
    return fmt if fmt is not None and fmt.is_small else None


def is_wide(value: ir.Value) -> bool:
    """Whether `value` is a tensor of floats of 16 bits or more."""
    return isinstance(element_type(value), ir.FloatType) and small_format(value) is None


def widens_or_rounds(op: ir.Operation) -> bool:
    """Whether `op` converts a float to one of 16 bits or more; from fewer, that is exact."""
    is_float = isinstance(element_type(op.operands[0]), ir.FloatType) if op.operands else False
    return op.name == "stablehlo.convert" and is_float and is_wide(op.results[0])


def _is_number(value: ir.Value) -> bool:
    if splat_number(value) is not None:
        return True
    kind = value.type
    is_static = isinstance(kind, ir.RankedTensorType) and kind.has_static_shape
    return is_static and np.prod(ir.ShapedType(kind).shape) == 1


def _same_constants(a: ir.Value, b: ir.Value) -> bool:
    x, y = splat_number(a), splat_number(b)
    if x is None or y is None:
        return False
    elements = [ir.ShapedType(value.type).element_type for value in (a, b)]
    return x == rounded(y, elements[0]) or y == rounded(x, elements[1])
