"""`fp8.scaled_ragged_dot`s that a kernel of grouped products computes, and the calls."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects._fp8_ragged_parts import RaggedParts, ragged_parts
from mlir_fp8.lowering.fp8.ops.scaling import broadcast
from mlir_fp8.lowering.gpu.kernels.grouped.kernel import grouped_kernel
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, Epilogue, Product
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, product_verdict
from mlir_fp8.lowering.gpu.xla.product_dims import permuted, reshaped
from mlir_fp8.lowering.gpu.xla.product_fit import TILE_ROWS, in_form
from mlir_fp8.lowering.gpu.xla.products import matrix
from mlir_fp8.lowering.gpu.xla.ragged_operands import is_b_turned
from mlir_fp8.lowering.rewriting.stablehlo import convert, element_type

_FEW = 64
"""Rows of a group, on average, of which a tile of 128 would be half empty."""


@dataclass(frozen=True)
class GroupedProduct:
    """A ragged dot as products of groups."""

    parts: RaggedParts
    shape: Grouped


def grouped_of(op: ir.Operation) -> GroupedProduct | str:
    """What is known of an `fp8.scaled_ragged_dot`; or why no kernel computes it."""
    parts = ragged_parts(op)
    a, b = (ir.RankedTensorType(each.type) for each in (parts.a, parts.b))
    formats = [str(each.element_type) for each in (a, b)]
    if any(each not in FORMATS for each in formats):
        return "its operands are of other formats than f8E4M3FN and f8E5M2"
    if str(element_type(parts.group_sizes)) != "i32":
        return f"its groups' sizes are of {element_type(parts.group_sizes)}"
    m, n = (each.shape[dim] for each, dim in zip((a, b), parts.free, strict=True))
    kinds = _kind(parts, 0), _kind(parts, 1)
    a_scale, b_scale = ("" if each == "group" else each for each in kinds)
    epilogue = Epilogue(a_scale, b_scale, result=str(element_type(op.results[0])))
    rows = m if parts.group is None else m // parts.groups
    exact = not parts.fast_accum
    product = Product(
        m,
        n,
        a.shape[parts.contracted[0]],
        formats[0],
        formats[1],
        epilogue,
        tile_m=64 if rows <= _FEW else 128,
        tile_n=128 if exact else 256,
        stages=6 if exact else 4,
        cluster=2 if rows > TILE_ROWS else 1,
        exact_sums=exact,
    )
    of_groups = tuple(side for side, each in zip("ab", kinds, strict=True) if each == "group")
    ragged = "sums" if parts.group is None else "rows"
    shape = Grouped(product, parts.groups, ragged, of_groups, is_b_turned(parts))
    try:
        shape.check()
    except Fp8Error as error:
        return str(error)
    return GroupedProduct(parts, shape)


def _kind(parts: RaggedParts, side: int) -> str:
    """Of a scale, in the words of `Epilogue`, or "group"."""
    scale = (parts.a_scale, parts.b_scale)[side]
    if scale is None:
        return ""
    sizes = list(ir.RankedTensorType(scale.type).shape)
    if not sizes:
        return "tensor"
    if len(sizes) == 1:
        return "group"
    if side == 1 and parts.group is not None and sizes[parts.free[1]] == 1:
        return "group"  # 0 for rows of none, which a scale of rank 0 is not
    if side == 1 and parts.group is not None:
        return "column"
    return "tensor" if math.prod(sizes) == 1 else ("row", "column")[side]


def _scale(parts: RaggedParts, side: int) -> list[ir.Value]:
    """The scale of an operand as the kernel takes it: all numbers, group by group."""
    scale = (parts.a_scale, parts.b_scale)[side]
    if scale is None:
        return []
    scale = convert(scale, ir.F32Type.get(parts.op.context))
    sizes = list(ir.RankedTensorType(scale.type).shape)
    if side == 1 and parts.group is not None and len(sizes) == 3:
        order = [parts.group, parts.free[1], parts.contracted[1]]
        of_group = [parts.groups, sizes[parts.free[1]], 1]
        type_ = ir.RankedTensorType.get(of_group, ir.F32Type.get(parts.op.context))
        scale = broadcast(permuted(scale, order), type_, range(3))
    return [reshaped(scale, [math.prod(ir.RankedTensorType(scale.type).shape)])]


def kind_of_grouped(found: GroupedProduct) -> str:
    """As the table spells it."""
    return f"{'exact' if found.shape.product.exact_sums else 'fast'}, {found.shape.ragged}"


def verdict_of_grouped(found: GroupedProduct, costs: Costs) -> tuple[Verdict, GroupedProduct]:
    """By the times of the nearest; and `found` in the form that was fastest there."""
    shape = found.shape.product
    size = (shape.m, shape.n, shape.k)
    verdict, timed = product_verdict(costs, "grouped_product", kind_of_grouped(found), size)
    if timed is None:
        return verdict, found
    made = dataclasses.replace(found.shape, product=in_form(shape, timed.form))
    made.check()
    return verdict, dataclasses.replace(found, shape=made)


def put_grouped(found: GroupedProduct, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op."""
    parts, shape, op = found.parts, found.shape, found.parts.op
    result = op.results[0]
    with ir.InsertionPoint(op), op.location:
        operands = [
            matrix(parts.a, [parts.free[0]], [parts.contracted[0]]),
            _b(parts, shape),
            parts.group_sizes,
            *(value for side in (0, 1) for value in _scale(parts, side)),
        ]
        i8 = ir.IntegerType.get_signless(8)
        results: Sequence[ir.Type] = [
            result.type,
            ir.RankedTensorType.get([shape.workspace], i8),
        ]
        made = calls.build(grouped_kernel(shape), operands, results)
    result.replace_all_uses_with(made[0])
    op.erase()


def _b(parts: RaggedParts, shape: Grouped) -> ir.Value:
    """What is contracted as columns, which come last in memory."""
    groups = [] if parts.group is None else [parts.group]
    if shape.b_turned:
        return matrix(parts.b, [parts.free[1]], [*groups, parts.contracted[1]])
    return matrix(parts.b, [*groups, parts.free[1]], [parts.contracted[1]])
