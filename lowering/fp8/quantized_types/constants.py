"""Stored numbers of constants, read and made in numpy, and what is lost between two of them."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.dense_numbers import constant_array
from mlir_fp8.base.operations import producer
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.interpreter.dense_values import dense, storage_dtype
from mlir_fp8.lowering.rewriting.retype import codes_of_constants
from mlir_fp8.lowering.rewriting.stablehlo import build, names

_MOVES = names("stablehlo", "broadcast_in_dim convert reshape transpose")
_WIDE = ("f32", "bf16", "f16", "f64")


def float_constant(value: ir.Value) -> np.ndarray | None:
    """The numbers of a constant of floats, wide or small; None for what is no such constant."""
    op = producer(value)
    if op is None or op.name != "stablehlo.constant":
        return None
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    type_ = ir.RankedTensorType(attribute.type)
    element = str(type_.element_type)
    if element in _WIDE:
        return constant_array(attribute)
    if not isinstance(type_.element_type, ir.FloatType):
        return None
    if not attribute:  # of no elements
        return np.zeros(type_.shape, element_dtype(element))
    (codes,) = codes_of_constants([attribute], lambda _: 8)
    return np.array(codes).view(np.uint8).view(element_dtype(element)).reshape(type_.shape)


def known_numbers(value: ir.Value) -> np.ndarray | None:
    """As `float_constant`, of what moves and converts make of a constant too."""
    op = producer(value)
    if op is None or op.name == "stablehlo.constant" or len(op.operands) != 1:
        return float_constant(value)
    inner = known_numbers(op.operands[0]) if op.name in _MOVES else None
    if inner is None:
        return None
    type_ = ir.RankedTensorType(op.results[0].type)
    match op.name:
        case "stablehlo.transpose":
            return inner.transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
        case "stablehlo.convert":
            element = str(type_.element_type)
            return inner.astype(element_dtype(element)) if element in FORMATS else None
        case "stablehlo.broadcast_in_dim":
            places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
            order = np.argsort(places)
            sizes = dict(zip(places, inner.shape, strict=True))
            apart = [sizes.get(dim, 1) for dim in range(type_.rank)]
            return np.broadcast_to(inner.transpose(order).reshape(apart), type_.shape)
        case _:
            return inner.reshape(type_.shape)


def integer_attribute(array: np.ndarray, element: str, context: ir.Context) -> ir.DenseElementsAttr:
    """`array` as a dense constant of the signless integers `element`."""
    return dense(array.astype(storage_dtype(element)), element, context)


def scale_constant(scale: np.ndarray) -> ir.Value:
    """`scale` as a constant of f32 at the current insertion point."""
    type_ = ir.RankedTensorType.get(list(scale.shape), ir.F32Type.get())
    value = dense(np.asarray(scale, np.float32), "f32", type_.context)
    return build("constant", type_, [], {"value": value})


def spread(scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The scale of each element: sizes of `scale` are 1, or divide those of `shape`."""
    if not scale.ndim:
        return np.broadcast_to(scale, shape)
    for axis, (count, size) in enumerate(zip(scale.shape, shape, strict=True)):
        if count not in (1, size):
            scale = scale.repeat(size // count, axis)
    return np.broadcast_to(scale, shape)


def sqnr_text(numbers: np.ndarray, exact: np.ndarray) -> str:
    """The SQNR of `numbers` in words."""
    exact = exact.astype(np.float64)
    noise = float(np.square(numbers.astype(np.float64) - exact).sum())
    signal = float(np.square(exact).sum())
    if noise == 0:
        return "exactly"
    return f"SQNR {10 * np.log10(signal / noise):.1f} dB" if signal else "SQNR 0 dB"
