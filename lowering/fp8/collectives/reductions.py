"""Sums across devices: terms travel in FP8, and are added in f32 where the sum is wanted."""

import math

from torch_mlir import ir

from mlir_fp8.lowering.fp8.collectives.feedback import Feedback
from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.collectives.wire import (
    as_bits,
    blocks_of,
    format_of,
    from_bits,
    quantized,
    wide,
)
from mlir_fp8.lowering.fp8.ops.scaling import number, with_shape
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.collectives import (
    SCATTER,
    Group,
    all_gather,
    all_to_all,
    group_of,
)
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, with_element


def summed_in_fp8(
    op: ir.Operation, options: WireOptions, feedback: Feedback | None = None
) -> tuple[ir.Value, list[Scaled]]:
    """The result of `op`, a sum of one operand, and what is sent for it.

    A reduce-scatter is an all-to-all of the parts in FP8 and a sum of them in f32; an all-reduce is
    that and an all-gather of the sums, in FP8 again. The result is rounded once to its type. With
    `feedback`, what either rounding lost at the last step is added before it.
    """
    group = group_of(op)
    assert group is not None
    format_ = format_of(op, options)
    x, result = op.operands[0], ir.RankedTensorType(op.results[0].type)

    def sent(parts: ir.Value) -> Scaled:
        if feedback is None:
            return _quantized(parts, format_, options, group)
        shape = list(ir.RankedTensorType(parts.type).shape)
        kept = feedback.take(op, shape)
        parts = build("add", kept.type, [convert(parts, ir.F32Type.get()), kept])
        made = _quantized(parts, format_, options, group)
        lost = build("subtract", kept.type, [parts, wide(made, ir.F32Type.get())])
        feedback.give(op, _finite(lost))
        return made

    if op.name == SCATTER:
        dim = ir.IntegerAttr(op.attributes["scatter_dimension"]).value
        terms = sent(_split(x, dim, group.size))
        sums = _sum(wide(_exchanged(terms, group, options), ir.F32Type.get()))
        return convert(_shaped(sums, result.shape), result.element_type), [terms]
    terms = sent(_cut(x, group.size))
    sums = _sum(wide(_exchanged(terms, group, options), ir.F32Type.get()))
    row = sent(_shaped(sums, [1, math.prod(ir.RankedTensorType(sums.type).shape)]))
    gathered = wide(_gathered(row, group, options), result.element_type)
    return _whole(gathered, result.shape), [terms, row]


def _finite(lost: ir.Value) -> ir.Value:
    """`lost`, and zero where a term was infinite or NaN: later steps are to do without it."""
    flags = build("is_finite", with_element(lost.type, ir.IntegerType.get_signless(1)), [lost])
    return build("select", lost.type, [flags, lost, number(lost.type, 0.0)])


def _quantized(x: ir.Value, format_: str, options: WireOptions, group: Group) -> Scaled:
    shape = list(ir.RankedTensorType(x.type).shape)
    blocks = blocks_of(shape, options.scales)
    return quantized(x, blocks, format_, options, group)


def _split(x: ir.Value, dim: int, count: int) -> ir.Value:
    """The parts of `x` along `dim`, one after the other along a new first dimension."""
    shape = list(ir.RankedTensorType(x.type).shape)
    apart = [*shape[:dim], count, shape[dim] // count, *shape[dim + 1 :]]
    order = [dim, *(at for at in range(len(apart)) if at != dim)]
    return _transposed(_shaped(x, apart), order)


def _cut(x: ir.Value, count: int) -> ir.Value:
    """`x` in `count` rows of one size, zeros behind it."""
    size = math.prod(ir.RankedTensorType(x.type).shape)
    columns = -(-size // count)
    flat = _shaped(x, [size])
    if columns * count != size:
        pads = {
            f"edge_padding_{side}": ir.DenseI64ArrayAttr.get([by])
            for side, by in (("low", 0), ("high", columns * count - size))
        }
        pads["interior_padding"] = ir.DenseI64ArrayAttr.get([0])
        zero = number(with_shape(x, []), 0.0)
        flat = build("pad", with_shape(x, [columns * count]), [flat, zero], pads)
    return _shaped(flat, [count, columns])


def _whole(rows: ir.Value, shape: list[int]) -> ir.Value:
    """What `_cut` made rows of."""
    size, held = math.prod(shape), math.prod(ir.RankedTensorType(rows.type).shape)
    flat = _shaped(rows, [held])
    if held != size:
        bounds = {"start_indices": 0, "limit_indices": size, "strides": 1}
        attributes = {key: ir.DenseI64ArrayAttr.get([value]) for key, value in bounds.items()}
        flat = build("slice", with_shape(rows, [size]), [flat], attributes)
    return _shaped(flat, shape)


def _exchanged(sent: Scaled, group: Group, options: WireOptions) -> Scaled:
    shape = list(ir.RankedTensorType(sent.scale.type).shape)
    codes, scale = sent.codes, sent.scale
    if options.as_bits:
        element = ir.RankedTensorType(codes.type).element_type
        codes = from_bits(all_to_all(as_bits(codes), group), element)
    else:
        codes = all_to_all(codes, group)
    if shape:
        scale = all_gather(scale, 0, group) if shape[0] == 1 else all_to_all(scale, group)
    return _scaled(codes, scale)


def _gathered(sent: Scaled, group: Group, options: WireOptions) -> Scaled:
    codes, scale = sent.codes, sent.scale
    if options.as_bits:
        element = ir.RankedTensorType(codes.type).element_type
        codes = from_bits(all_gather(as_bits(codes), 0, group), element)
    else:
        codes = all_gather(codes, 0, group)
    if ir.RankedTensorType(scale.type).rank:
        scale = all_gather(scale, 0, group)
    return _scaled(codes, scale)


def _scaled(codes: ir.Value, scale: ir.Value) -> Scaled:
    shape, counts = (list(ir.RankedTensorType(each.type).shape) for each in (codes, scale))
    sizes = [size // count for size, count in zip(shape, counts or shape, strict=True)]
    return Scaled(codes, scale, tuple(sizes) if counts else (0,) * len(shape))


def _sum(x: ir.Value) -> ir.Value:
    """The sum of `x`, f32, over its first dimension, in the order of devices."""
    scalar = with_shape(x, [])
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[with_shape(x, list(ir.RankedTensorType(x.type).shape)[1:])],
        operands=[x, number(scalar, 0.0)],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get([0])},
        regions=1,
    )
    location = ir.Location.current
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        added = build("add", scalar, list(body.arguments))
        ir.Operation.create("stablehlo.return", operands=[added])
    return op.results[0]


def _shaped(x: ir.Value, shape: list[int]) -> ir.Value:
    type_ = with_shape(x, shape)
    return x if x.type == type_ else build("reshape", type_, [x])


def _transposed(x: ir.Value, order: list[int]) -> ir.Value:
    shape = ir.RankedTensorType(x.type).shape
    attributes = {"permutation": ir.DenseI64ArrayAttr.get(order)}
    return build("transpose", with_shape(x, [shape[at] for at in order]), [x], attributes)
