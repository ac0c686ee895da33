"""Which collectives travel in FP8, one after the other, and what becomes of each."""

import math
from collections.abc import Iterator

from torch_mlir import ir

from mlir_fp8.base.operations import (
    clone_op,
    erase_with_producers,
    operations,
    producer,
    replace_op,
)
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.collectives.decisions import WireDecision
from mlir_fp8.lowering.fp8.collectives.feedback import Feedback
from mlir_fp8.lowering.fp8.collectives.movements import moved_in_fp8
from mlir_fp8.lowering.fp8.collectives.options import WireOptions
from mlir_fp8.lowering.fp8.collectives.reductions import summed_in_fp8
from mlir_fp8.lowering.fp8.collectives.reshards import reshard_bytes, resharded_in_fp8
from mlir_fp8.lowering.fp8.collectives.wire import on_the_wire
from mlir_fp8.lowering.fp8.scaling.decisions import signature
from mlir_fp8.lowering.fp8.scaling.selection import is_skipped, place_refusal
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.collectives import (
    COLLECTIVES,
    EXCHANGE,
    GATHER,
    MOVEMENTS,
    PERMUTE,
    REDUCE,
    combines_by,
    group_of,
    pairs,
    sent_bytes,
    size_in_bytes,
)
from mlir_fp8.lowering.rewriting.shardings import gathers, is_constraint
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

_WIDE = ("f32", "bf16", "f16")
_SUMMED = {"add"}
_AMAX = "stablehlo.reduce"
_MEASURES = ("stablehlo.reduce", "stablehlo.all_reduce", "stablehlo.constant")


def quantize_collectives(module: ir.Operation, options: WireOptions) -> list[WireDecision]:
    """Let the collectives and reshards of `module` move FP8; what became of each, in order."""
    load_fp8_dialect(module.context)
    decisions: list[WireDecision] = []
    with ir.Location.unknown(module.context):
        feedback = Feedback(module) if options.error_feedback else None
        found = [op for op in operations(module) if op.name in COLLECTIVES or is_constraint(op)]
        for op in [each for whole in found for each in apart(whole)]:
            decisions.append(_quantize(op, options, feedback))
        if feedback is not None:
            feedback.finish()
        cancel_pairs(module, options)
    return decisions


def apart(op: ir.Operation) -> Iterator[ir.Operation]:
    """The collectives and reshards that `op` is: one for each of its operands."""
    if is_constraint(op) and gathers(op) and _is_wide(op.operands[0]):
        yield op
    if op.name not in COLLECTIVES or not any(map(_is_float, op.operands)):
        return
    if len(op.operands) == 1:
        yield op
        return
    made: list[ir.Operation] = []
    for operand, result in zip(op.operands, op.results, strict=True):
        copy = ir.Operation.create(
            op.name,
            results=[result.type],
            operands=[operand],
            attributes={key: op.attributes[key] for key in op.attributes},
            regions=len(op.regions),
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        for old, new in zip(op.regions, copy.regions, strict=True):
            _copy_block(old.blocks[0], new)
        made.append(copy)
    replace_op(op, [each.results[0] for each in made])
    yield from made


def _copy_block(block: ir.Block, region: ir.Region) -> None:
    copy = region.blocks.append(*(argument.type for argument in block.arguments))
    values: dict[ir.Value, ir.Value] = dict(zip(block.arguments, copy.arguments, strict=True))
    for inner in block.operations:
        clone_op(inner.operation, values, ir.InsertionPoint(copy))


def _quantize(op: ir.Operation, options: WireOptions, feedback: Feedback | None) -> WireDecision:
    facts = (name_of(op), op.location, signature(op))
    reason = reason_to_stay(op, options.min_bytes)
    if not reason and feedback is not None and op.name not in MOVEMENTS:
        reason = "" if is_constraint(op) else feedback.refusal(op)
    if reason:
        return WireDecision(*facts, left=reason)
    before = bytes_of(op)
    with ir.InsertionPoint(op), op.location:
        if is_constraint(op):
            value, sent = resharded_in_fp8(op, options)
            parts = [sent]
            after = sum(reshard_bytes(op, each) for each in (sent.codes, sent.scale))
        elif op.name in MOVEMENTS:
            value, sent = moved_in_fp8(op, options)
            parts, after = [sent], _sent(op, sent)
        else:
            value, parts = summed_in_fp8(op, options, feedback)
            after = sum(_sent_of_sum(op, each, at) for at, each in enumerate(parts))
    format_ = str(element_type(parts[0].codes))
    decision = WireDecision(*facts, format_, _scales(parts[0]), before, after)
    replace_op(op, [value])
    return decision


def reason_to_stay(op: ir.Operation, min_bytes: int) -> str:
    """Why `op`, a collective of one operand or a reshard, moves what it moves; "" for FP8."""
    x = op.operands[0]
    if reason := is_skipped(op) or place_refusal(op):
        return reason
    if not has_static_shape(x) or not has_static_shape(op.results[0]):
        return "has no static shape: stablehlo-refine-dynamism first"
    if str(element_type(x)) not in _WIDE:
        return f"is of {element_type(x)}, not of f32, bf16 or f16"
    if not math.prod(ir.RankedTensorType(x.type).shape):
        return "has no elements"
    if is_constraint(op):
        sent = bytes_of(op)
        return f"moves {sent} bytes a device (min-bytes {min_bytes})" if sent < min_bytes else ""
    if op.name not in MOVEMENTS and (how := combines_by(op)) not in _SUMMED:
        return f"combines by {how or 'a program of its own'}, which is no sum"
    if op.name != PERMUTE:
        group = group_of(op)
        if group is None:
            return "is among replicas and partitions at once: give one replica"
        if not group.is_even:
            return "is among groups of several sizes"
        if group.size == 1:
            return "is among one device"
    elif not len(pairs(op)):
        return "sends nothing to anybody"
    sent = bytes_of(op)
    return f"sends {sent} bytes a device (min-bytes {min_bytes})" if sent < min_bytes else ""


def bytes_of(op: ir.Operation) -> int:
    """The bytes that each device sends for `op`, a collective or a reshard, as it is."""
    if is_constraint(op):
        return reshard_bytes(op, op.operands[0])
    return sent_bytes(op.name, size_in_bytes(op.operands[0]), group_size(op))


def group_size(op: ir.Operation) -> int:
    """The devices of a group of the collective `op`; 1 where there are no groups."""
    group = None if op.name == PERMUTE else group_of(op)
    return 1 if group is None else group.size


def _sent(op: ir.Operation, sent: Scaled) -> int:
    """Codes, and scales or the amax that one scale is made of."""
    codes = sent_bytes(op.name, size_in_bytes(sent.codes), group_size(op))
    return codes + _scale_bytes(op, sent)


def _scale_bytes(op: ir.Operation, sent: Scaled) -> int:
    scales, size = size_in_bytes(sent.scale), group_size(op)
    if op.name not in MOVEMENTS or op.name in (GATHER, EXCHANGE):
        name = GATHER if ir.RankedTensorType(sent.scale.type).rank else REDUCE
        return sent_bytes(name, scales, size)
    return scales


def _sent_of_sum(op: ir.Operation, sent: Scaled, at: int) -> int:
    name = GATHER if at else EXCHANGE
    return sent_bytes(name, size_in_bytes(sent.codes), group_size(op)) + _scale_bytes(op, sent)


def _scales(sent: Scaled) -> str:
    counts = ir.RankedTensorType(sent.scale.type).shape
    return f"scales {'x'.join(map(str, counts))} of each device" if counts else "one scale"


def name_of(op: ir.Operation) -> str:
    """What `op`, a collective or a reshard, is called."""
    return "sharding constraint" if is_constraint(op) else op.name


def _is_float(value: ir.Value) -> bool:
    return isinstance(element_type(value), ir.FloatType)


def _is_wide(value: ir.Value) -> bool:
    return has_static_shape(value) and str(element_type(value)) in _WIDE


def cancel_pairs(module: ir.Operation, options: WireOptions) -> None:
    """Let what is quantized again, by the scale that its own amax gives, be the codes that came.

    Their amax over all devices gave the scale that they travelled with.
    """
    for op in operations(module, "fp8.quantize"):
        came, scaling = on_the_wire(op.operands[0]), producer(op.operands[1])
        if came is None or scaling is None or not _is_of(scaling, op.operands[0], options):
            continue
        is_one = not ir.RankedTensorType(came.scale.type).rank
        if came.codes.type != op.results[0].type or not is_one:
            continue
        scaling.results[0].replace_all_uses_with(came.scale)
        op.results[0].replace_all_uses_with(came.codes)
        erase_with_producers(op, _may_go)
        erase_with_producers(scaling, _may_go)


def _is_of(scaling: ir.Operation, x: ir.Value, options: WireOptions) -> bool:
    """Whether `scaling` makes the scale of `x` of its amax as `quantized` does."""
    known = scaling.attributes
    if scaling.name != "fp8.update_scale" or str(known["recipe"]) != '"current"':
        return False
    if "margin" in known or is_set(scaling, "power_of_two") != options.power_of_two:
        return False
    amax = producer(scaling.operands[2])
    if amax is not None and amax.name == REDUCE:
        amax = producer(amax.operands[0])
    magnitudes = None if amax is None or amax.name != _AMAX else producer(amax.operands[0])
    is_abs = magnitudes is not None and magnitudes.name == "stablehlo.abs"
    return magnitudes is not None and is_abs and magnitudes.operands[0] == x


def _may_go(op: ir.Operation) -> bool:
    """Whether `op`, which nothing uses, only computes: a sum over devices too."""
    is_pure = op.name.startswith(("stablehlo.", "fp8.")) and not len(op.regions)
    return op.name in (*_MEASURES, *MOVEMENTS) or (is_pure and op.name != "stablehlo.custom_call")
