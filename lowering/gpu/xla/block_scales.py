"""Scales of a dot's operands in blocks along what is contracted, as a kernel of products has them.

With the `operand_type` f32 an operand is scaled in f32 before it is multiplied. A kernel multiplies
sums over 128 of K by the product of both scales: by the real numbers the same, each within a few
roundings to f32, as long as a product of scales neither over- nor underflows.
"""

import dataclasses
import math
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.dialects._fp8_product_parts import Product as Parts
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.gpu.kernels.product.blocks import SPAN, Blocks
from mlir_fp8.lowering.gpu.xla.product_dims import Dims, dims_of, permuted, reshaped
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type

_OTHERS = {"a_scale": None, "b_scale": None, "a_inverse": False, "b_inverse": False}


@dataclasses.dataclass(frozen=True)
class BlockScales:
    """Those of A and of B, each if it has any, and the dot without them."""

    parts: Parts
    dims: Dims
    blocks: tuple[Blocks | None, Blocks | None]
    rest: Parts

    @property
    def change_along_k(self) -> bool:
        return has_blocks(self.parts.op)

    @property
    def has_no_other(self) -> bool:
        """Whether XLA has no product of them, as `fp8-to-block-scaled-dot` writes of f8 scales."""
        scales = [each for each in (self.parts.a_scale, self.parts.b_scale) if each is not None]
        of_f8 = len(scales) == 2 and all("f8" in str(element_type(each)) for each in scales)
        return self.change_along_k and not of_f8

    def built(self) -> list[ir.Value]:
        """The scales as the kernel takes them, f32, at the current insertion point."""
        parts, found = self.parts, list[ir.Value]()
        sides = ((parts.a_scale, parts.a_inverse), (parts.b_scale, parts.b_inverse))
        for side, ((scale, divides), blocks) in enumerate(zip(sides, self.blocks, strict=True)):
            if scale is not None and blocks is not None:
                order = _order(self.dims, side, by_k=blocks.by_k)
                found.append(_matrix(scale, order, divides=divides))
        return found


def has_blocks(op: ir.Operation) -> bool:
    """Whether a scale of an operand of an `fp8.scaled_dot` changes along what is contracted."""
    parts, dims = product_parts(op), dims_of(op)
    scales = zip((parts.a_scale, parts.b_scale), dims.contracted, strict=True)
    shapes = [(ir.RankedTensorType(x.type), of) for x, of in scales if x is not None]
    return any(type_.shape[i] != 1 for type_, of in shapes if type_.rank for i in of)


def block_scales_of(parts: Parts, dims: Dims) -> BlockScales | str | None:
    """The scales of operands that are scaled before they are multiplied; None: it has none.

    Or why no kernel has them.
    """
    if parts.operand_type is None or (parts.a_scale is None and parts.b_scale is None):
        return None
    if str(parts.operand_type) != "f32":
        return f"its scaled operands are rounded to {parts.operand_type}, not to f32"
    found: list[Blocks | None] = []
    for side, (scale, data) in enumerate(((parts.a_scale, parts.a), (parts.b_scale, parts.b))):
        blocks = None if scale is None else _blocks(scale, data, dims, side)
        if isinstance(blocks, str):
            return blocks
        found.append(blocks)
    rest = dataclasses.replace(parts, operand_type=None, **_OTHERS)
    return BlockScales(parts, dims, (found[0], found[1]), rest)


def _blocks(scale: ir.Value, data: ir.Value, dims: Dims, side: int) -> Blocks | str:
    sizes, wanted = (list(ir.RankedTensorType(x.type).shape) for x in (scale, data))
    sizes = sizes or [1] * len(wanted)
    free, contracted = dims.rows(side), dims.contracted[side]
    rows, k = (
        _flat_block([sizes[i] for i in each], [wanted[i] for i in each])
        for each in (free, contracted)
    )
    if rows is None or k is None:
        return "blocks of its scales are no blocks of a matrix"
    if k == math.prod(wanted[i] for i in contracted):
        k = -(-k // SPAN) * SPAN
    by_k = _order(dims, side, by_k=True) == sorted([*free, *contracted])
    return Blocks(rows, k, by_k or (side == 1 and rows == 1))


def _flat_block(sizes: Sequence[int], wanted: Sequence[int]) -> int | None:
    """How many neighbours have one scale when dimensions become one; None: they are none.

    Outer dimensions have a scale for each index, one may have blocks, those in it one for all.
    """
    pairs = [(size, whole) for size, whole in zip(sizes, wanted, strict=True) if whole > 1]
    while pairs and pairs[0][0] == pairs[0][1]:
        pairs.pop(0)
    if any(size != 1 for size, _ in pairs[1:]):
        return None
    return math.prod(whole for _, whole in pairs) // math.prod(size for size, _ in pairs)


def _order(dims: Dims, side: int, *, by_k: bool) -> list[int]:
    free, contracted = dims.rows(side), dims.contracted[side]
    return [*contracted, *free] if by_k else [*free, *contracted]


def _matrix(scale: ir.Value, order: list[int], *, divides: bool) -> ir.Value:
    """A scale of rank 0, or the rank of its operand, as numbers one after the other."""
    scale = convert(scale, ir.F32Type.get(scale.type.context))
    if ir.RankedTensorType(scale.type).rank:
        scale = permuted(scale, order)
    if divides:
        scale = build("divide", scale.type, [number(scale.type, 1.0), scale])
    return reshaped(scale, [math.prod(ir.RankedTensorType(scale.type).shape)])
