"""`fp8.scaled_dot`s that a kernel of products computes, and the calls in their place."""

import dataclasses
import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_product_parts import Product as Parts
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.ops.scaling import spread
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.product.shape import (
    ACTIVATIONS,
    FORMATS,
    RESULTS,
    Epilogue,
    Product,
)
from mlir_fp8.lowering.gpu.xla.block_scales import BlockScales, block_scales_of
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, product_verdict, quantize_time
from mlir_fp8.lowering.gpu.xla.gates import Gate, gate_of
from mlir_fp8.lowering.gpu.xla.product_dims import Dims, dims_of, permuted, reshaped
from mlir_fp8.lowering.gpu.xla.quantizers import source_of
from mlir_fp8.lowering.gpu.xla.tails import Tail, tail_of
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type

TILE_ROWS = 128
"""Fewer rows make no pair of tiles, which two blocks would share B for."""


@dataclass(frozen=True)
class ScaledProduct:
    """A dot as a product of matrices; `parts` are without the scales that `blocks` has."""

    parts: Parts
    shape: Product
    dims: Dims
    blocks: BlockScales | None = None
    tail: Tail | None = None
    """What it is quantized by."""
    gate: Gate | None = None
    """What multiplies it by another; `parts` are the gate's."""


def product_of(op: ir.Operation) -> ScaledProduct | str:
    """What is known of an `fp8.scaled_dot`; or why no kernel computes it."""
    return _checked(_product_of(op))


def quantized_product_of(op: ir.Operation) -> ScaledProduct | None:
    """An `fp8.scaled_dot` that `op`, an `fp8.quantize`, is the only reader of, with that."""
    y = source_of(op.operands[0])
    dot = producer(y)
    if dot is None or dot.name != "fp8.scaled_dot" or len(dot.results) != 1:
        return None
    tail, found = tail_of(y), _product_of(dot)
    if tail is None or isinstance(found, str) or found.parts.d_scale is not None:
        return None
    return _with_tail(found, tail, str(element_type(y)))


def gated_product_of(op: ir.Operation) -> ScaledProduct | None:
    """The gated product that `op`, a `stablehlo.multiply`, ends, with its quantization if any."""
    gate = gate_of(op)
    found = None if gate is None else _product_of(gate.dot.op)
    if gate is None or found is None or isinstance(found, str) or found.blocks is not None:
        return None
    stored = found.shape.epilogue.result
    epilogue = dataclasses.replace(
        found.shape.epilogue,
        activation="silu",
        gate=gate.type,
        stored="" if stored == found.shape.epilogue.type else stored,
        result=gate.type,
    )
    n, up = found.shape.n, "apart"
    if gate.up is None and len(found.dims.free[1]) != 1:
        return None
    if gate.up is None:
        n, up = n // 2, "below"
    shape = dataclasses.replace(found.shape, n=n, up=up, epilogue=epilogue)
    found = dataclasses.replace(found, shape=shape, gate=gate)
    tail = tail_of(op.results[0])
    if tail is not None and (quantized := _with_tail(found, tail, stored)) is not None:
        return quantized
    checked = _checked(found)
    return None if isinstance(checked, str) else checked


def _with_tail(found: ScaledProduct, tail: Tail, stored: str) -> ScaledProduct | None:
    if tail.has_transpose and len(found.dims.free[1]) != 1:
        return None
    epilogue = tail.added_to(found.shape.epilogue, stored)
    shape = dataclasses.replace(found.shape, epilogue=epilogue)
    checked = _checked(dataclasses.replace(found, shape=shape, tail=tail))
    return None if isinstance(checked, str) else checked


def _checked(found: ScaledProduct | str) -> ScaledProduct | str:
    if isinstance(found, str):
        return found
    try:
        found.shape.check()
    except Fp8Error as error:
        return str(error)
    return found


def _product_of(op: ir.Operation) -> ScaledProduct | str:
    parts, dims = product_parts(op), dims_of(op)
    blocks = block_scales_of(parts, dims)
    if isinstance(blocks, str):
        return blocks
    parts = parts if blocks is None else blocks.rest
    reason = steps_refusal(parts)
    if reason:
        return reason
    if dims.has_batches:
        return "it has batches"
    epilogue = epilogue_of(parts, dims)
    if isinstance(epilogue, str):
        return epilogue
    shapes = [list(ir.RankedTensorType(each.type).shape) for each in (parts.a, parts.b)]
    m, n = (math.prod(s[i] for i in free) for s, free in zip(shapes, dims.free, strict=True))
    k = math.prod(shapes[0][i] for i in dims.contracted[0])
    a_blocks, b_blocks = (None, None) if blocks is None else blocks.blocks
    exact = not parts.fast_accum or blocks is not None
    shape = Product(
        m,
        n,
        k,
        str(element_type(parts.a)),
        str(element_type(parts.b)),
        epilogue,
        tile_n=128 if exact else 256,
        stages=6 if exact else 4,
        cluster=2 if m > TILE_ROWS else 1,
        exact_sums=exact,
        a_blocks=a_blocks,
        b_blocks=b_blocks,
    )
    return ScaledProduct(parts, shape, dims, blocks)


def steps_refusal(parts: Parts) -> str:
    result = ir.RankedTensorType(parts.op.results[0].type)
    scales = parts.a_scale is not None or parts.b_scale is not None
    wide_scale = parts.d_scale is not None and ir.RankedTensorType(parts.d_scale.type).rank
    reasons = {
        "its operands are of other formats than f8E4M3FN and f8E5M2": any(
            str(element_type(each)) not in FORMATS for each in (parts.a, parts.b)
        ),
        "its scales are of operands, not of the sum": parts.operand_type is not None and scales,
        "a scale of an operand divides": parts.a_inverse or parts.b_inverse,
        "it adds c": parts.c is not None,
        f"no kernel has {parts.activation}": parts.activation not in ACTIVATIONS,
        f"its result is of {result.element_type}": str(result.element_type)
        not in (*FORMATS, *ELEMENTS),
        "its f8 result does not saturate": str(result.element_type) in FORMATS
        and not parts.saturate,
        "its result has more than one scale": bool(wide_scale),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _scale_kind(scale: ir.Value | None, each: str) -> str:
    """What `Epilogue` calls it; it has size 1 along what is contracted, and no blocks (`_flat`)."""
    if scale is None:
        return ""
    return "tensor" if math.prod(ir.RankedTensorType(scale.type).shape) == 1 else each


def epilogue_of(parts: Parts, dims: Dims) -> Epilogue | str:
    """The steps behind the sum; or why no kernel takes its bias."""
    if parts.bias is not None and len(dims.free[1]) != 1:
        return "its bias is not one number for each column"
    a_scale, b_scale = _scale_kind(parts.a_scale, "row"), _scale_kind(parts.b_scale, "column")
    bias = "" if parts.bias is None else str(element_type(parts.bias))
    return Epilogue(
        a_scale,
        b_scale,
        str(parts.dot_type),
        str(parts.epilogue_type),
        parts.alpha,
        bias if bias in ("", *ELEMENTS) else str(parts.epilogue_type),
        parts.activation,
        parts.amax,
        "" if parts.d_scale is None else "multiply" if parts.d_inverse else "divide",
        str(ir.RankedTensorType(parts.op.results[0].type).element_type),
    )


def scales_and_bias(parts: Parts, dims: Dims) -> list[ir.Value]:
    """Those that there are, as kernels take them."""
    sides = ((parts.a_scale, parts.a), (parts.b_scale, parts.b))
    found = [
        _flat(scale, data, free)
        for (scale, data), free in zip(sides, dims.free, strict=True)
        if scale is not None
    ]
    if parts.bias is not None:
        is_known = str(element_type(parts.bias)) in ELEMENTS
        found.append(parts.bias if is_known else convert(parts.bias, parts.epilogue_type))
    return found


def verdict_of_product(found: ScaledProduct, costs: Costs) -> Verdict:
    shape = found.shape
    if found.blocks is not None and found.blocks.change_along_k:
        return Verdict(alone="XLA has no product with scales in blocks along K")
    element = found.parts.op.results[0]
    behind = 0.0
    if found.gate is not None or found.tail is not None:
        behind = quantize_time(
            costs,
            math.prod(ir.RankedTensorType(element.type).shape),
            RESULTS[str(element_type(element))],
            transposed=shape.epilogue.transposed,
        )
    n = 2 * shape.n if shape.up else shape.n
    return product_verdict(costs, shape.m, n, shape.k, exact=shape.exact_sums, behind=behind)


def matrix(x: ir.Value, free: list[int], contracted: list[int]) -> ir.Value:
    """The free dimensions as rows, the contracted ones, which come last, as columns."""
    sizes = list(ir.RankedTensorType(x.type).shape)
    rows, columns = (math.prod(sizes[i] for i in dims) for dims in (free, contracted))
    return reshaped(permuted(x, [*free, *contracted]), [rows, columns])


def _flat(scale: ir.Value, data: ir.Value, free: list[int]) -> ir.Value:
    """All numbers of a scale, f32, in the order of rows or columns; of blocks one for each."""
    scale = convert(scale, ir.F32Type.get(scale.type.context))
    rank = ir.RankedTensorType(scale.type).rank
    if rank and math.prod(ir.RankedTensorType(scale.type).shape) > 1:
        whole = ir.RankedTensorType(data.type).shape
        sizes = [whole[i] if i in free else 1 for i in range(rank)]
        wanted = ir.RankedTensorType.get(sizes, ir.RankedTensorType(scale.type).element_type)
        scale = spread(scale, wanted, range(rank))
    if rank:
        scale = permuted(scale, [*free, *(i for i in range(rank) if i not in free)])
    count = math.prod(ir.RankedTensorType(scale.type).shape)
    return reshaped(scale, [count])
