"""Uniform quantized types of MLIR taken apart and made: scales, zero points, axis or blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import quant as quant_dialect

from mlir_fp8.base.dense_numbers import constant_array, integer_constant
from mlir_fp8.dialects.float_formats import FORMATS

# The bindings have no stubs for its types.
quant: Any = quant_dialect
_UNIFORM = (
    quant.UniformQuantizedType,
    quant.UniformQuantizedPerAxisType,
    quant.UniformQuantizedSubChannelType,
)


@dataclass(frozen=True)
class Quantization:
    """One scale and zero point, one each per index of dimension `axis`, or per block.

    `blocks` has for each dimension that is cut into blocks their size; `scales` and `zero_points`
    are then in row-major order of the blocks, whose numbers along each dimension are `counts`.
    """

    storage: ir.Type
    """Signless or, for unsigned storage, unsigned: StableHLO's own spelling of integers. A float
    where floats are stored."""
    expressed: ir.Type
    least: int
    largest: int
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None
    blocks: tuple[tuple[int, int], ...] = ()
    counts: tuple[int, ...] = ()

    @property
    def is_float(self) -> bool:
        """Whether small floats are stored."""
        return isinstance(self.storage, ir.FloatType)


def storage_type(type_: Any) -> ir.Type:
    """The integer or float type that holds a quantized element; any other element type itself."""
    if not isinstance(type_, _UNIFORM):
        return type_
    if isinstance(type_.storage_type, ir.FloatType):
        return type_.storage_type
    width = ir.IntegerType(type_.storage_type).width
    signless = ir.IntegerType.get_signless(width, type_.context)
    return signless if type_.is_signed else ir.IntegerType.get_unsigned(width, type_.context)


def read_uniform(type_: Any, shape: Sequence[int] | None) -> Quantization | str:
    """How elements of `type_` in a tensor of `shape` are quantized, or what is wrong with it.

    `shape` is None where sizes are open, which blocks take none of.
    """
    if not isinstance(type_, _UNIFORM):
        return f"is of {type_}: only quantization by known scales is compiled"
    expressed = FORMATS.get(str(type_.expressed_type))
    if expressed is None or max(type_.storage_type_max, -type_.storage_type_min) > expressed.max:
        return f"is of {type_}, whose storage goes beyond the expressed type's range"
    storage, kind = storage_type(type_), type_.expressed_type
    ends = (storage, kind, type_.storage_type_min, type_.storage_type_max)
    if isinstance(type_, quant.UniformQuantizedType):
        found = Quantization(*ends, (type_.scale,), (type_.zero_point,), None)
    elif isinstance(type_, quant.UniformQuantizedPerAxisType):
        axis = type_.quantized_dimension
        if shape is not None and (axis >= len(shape) or shape[axis] not in (len(type_.scales), -1)):
            return f"is of {type_}, with {len(type_.scales)} scales along dimension {axis}"
        found = Quantization(*ends, tuple(type_.scales), tuple(type_.zero_points), axis)
    else:
        found = _of_blocks(type_, shape, ends)
        if isinstance(found, str):
            return found
    if found.is_float and any(found.zero_points):
        return f"is of {type_}: floats are stored without a zero point"
    return found


def _of_blocks(
    type_: Any, shape: Sequence[int] | None, ends: tuple[ir.Type, ir.Type, int, int]
) -> Quantization | str:
    """The quantization of a sub-channel type, whose blocks are whole."""
    sizes = dict(zip(type_.quantized_dimensions, type_.block_sizes, strict=True))
    scales = constant_array(type_.scales).astype(np.float64)
    if shape is None or any(dim >= len(shape) or shape[dim] % n for dim, n in sizes.items()):
        return f"is of {type_}, whose blocks are not whole"
    wanted = [size // sizes[dim] if dim in sizes else 1 for dim, size in enumerate(shape)]
    if list(scales.shape) != wanted:
        return f"is of {type_}, with scales for {list(scales.shape)} blocks where {wanted} are"
    if isinstance(ends[0], ir.FloatType):
        return f"is of {type_}: no type stores floats in blocks"
    zeros = tuple(integer_constant(type_.zero_points, str(ends[0])).ravel().tolist())
    found = tuple(float(each) for each in scales.ravel())
    return Quantization(*ends, found, zeros, None, tuple(sizes.items()), tuple(wanted))


def uniform_type(q: Quantization) -> ir.Type:
    """The type that `q` describes."""
    storage = str(q.storage).replace("ui", "u")
    if not q.is_float:
        storage = f"{storage}<{q.least}:{q.largest}>"
    pairs = zip(q.scales, q.zero_points, strict=True)
    # Not `repr`: MLIR does not read 1e-05, which has no point.
    texts = [f"{scale:.17e}" + (f":{zero}" if zero else "") for scale, zero in pairs]
    if q.blocks:
        sizes = ", ".join(f"{dim}:{size}" for dim, size in q.blocks)
        layout = f":{{{sizes}}}, {_nested(np.array(texts, object).reshape(q.counts))}"
    elif q.axis is not None:
        layout = f":{q.axis}, {{{', '.join(texts)}}}"
    else:
        layout = f", {texts[0]}"
    return ir.Type.parse(f"!quant.uniform<{storage}:{q.expressed}{layout}>", q.storage.context)


def _nested(texts: np.ndarray) -> str:
    if not texts.ndim:
        return str(texts)
    return "{" + ", ".join(_nested(np.asarray(each, object)) for each in texts) + "}"
