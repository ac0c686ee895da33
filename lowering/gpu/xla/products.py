"""`fp8.scaled_dot`s that a kernel of products computes, and the calls in their place."""

import dataclasses
import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_product_parts import Product as Parts
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.ops.scaling import spread
from mlir_fp8.lowering.fp8.xla_gpu.refusals import NO_E5M2, are_both_e5m2
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.product.shape import (
    ACTIVATIONS,
    FORMATS,
    RESULTS,
    Epilogue,
    Product,
)
from mlir_fp8.lowering.gpu.xla.block_scales import BlockScales, block_scales_of
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, product_verdict
from mlir_fp8.lowering.gpu.xla.gates import Gate
from mlir_fp8.lowering.gpu.xla.product_dims import Dims, dims_of, permuted, reshaped
from mlir_fp8.lowering.gpu.xla.product_fit import fitted, in_form
from mlir_fp8.lowering.gpu.xla.quantizers import CodeUses, uses_of_codes
from mlir_fp8.lowering.gpu.xla.tails import Tail
from mlir_fp8.lowering.gpu.xla.times import BLOCKS, GATE, PARTS, kind_of_product
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type


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
    uses: CodeUses | None = None
    """Those of its f8 result, where they want the transpose."""


def product_of(op: ir.Operation) -> ScaledProduct | str:
    """What is known of an `fp8.scaled_dot`; or why no kernel computes it.

    A result of f8 whose transpose is wanted has that from the kernel too.
    """
    found = sized_product_of(op)
    if isinstance(found, str) or found.shape.epilogue.result not in FORMATS:
        return checked(found)
    uses = uses_of_codes(op.results[0])
    is_matrix = len(found.dims.free[1]) == 1 and not found.dims.has_batches
    if is_matrix and (uses.turned or uses.transposes):
        epilogue = dataclasses.replace(found.shape.epilogue, transposed=True)
        shape = dataclasses.replace(found.shape, epilogue=epilogue)
        found = dataclasses.replace(found, shape=shape, uses=uses)
    return checked(found)


def checked(found: ScaledProduct | str) -> ScaledProduct | str:
    """With tiles that fit a card; or why none runs it."""
    if isinstance(found, str):
        return found
    found = dataclasses.replace(found, shape=fitted(found.shape))
    try:
        found.shape.check()
    except Fp8Error as error:
        return str(error)
    return found


def sized_product_of(op: ir.Operation) -> ScaledProduct | str:
    """As `product_of`, whatever its sizes."""
    parts, dims = product_parts(op), dims_of(op)
    blocks = block_scales_of(parts, dims)
    if isinstance(blocks, str):
        return blocks
    parts = parts if blocks is None else blocks.rest
    reason = steps_refusal(parts)
    if reason:
        return reason
    epilogue = epilogue_of(parts, dims)
    if isinstance(epilogue, str):
        return epilogue
    shapes = [list(ir.RankedTensorType(each.type).shape) for each in (parts.a, parts.b)]
    m, n = (math.prod(s[i] for i in free) for s, free in zip(shapes, dims.free, strict=True))
    batches = math.prod(shapes[0][i] for i in dims.batching[0])
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
        exact_sums=exact,
        a_blocks=a_blocks,
        b_blocks=b_blocks,
        batches=batches,
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
    bias = "" if parts.bias is None else _loaded_as(parts, parts.bias)
    return Epilogue(
        a_scale,
        b_scale,
        str(parts.dot_type),
        str(parts.epilogue_type),
        parts.alpha,
        bias,
        parts.activation,
        parts.amax,
        "" if parts.d_scale is None else "multiply" if parts.d_inverse else "divide",
        str(ir.RankedTensorType(parts.op.results[0].type).element_type),
        a_inverse=parts.a_inverse,
        b_inverse=parts.b_inverse,
        c="" if parts.c is None else _loaded_as(parts, parts.c),
        beta=parts.beta,
    )


def _loaded_as(parts: Parts, x: ir.Value) -> str:
    """The type that a kernel reads `c` or a bias in: its own, or that of the epilogue."""
    own = str(element_type(x))
    return own if own in ELEMENTS else str(parts.epilogue_type)


def scales_and_bias(parts: Parts, dims: Dims) -> list[ir.Value]:
    """Those that there are, and `c`, as kernels take them."""
    sides = ((parts.a_scale, parts.a), (parts.b_scale, parts.b))
    found = [
        _flat(scale, data, dims.rows(side))
        for side, (scale, data) in enumerate(sides)
        if scale is not None
    ]
    added = (each for each in (parts.c, parts.bias) if each is not None)
    for each in added:
        is_known = str(element_type(each)) in ELEMENTS
        found.append(each if is_known else convert(each, parts.epilogue_type))
    return found


def kind_of_scaled(found: ScaledProduct) -> str:
    """As the table spells it."""
    if found.blocks is not None and found.blocks.change_along_k:
        return BLOCKS if found.shape.parts == 1 else PARTS
    steps = found.shape.epilogue
    is_alone = bool(steps.gate) or steps.activation in ("none", "relu")
    is_plain = is_alone and not (steps.amax or steps.d_scale)
    return kind_of_product(exact=found.shape.exact_sums, is_plain=is_plain)


def verdict_of_product(found: ScaledProduct, costs: Costs) -> tuple[Verdict, ScaledProduct]:
    """By the times of the nearest product; and `found` in the form that was fastest there."""
    shape = found.shape
    size = (shape.a_rows, 2 * shape.n if shape.up else shape.n, shape.k)
    kind = kind_of_scaled(found)
    verdict, timed = product_verdict(costs, "product", kind, size, _moved_behind(found))
    if shape.up:
        of_gates = product_verdict(costs, "product", f"{kind}{GATE}", size, 2 * _turned(found))
        if of_gates[1] is not None:
            return of_gates[0], dataclasses.replace(found, shape=in_form(shape, of_gates[1].form))
    if found.blocks is not None and found.blocks.has_no_other:
        verdict = Verdict(alone="XLA has no product with scales in blocks along K")
    elif are_both_e5m2(found.parts):
        verdict = Verdict(alone=NO_E5M2)
    if timed is None or shape.split > 1 or shape.up:
        return verdict, found
    return verdict, dataclasses.replace(found, shape=in_form(shape, timed.form))


def _moved_behind(found: ScaledProduct) -> int:
    """Bytes that XLA reads and writes for a gate, and for codes to be transposed."""
    shape, steps = found.shape, found.shape.epilogue
    elements = shape.a_rows * shape.n
    gate = (2 * RESULTS[steps.stored or steps.type] + RESULTS[steps.result]) if shape.up else 0
    return elements * gate + 2 * _turned(found)


def _turned(found: ScaledProduct) -> int:
    """Codes of the transposed copy."""
    return found.shape.a_rows * found.shape.n * found.shape.epilogue.transposed


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
