"""Collectives that move data, on codes and scales in the place of wide floats."""

from torch_mlir import ir

from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.collectives.wire import (
    as_bits,
    blocks_of,
    format_of,
    from_bits,
    holds_over,
    note_of,
    on_the_wire,
    quantized,
    wide,
    with_dims,
)
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.collectives import (
    BROADCAST,
    EXCHANGE,
    GATHER,
    PERMUTE,
    Group,
    again,
    all_gather,
    group_of,
)


def moved_in_fp8(op: ir.Operation, options: WireOptions) -> tuple[ir.Value, Scaled]:
    """The result of `op`, a movement of one operand, and what is sent for it, before `op`.

    What travelled in FP8 before is not quantized again. One scale is that of all devices among
    which elements are mixed; where each device gets one tensor of another, its scale goes with it.
    """
    group = None if op.name == PERMUTE else group_of(op)
    x, result = op.operands[0], ir.RankedTensorType(op.results[0].type)
    sent = _travelled(x, group)
    received = None if sent is None else _scale(op, sent, group)
    if sent is None or received is None:
        shape = list(ir.RankedTensorType(x.type).shape)
        shared = None if op.name in (PERMUTE, BROADCAST) else group
        blocks = blocks_of(shape, options.scales)
        sent = quantized(x, blocks, format_of(op, options), options, shared)
        received = _scale(op, sent, group)
        assert received is not None
    codes = move(op, sent.codes, result.shape, options)
    shape = list(ir.RankedTensorType(received.type).shape)
    sizes = [size // count for size, count in zip(result.shape, shape, strict=False)]
    blocks = tuple(sizes) if shape else (0,) * result.rank
    note = "" if group is None or shape else note_of(group)
    return wide(Scaled(codes, received, blocks), result.element_type, note), sent


def move(op: ir.Operation, codes: ir.Value, shape: list[int], options: WireOptions) -> ir.Value:
    """`codes` moved as `op` does."""
    if not options.as_bits:
        return again(op, codes, shape)
    element = ir.RankedTensorType(codes.type).element_type
    return from_bits(again(op, as_bits(codes), shape), element)


def _travelled(x: ir.Value, group: Group | None) -> Scaled | None:
    scaled = on_the_wire(x)
    if scaled is None or (group is not None and holds_over(x, group)):
        return scaled
    return with_dims(scaled)  # a number of each device


def _scale(op: ir.Operation, sent: Scaled, group: Group | None) -> ir.Value | None:
    """The scale of what is received; None where blocks of it would be cut."""
    shape = list(ir.RankedTensorType(sent.scale.type).shape)
    if op.name in (PERMUTE, BROADCAST):
        return again(op, sent.scale, shape)
    if not shape:
        return sent.scale
    assert group is not None
    if op.name == GATHER:
        return all_gather(sent.scale, _dim(op, "all_gather_dim"), group)
    assert op.name == EXCHANGE
    split, joined = _dim(op, "split_dimension"), _dim(op, "concat_dimension")
    if shape[split] == 1:
        return all_gather(sent.scale, joined, group)
    if shape[split] % group.size:
        return None
    shape[split] //= group.size
    shape[joined] *= group.size
    return again(op, sent.scale, shape)


def _dim(op: ir.Operation, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value
