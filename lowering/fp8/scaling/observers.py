"""What calibration sees of the tensors that products take: magnitudes, kept from call to call."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.ops.scaling import broadcast, with_shape
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_convolution, is_product
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.insertion import Places, State
from mlir_fp8.lowering.fp8.scaling.origins import origin
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer, Quantizers, blocks_at
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection
from mlir_fp8.lowering.fp8.scaling.state import thread_state
from mlir_fp8.lowering.fp8.weights.find import find_weights
from mlir_fp8.lowering.fp8.weights.layouts import scale_shape
from mlir_fp8.lowering.fp8.weights.moves import moved_result
from mlir_fp8.lowering.fp8.weights.names import input_scale_name
from mlir_fp8.lowering.fp8.weights.scaled import block_amax
from mlir_fp8.lowering.fp8.weights.smoothing import Smoother, divided_products, smoothed_weights
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.stablehlo import build, splat, with_element

_BINS, _CHANNEL_BINS = 1 << 14, 1 << 11
"""Of all magnitudes: 64 for each power of two, or 8 where each channel has its own."""


@dataclass(frozen=True)
class Observed:
    """A tensor that calibration sees, its other names, and the shape of its largest magnitudes."""

    name: str
    aliases: tuple[str, ...]
    shape: tuple[int, ...]


def observe(
    module: ir.Operation,
    entry: str,
    patterns: Sequence[str],
    *,
    per: str,
    histogram: bool,
    smoothing: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> list[Observed]:
    """Let `entry` keep the largest magnitudes of what its products take, and how many of each size.

    For each tensor it takes and gives two more: the largest, f32, and counts, tensor<16384xi64>, or
    tensor<Cx2048xi32> of C channels (one, without `histogram`). With `patterns` tensors are those
    that products with one of these weights multiply them by; those of weights that have factors, of
    `smoothing` or an attribute, are seen divided by these.
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        weights = find_weights(function, patterns, "tensor")[0] if patterns else []
        named = {each.value: each.name for each in weights}
        uses = smoothed_weights(function, weights, smoothing)
        divided = divided_products(weights, uses)
        smoother, quantizers = Smoother(), Quantizers(())
        selection = Selection()
        products = [op for op in operations(function) if op.name in PRODUCTS]
        for position, op in enumerate(products):
            if not is_product(op) or selection.reason_to_leave(op):
                continue
            of_weights = [_weight(operand, named) for operand in op.operands]
            if patterns and not any(of_weights):
                continue
            kind = "convolution" if is_convolution(op) else "dot"
            for side, which in enumerate(("lhs", "rhs")):
                # A row of a table that is divided is no longer the codes of the table.
                is_divided = op in divided and divided[op][0].side == side
                if of_weights[side] and not is_divided:
                    continue
                value = smoother.divided(*divided[op]) if is_divided else op.operands[side]
                source = origin(value)
                is_split = per == "channel" and not is_convolution(op)
                blocks = blocks_at(source, contracting_dims(op, side), per) if is_split else ()
                found = quantizers.of(source, "f8E4M3FN", f"{kind}{position}.{which}", blocks)
                weight = of_weights[1 - side]
                found.aliases += [input_scale_name(weight)] if weight else []
        return keep_observing(function, quantizers.all(), histogram=histogram)


def keep_observing(
    function: ir.Operation, seen: Sequence[Quantizer], *, histogram: bool
) -> list[Observed]:
    """Let `function` take and give for each of `seen` the largest, f32, and counts."""
    states = [
        (ir.RankedTensorType.get(_shape(each), ir.F32Type.get()), _counts_type(each, histogram))
        for each in seen
    ]
    thread_state(function, seen, states, _observed)
    return [Observed(q.name, tuple(q.aliases), tuple(_shape(q))) for q in seen]


def _counts_type(quantizer: Quantizer, histogram: bool) -> ir.Type:
    i32, i64 = map(ir.IntegerType.get_signless, (32, 64))
    if not histogram:
        return ir.RankedTensorType.get([1], i64)
    if not quantizer.blocks:
        return ir.RankedTensorType.get([_BINS], i64)
    return ir.RankedTensorType.get([math.prod(_shape(quantizer)), _CHANNEL_BINS], i32)


def _shape(quantizer: Quantizer) -> list[int]:
    shape = ir.RankedTensorType(quantizer.value.type).shape
    return scale_shape(shape, quantizer.blocks) if quantizer.blocks else []


def _weight(value: ir.Value, named: dict[ir.Value, str]) -> str:
    """The name of the weight that `value` is, moved or not; nothing for others."""
    while value not in named:
        op = producer(value)
        if op is None or not len(op.operands) or moved_result(op, 0) is None:
            return ""
        value = op.operands[0]
    return named[value]


def _observed(quantizer: Quantizer, state: State, places: Places) -> State:
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        rank = ir.RankedTensorType(x.type).rank
        amax = block_amax(x, quantizer.blocks or (0,) * rank)
        largest = build("maximum", state[0].type, [state[0], amax])
        counts = state[1]
        if list(ir.RankedTensorType(counts.type).shape) != [1]:
            counts = _counted(x, counts, _shape(quantizer))
    return largest, counts


def _counted(x: ir.Value, counts: ir.Value, channels: Sequence[int]) -> ir.Value:
    """`counts` and one more in the bin of each magnitude in `x`, of its channel if it has them.

    `channels` is the shape of a number for each, of the rank of `x`, empty without.
    """
    i32 = ir.IntegerType.get_signless(32)
    type_ = ir.RankedTensorType(counts.type)
    *_, bins = type_.shape
    total = math.prod(ir.RankedTensorType(x.type).shape)
    codes = with_element(x.type, i32)
    bits = build("bitcast_convert", codes, [build("abs", x.type, [x])])
    shift = splat(codes, 31 - bins.bit_length() + 1)  # a magnitude has 31 bits
    at = build("shift_right_logical", codes, [bits, shift])
    if channels:
        flat = ir.RankedTensorType.get([math.prod(channels)], i32)
        dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
        first = build("iota", flat, [], {"iota_dimension": dimension})
        first = build("multiply", flat, [first, splat(flat, bins)])
        first = build("reshape", ir.RankedTensorType.get(list(channels), i32), [first])
        at = build("add", codes, [at, broadcast(first, codes, list(range(len(channels))))])
    at = build("reshape", ir.RankedTensorType.get([total, 1], i32), [at])
    ones = splat(ir.RankedTensorType.get([total], type_.element_type), 1)
    line = ir.RankedTensorType.get([math.prod(type_.shape)], type_.element_type)
    counted = _scattered(build("reshape", line, [counts]), at, ones)
    return build("reshape", type_, [counted])


def _scattered(counts: ir.Value, at: ir.Value, ones: ir.Value) -> ir.Value:
    """`counts` with `ones` added at their places."""
    numbers = (
        "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],"
        " index_vector_dim = 1>"
    )
    op = ir.Operation.create(
        "stablehlo.scatter",
        results=[counts.type],
        operands=[counts, at, ones],
        attributes={"scatter_dimension_numbers": ir.Attribute.parse(numbers)},
        regions=1,
    )
    scalar = with_shape(counts, [])
    location = ir.Location.current
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        ir.Operation.create(
            "stablehlo.return", operands=[build("add", scalar, list(body.arguments))]
        )
    return op.results[0]
