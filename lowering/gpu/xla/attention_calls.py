"""The call of a kernel in the place of an `fp8.attention`, and the moves of operands before it."""

import math
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.lowering.fp8.ops.scaling import broadcast, number
from mlir_fp8.lowering.gpu.kernels.attention.kernel import attention_kernel
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
from mlir_fp8.lowering.gpu.xla.attention import FoundAttention
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.products import permuted, reshaped
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, splat

_FARTHEST = 1 << 30
"""An offset as far as this hides, or shows, what one farther does."""


def put_attention(found: FoundAttention, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op."""
    parts, shape, op = found.parts, found.shape, found.parts.op
    with ir.InsertionPoint(op), op.location:
        k = padded(parts.k, 2, shape.stored_keys)
        v = padded(permuted(parts.v, [0, 1, 3, 2]), 3, shape.stored_keys)
        score = (1.0 if parts.scale is None else parts.scale) / math.log(2)
        out = (1.0 if parts.p_factor is None else parts.p_factor) * found.p_range
        factors = [
            _factor(shape, score, [parts.q_scale, parts.k_scale]),
            _factor(shape, out, [parts.v_scale]),
        ]
        offsets = []
        if shape.offsets and parts.offset is not None:
            offsets = [_offsets(parts.offset, shape.offsets)]
        result = ir.RankedTensorType(op.results[0].type)
        sizes = [shape.batch, shape.heads, shape.rows]
        q = reshaped(parts.q, [*sizes, shape.depth])
        made_type = ir.RankedTensorType.get([*sizes, shape.width], result.element_type)
        workspace = ir.RankedTensorType.get([shape.workspace], ir.IntegerType.get_signless(8))
        lse = [ir.RankedTensorType.get(sizes, ir.F32Type.get())] * shape.lse
        operands = [q, k, v, *factors, *offsets]
        made = calls.build(attention_kernel(shape), operands, [made_type, *lse, workspace])
        for old, new in zip(op.results, made, strict=False):
            old.replace_all_uses_with(reshaped(new, list(ir.RankedTensorType(old.type).shape)))
    op.erase()


def padded(x: ir.Value, dim: int, size: int, behind: float = 0.0) -> ir.Value:
    """`x` with numbers `behind` those of one dimension."""
    type_ = ir.RankedTensorType(x.type)
    sizes = list(type_.shape)
    added = [0] * len(sizes)
    added[dim] = size - sizes[dim]
    if not added[dim]:
        return x
    sizes[dim] = size
    none = [0] * len(sizes)
    edges = {"edge_padding_low": none, "edge_padding_high": added, "interior_padding": none}
    attributes = {name: ir.DenseI64ArrayAttr.get(each) for name, each in edges.items()}
    filling = number(ir.RankedTensorType.get([], type_.element_type), behind)
    made = ir.RankedTensorType.get(sizes, type_.element_type)
    return build("pad", made, [x, filling], attributes)


def _factor(shape: Attention, constant: float, scales: Sequence[ir.Value | None]) -> ir.Value:
    """`constant` times `scales`, f32 [batch, heads]."""
    type_ = ir.RankedTensorType.get([shape.batch, shape.heads], ir.F32Type.get())
    found = number(type_, constant)
    for scale in scales:
        if scale is not None:
            found = build("multiply", type_, [_of_heads(shape, scale), found])
    return found


def _of_heads(shape: Attention, scale: ir.Value) -> ir.Value:
    """A scale of all, or of each head of Q or of K, in f32 [batch, heads]."""
    f32 = ir.F32Type.get()
    scale = convert(scale, f32)
    whole = [shape.batch, shape.heads]
    sizes = list(ir.RankedTensorType(scale.type).shape)
    if not sizes:
        return broadcast(scale, ir.RankedTensorType.get(whole, f32), [])
    scale = reshaped(scale, sizes[:2])
    if sizes[1] in (1, shape.heads):
        return broadcast(scale, ir.RankedTensorType.get(whole, f32), [0, 1])
    groups = [shape.batch, shape.shared, shape.heads // shape.shared]
    return reshaped(broadcast(scale, ir.RankedTensorType.get(groups, f32), [0, 1]), whole)


def _offsets(offset: ir.Value, count: int) -> ir.Value:
    type_ = ir.RankedTensorType(offset.type)
    low, high = (
        splat(ir.RankedTensorType.get([], type_.element_type), each)
        for each in (-_FARTHEST, _FARTHEST)
    )
    near = build("clamp", type_, [low, offset, high])
    return reshaped(convert(near, ir.IntegerType.get_signless(32)), [count])
