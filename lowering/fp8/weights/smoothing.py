"""SmoothQuant: factors for the channels of a weight, divided out of the activations that it meets.

G. Xiao et al., "SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language
Models", ICML 2023: x w = (x / s)(s w), for each channel that is summed.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.fp8.ops.scaling import rescale
from mlir_fp8.lowering.fp8.scaling.origins import origin
from mlir_fp8.lowering.fp8.weights.channels import ChannelUse, channel_shape, channel_uses
from mlir_fp8.lowering.fp8.weights.find import Weight
from mlir_fp8.lowering.fp8.weights.names import SMOOTHING, described, smoothing_of
from mlir_fp8.lowering.rewriting.stablehlo import build, convert

LEAST, MOST = 2.0**-126, 2.0**126
"""Bounds of a factor: its reciprocal is normal in f32 too."""


def smoothed_weights(
    function: ir.Operation, weights: Sequence[Weight], given: Mapping[str, np.ndarray]
) -> dict[str, list[ChannelUse]]:
    """Give those of `weights` their factors that have some; the products of each.

    They are `given` by name, or the attribute `mlir_fp8.smoothing` of an argument. `Fp8Error` for
    a name that no weight has, a weight that can have no factors, and factors of another shape.
    """
    unknown = [name for name in given if name not in {each.name for each in weights}]
    if unknown:
        raise Fp8Error(f"smoothing has '{unknown[0]}', which is none of the weights")
    attributes = described(function, "arg_attrs", len(function.regions[0].blocks[0].arguments))
    found: dict[str, list[ChannelUse]] = {}
    for weight in weights:
        factors = given.get(weight.name)
        if factors is None and weight.argument is not None:
            factors = smoothing_of(attributes[weight.argument])
        if factors is None:
            continue
        uses, reason = channel_uses(weight, weights)
        if reason:
            raise op_error(function, f"weight '{weight.name}' {reason}: leave it out of smoothing")
        weight.smoothing = _checked(function, weight, factors)
        found[weight.name] = uses
    return found


def divided_products(
    weights: Sequence[Weight],
    smoothed: Mapping[str, Sequence[ChannelUse]],
    wide: Collection[ir.Operation] = (),
) -> dict[ir.Operation, tuple[ChannelUse, np.ndarray]]:
    """The products of `smoothed` ones of `weights`, each with the factors of its weight.

    A weight loses its factors where all that it is multiplied by stays wide, as products of `wide`.
    """
    found: dict[ir.Operation, tuple[ChannelUse, np.ndarray]] = {}
    for weight in weights:
        uses = smoothed.get(weight.name, ())
        if all(use.op in wide for use in uses):
            weight.smoothing = None
        if weight.smoothing is not None:
            found.update({use.op: (use, weight.smoothing) for use in uses})
    return found


def _checked(function: ir.Operation, weight: Weight, factors: np.ndarray) -> np.ndarray:
    shape = channel_shape(weight)
    sizes = list(np.shape(factors))
    if sizes != shape:
        reason = f"has factors of shape {sizes} for smoothing: one for each channel is {shape}"
        raise op_error(function, f"weight '{weight.name}' {reason}")
    with np.errstate(over="ignore"):  # refused below, as infinite
        array = np.asarray(factors).astype(np.float32)
    if not ((array >= LEAST) & (array <= MOST)).all():
        reason = "has a factor for smoothing that is not between 2^-126 and 2^126"
        raise op_error(function, f"weight '{weight.name}' {reason}")
    return array


class Smoother:
    """Divides activations by the factors of the weights that they meet, each activation once."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], ir.Value] = {}

    def divided(self, use: ChannelUse, factors: np.ndarray) -> ir.Value:
        """The activation of `use` in f32, times the reciprocals of `factors`, made before its op.

        Products in one block share it where they take the same tensor in the same arrangement.
        """
        reciprocals = np.float32(1) / factors.reshape(-1)[use.index]
        op, value = use.op, use.op.operands[use.side]
        key = (op.block, *arrangement(value), reciprocals.shape, reciprocals.tobytes())
        if key not in self._made:
            with ir.InsertionPoint(op), op.location:
                self._made[key] = rescaled(value, reciprocals)
        return self._made[key]


def rescaled(value: ir.Value, factors: np.ndarray) -> ir.Value:
    """`value` in f32, times `factors`, f32, of its rank and of its sizes or 1."""
    type_ = ir.RankedTensorType.get(list(factors.shape), ir.F32Type.get())
    attributes = {"value": dense(factors, "f32", type_.context)}
    constant = build("constant", type_, [], attributes)
    return rescale(convert(value, ir.F32Type.get()), constant, divide=False)


def arrangement(value: ir.Value) -> tuple[object, ...]:
    """What two values have in common that are the same tensor in the same arrangement."""
    source = origin(value)
    moves = tuple(
        (
            op.name,
            str(op.results[0].type),
            *sorted(f"{k}={op.attributes[k]}" for k in op.attributes),
        )
        for op in source.path
    )
    return (source.value, moves)


def smoothing_attribute(factors: np.ndarray, context: ir.Context) -> dict[str, ir.Attribute]:
    """The attribute of an argument whose weight is multiplied by `factors` where it is prepared."""
    return {SMOOTHING: dense(factors, "f32", context)}
