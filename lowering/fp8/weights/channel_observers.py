"""What smoothing sees: the largest magnitudes of each channel of weights and of activations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.contractions import is_convolution
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.observers import Observed, keep_observing
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection
from mlir_fp8.lowering.fp8.weights.channels import ChannelUse, channel_shape, channel_uses
from mlir_fp8.lowering.fp8.weights.find import Weight, find_weights
from mlir_fp8.lowering.fp8.weights.smoothing import arrangement
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries

_FORMAT = "f8E4M3FN"


@dataclass(frozen=True, eq=False)
class MetChannels:
    """A weight and an activation that a product multiplies: numbers of what is seen.

    `index` says which channel of the weight, in row-major order, each of the activation's meets.
    """

    weight: int
    activation: int
    index: np.ndarray


@dataclass(frozen=True, eq=False)
class ObservedChannels:
    """What is `seen`: first `weights`, by name with the shape of their factors, then activations.

    `met` says which meet, `left` why other weights can have no factors.
    """

    seen: list[Observed]
    weights: dict[str, list[int]]
    met: list[MetChannels]
    left: dict[str, str]


def observe_channels(module: ir.Operation, entry: str, patterns: Sequence[str]) -> ObservedChannels:
    """Let `entry` keep the largest magnitude of each channel of weights and of what they multiply.

    For each it takes and gives two more tensors, as `observe` has them.
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        weights, _ = find_weights(function, patterns, "tensor")
        used, left = _uses(weights)
        seen = [
            _quantizer(each.name, each.value, channel_shape(each))
            for each in weights
            if each in used
        ]
        numbers = {op: i for i, op in enumerate(_products(function))}
        found = [
            (each.op, each, number) for number, uses in enumerate(used.values()) for each in uses
        ]
        shared: dict[tuple[object, ...], int] = {}
        met: list[MetChannels] = []
        for op, use, number in sorted(found, key=lambda each: numbers[each[0]]):
            value = op.operands[use.side]
            key = (*arrangement(value), use.index.shape)
            if key not in shared:
                shared[key] = len(seen)
                kind = "convolution" if is_convolution(op) else "dot"
                name = f"{kind}{numbers[op]}.{('lhs', 'rhs')[use.side]}"
                seen.append(_quantizer(name, value, use.index.shape))
            met.append(MetChannels(number, shared[key], use.index))
        observed = keep_observing(function, seen, histogram=False)
        shapes = {each.name: channel_shape(each) for each in used}
        return ObservedChannels(observed, shapes, met, left)


def _products(function: ir.Operation) -> list[ir.Operation]:
    return [op for op in operations(function) if op.name in PRODUCTS]


def _uses(weights: Sequence[Weight]) -> tuple[dict[Weight, list[ChannelUse]], dict[str, str]]:
    selection = Selection()
    used: dict[Weight, list[ChannelUse]] = {}
    left: dict[str, str] = {}
    for weight in weights:
        uses, reason = channel_uses(weight, weights)
        reasons = [each for op in weight.products if (each := selection.reason_to_leave(op))]
        if not reason and reasons:
            reason = f"is read by a product that {reasons[0]}"
        if reason:
            left[weight.name] = reason
        else:
            used[weight] = uses
    return used, left


def _quantizer(name: str, value: ir.Value, shape: Sequence[int]) -> Quantizer:
    made = Quantizer(name, value, (), _FORMAT)
    sizes = ir.RankedTensorType(value.type).shape
    blocks = tuple(
        int(size == whole and size > 1) for size, whole in zip(shape, sizes, strict=True)
    )
    made.blocks = blocks if any(blocks) else ()
    return made
