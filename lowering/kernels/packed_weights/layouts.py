"""Which weights kernels can read in panels, and in which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.dialects._fp8_unpack import SHORT
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.lowering.fp8.scaling.contractions import (
    batching_dims,
    contracting_dims,
    is_convolution,
    is_product,
)
from mlir_fp8.lowering.fp8.weights.bits import BitLayout
from mlir_fp8.lowering.fp8.weights.packed import Layout, PackedLayout
from mlir_fp8.lowering.kernels.products.packed_form import form_of
from mlir_fp8.lowering.kernels.products.panels import DEPTH_UNIT, panel_size
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

_ELEMENTS = ("f32", "bf16", *(name for name, each in SMALL_FLOATS.items() if each.bits == 8))


@dataclass(frozen=True)
class _Use:
    """A product that reads a weight: the dimension that it sums, the form that it multiplies."""

    summed: int
    form: str


class _UnfitError(Exception):
    """Why a weight is not packed."""


def layout_of(weight: ir.Value, target: KernelTarget) -> Layout | str:
    """The layout in which kernels of `target` read `weight`, or why they do not."""
    if str(element_type(weight)) in SHORT:
        return BitLayout.of(ir.RankedTensorType(weight.type))
    if not has_static_shape(weight) or str(element_type(weight)) not in _ELEMENTS:
        return f"is {weight.type}, not of f32, bf16 or f8 and of a static shape"
    type_ = ir.RankedTensorType(weight.type)
    if type_.rank != 2:
        return f"is {weight.type}, of rank {type_.rank}, not 2"
    try:
        uses = set(_uses(weight, target, (0, 1), is_scaled=False))
    except _UnfitError as reason:
        return str(reason)
    if len(uses) != 1:
        return "is read by no product" if not uses else "is read by products of several kinds"
    (use,) = uses
    size = panel_size(target, use.form)
    if size is None:
        return f"is multiplied as {use.form}, which {target.name} does not read in panels"
    width, unit = size
    summands, columns = type_.shape[use.summed], type_.shape[1 - use.summed]
    if summands % DEPTH_UNIT:
        return f"has {summands} summands, no multiple of {DEPTH_UNIT}"
    if columns <= width:
        return f"has {columns} columns, no more than a panel of {width}"
    return PackedLayout((type_.shape[0], type_.shape[1]), use.summed, width, unit)


def _uses(
    value: ir.Value, target: KernelTarget, dims: Sequence[int], *, is_scaled: bool
) -> Iterator[_Use]:
    """The products that read `value`, whose dimension i is `dims[i]` of the weight.

    `is_scaled` is whether scales multiply it before the sum.
    """
    for each in value.uses:
        op, side = each.owner.operation, each.operand_number
        if is_product(op) and side < 2:
            yield _product(op, side, target, dims, is_scaled=is_scaled)
        elif op.name == "stablehlo.convert":
            yield from _uses(op.results[0], target, dims, is_scaled=is_scaled)
        elif op.name == "stablehlo.transpose":
            order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
            moved = [dims[dim] for dim in order]
            yield from _uses(op.results[0], target, moved, is_scaled=is_scaled)
        elif op.name == "fp8.dequantize" and side == 0:
            yield from _uses(op.results[0], target, dims, is_scaled=True)
        else:
            raise _UnfitError(f"is read by {op.name}")


def _product(
    op: ir.Operation, side: int, target: KernelTarget, dims: Sequence[int], *, is_scaled: bool
) -> _Use:
    if is_convolution(op) or op.name == RAGGED_DOT or batching_dims(op, side):
        raise _UnfitError(f"is read by {op.name}, which is no product of two matrices")
    summed = contracting_dims(op, side)
    if len(summed) != 1:
        raise _UnfitError(f"is read by {op.name}, which sums {len(summed)} of its dimensions")
    elements = [_read(op.operands[side]), _read(op.operands[1 - side])]
    in_f32 = is_scaled or _sums_in_f32(op)
    return _Use(dims[summed[0]], "f32" if in_f32 else form_of(elements, target))


def _read(value: ir.Value) -> str:
    """The element type of what an operand is converted from."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name not in ("stablehlo.convert", "stablehlo.transpose", "stablehlo.reshape"):
            break
        before = str(element_type(op.operands[0]))
        if before not in FORMATS:
            break
        value = op.operands[0]
    return str(element_type(value))


def _sums_in_f32(op: ir.Operation) -> bool:
    """Whether a scaled dot multiplies its codes by their scales before it sums."""
    if op.name != "fp8.scaled_dot":
        return False
    return "operand_type" in op.attributes and str(op.attributes["operand_type"]) == "f32"
