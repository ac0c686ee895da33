"""What calibration sees of the tensors that products take: magnitudes, kept from call to call."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import operations, producer
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.ops.scaling import with_shape
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
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.stablehlo import build, splat

BINS = 1 << 14
_SHIFT = 17
"""Bits of an f32 magnitude that its bin leaves out: a bin is 1/64 of a power of two wide."""


@dataclass(frozen=True)
class Observed:
    """A tensor that calibration sees, its other names, and the shape of its largest magnitudes."""

    name: str
    aliases: tuple[str, ...]
    shape: tuple[int, ...]


def observe(
    module: ir.Operation, entry: str, patterns: Sequence[str], *, per: str, histogram: bool
) -> list[Observed]:
    """Let `entry` keep the largest magnitudes of what its products take, and how many of each size.

    For each tensor it takes and gives two more: the largest, f32, and counts, tensor<BINSxi64>
    (one, without `histogram`). With `patterns` tensors are those that products with one of these
    weights multiply them by.
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        weights = find_weights(function, patterns, "tensor")[0] if patterns else []
        named = {each.value: each.name for each in weights}
        quantizers = Quantizers(())
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
                if of_weights[side]:
                    continue
                source = origin(op.operands[side])
                is_split = per == "channel" and not is_convolution(op)
                blocks = blocks_at(source, contracting_dims(op, side), per) if is_split else ()
                found = quantizers.of(source, "f8E4M3FN", f"{kind}{position}.{which}", blocks)
                found.aliases += [input_scale_name(each) for each in of_weights if each]
        seen = quantizers.all()
        count = BINS if histogram else 1
        counts = ir.RankedTensorType.get([count], ir.IntegerType.get_signless(64))
        largest = [ir.RankedTensorType.get(_shape(each), ir.F32Type.get()) for each in seen]
        thread_state(function, seen, [(each, counts) for each in largest], _observed)
        return [Observed(q.name, tuple(q.aliases), tuple(_shape(q))) for q in seen]


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
        if ir.RankedTensorType(counts.type).shape[0] > 1:
            counts = _counted(x, counts)
    return largest, counts


def _counted(x: ir.Value, counts: ir.Value) -> ir.Value:
    """`counts` and one more in the bin of each magnitude in `x`."""
    i32 = ir.IntegerType.get_signless(32)
    total = 1
    for size in ir.RankedTensorType(x.type).shape:
        total *= size
    flat = build("reshape", with_shape(x, [total]), [build("abs", x.type, [x])])
    codes = ir.RankedTensorType.get([total], i32)
    bits = build("bitcast_convert", codes, [flat])
    shifted = build("shift_right_logical", codes, [bits, splat(codes, _SHIFT)])
    places = ir.RankedTensorType.get([total, 1], i32)
    at = build("reshape", places, [shifted])
    ones = splat(ir.RankedTensorType.get([total], ir.IntegerType.get_signless(64)), 1)
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
    scalar = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))
    location = ir.Location.current
    body = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        ir.Operation.create(
            "stablehlo.return", operands=[build("add", scalar, list(body.arguments))]
        )
    return op.results[0]
