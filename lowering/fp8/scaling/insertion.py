"""Put quantizers into a function: where each tensor is made, with the scale of a recipe."""

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.scaling_recipes import RECIPES
from mlir_fp8.interpreter.dense_values import dense
from mlir_fp8.lowering.fp8.ops.power_of_two import power_of_two
from mlir_fp8.lowering.fp8.scaling.int8_products import scale_of_int8
from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer
from mlir_fp8.lowering.fp8.scaling.recipes import (
    BlockScaling,
    CurrentScaling,
    DelayedScaling,
    StaticScaling,
)
from mlir_fp8.lowering.fp8.weights.scaled import block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.rewriting.collectives import Group, all_reduce
from mlir_fp8.lowering.rewriting.shardings import replicate, share
from mlir_fp8.lowering.rewriting.stablehlo import build

State = tuple[ir.Value, ir.Value]
"""A scale and an amax history."""


class Places:
    """Where to insert what follows a value: after its op, or before the first op of its block."""

    def __init__(self) -> None:
        self._first: dict[ir.Block, ir.Operation] = {}

    def after(self, value: ir.Value) -> ir.InsertionPoint:
        owner = value.owner
        if not isinstance(owner, ir.Block):
            return ir.InsertionPoint.after(owner.operation)
        # The first op of before any insertion: so quantizers stand in the order they are made in.
        first = self._first.setdefault(owner, next(iter(owner.operations)).operation)
        return ir.InsertionPoint(first)


def quantize_delayed(
    quantizer: Quantizer, state: State, recipe: DelayedScaling, places: Places
) -> State:
    """Quantize by the scale that `state` has or gives; returns the new state."""
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        largest = amax(x)
        scale, history = _updated(quantizer, state, largest, recipe, recipe.order)
        used = scale if RECIPES[recipe.order].uses_new_scale else state[0]
        if recipe.power_of_two and used == state[0]:  # which the caller gave
            used = power_of_two(used)
        _quantize(quantizer, x, largest, used)
    return scale, history


def quantize_current(
    quantizer: Quantizer, recipe: CurrentScaling | BlockScaling, places: Places
) -> None:
    """Quantize by the scale that the tensor's own amax gives."""
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        if quantizer.blocks:
            largest = block_amax(x, quantizer.blocks)
            scale = scale_of_amax(
                largest, quantizer.format, recipe.margin, is_power_of_two=recipe.power_of_two
            )
            quantizer.quantized = codes_of(x, scale, quantizer.blocks, quantizer.format)
            quantizer.scale = scale
            share(quantizer.quantized, x)
            share(scale, x)
            return
        one = _splat(ir.RankedTensorType.get([], ir.F32Type.get()), 1.0)
        # The formula of `current` reads neither.
        idle = (one, _splat(ir.RankedTensorType.get([1], ir.F32Type.get()), 0.0))
        largest = _over_shards(amax(x), quantizer)
        scale, _ = _updated(quantizer, idle, largest, recipe, "current")
        _quantize(quantizer, x, largest, scale)


def quantize_static(quantizer: Quantizer, recipe: StaticScaling, places: Places) -> None:
    """Quantize by a constant scale."""
    names = [quantizer.name, *quantizer.aliases]
    numbers = recipe.scale(names, quantizer.format)
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        if numbers.ndim and not quantizer.blocks:
            numbers = _one_number(numbers, quantizer.name)
        scale = _constant(numbers)
        quantizer.quantized = fp8.quantize(x, scale, ir.Type.parse(quantizer.format), saturate=True)
        quantizer.scale = scale
        share(quantizer.quantized, x)
        share(scale, x)


def quantize_int8(quantizer: Quantizer, recipe: Int8Scaling, places: Places) -> None:
    """Quantize to i8 by a known scale, or by what the tensor's own amax, or each row's, gives."""
    known = recipe.scale([quantizer.name, *quantizer.aliases])
    with places.after(quantizer.value), quantizer.value.location:
        x = quantizer.source()
        blocks = quantizer.blocks or (0,) * ir.RankedTensorType(x.type).rank
        if known is not None:
            quantizer.scale = _constant(known)
        else:
            largest = block_amax(x, blocks)
            if not quantizer.blocks:
                largest = _over_shards(largest, quantizer)
            quantizer.scale = scale_of_int8(largest)
        quantizer.quantized = codes_of(x, quantizer.scale, blocks, quantizer.format)
        share(quantizer.quantized, x)
        share(quantizer.scale, x)


def _constant(numbers: np.ndarray) -> ir.Value:
    type_ = ir.RankedTensorType.get(list(numbers.shape), ir.F32Type.get())
    return build("constant", type_, [], {"value": dense(numbers, "f32", type_.context)})


def _over_shards(largest: ir.Value, quantizer: Quantizer) -> ir.Value:
    """The largest of what all devices hold, where each computes on its own part."""
    if quantizer.groups is None:
        return largest
    return all_reduce(largest, Group(quantizer.groups), "maximum")


def _one_number(numbers: np.ndarray, name: str) -> np.ndarray:
    if numbers.size != 1:
        raise Fp8Error(f"tensor '{name}' has {numbers.size} scales: it takes one")
    return numbers.reshape(())


def amax(x: ir.Value) -> ir.Value:
    """The largest magnitude in `x`, f32, as rank 0: NaN if there is one, 0 of no elements."""
    type_ = ir.RankedTensorType(x.type)
    scalar = ir.RankedTensorType.get([], type_.element_type)
    zero = _splat(scalar, 0.0)
    op = ir.Operation.create(
        "stablehlo.reduce",
        results=[scalar],
        operands=[build("abs", type_, [x]), zero],
        attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(range(type_.rank)))},
        regions=1,
    )
    block = op.regions[0].blocks.append(scalar, scalar)
    with ir.InsertionPoint(block):
        largest = build("maximum", scalar, list(block.arguments))
        ir.Operation.create("stablehlo.return", operands=[largest])
    return op.results[0]


def _quantize(quantizer: Quantizer, x: ir.Value, largest: ir.Value, scale: ir.Value) -> None:
    element = ir.Type.parse(quantizer.format)
    quantizer.quantized = fp8.quantize(x, scale, element, saturate=True)
    quantizer.scale = scale
    share(quantizer.quantized, x)
    replicate(largest, x)
    replicate(scale, x)
    if x == quantizer.value:
        measured = _op(largest)
        if measured.name == "stablehlo.all_reduce":
            measured = _op(measured.operands[0])
        magnitudes = measured.operands[0]
        quantizer.readers = [_op(magnitudes), _op(quantizer.quantized)]
        return
    convert = _op(x)
    while convert.operands[0] != quantizer.value:
        convert = _op(convert.operands[0])
    quantizer.readers = [convert]


def _op(value: ir.Value) -> ir.Operation:
    return ir.OpResult(value).owner.operation


def _updated(
    quantizer: Quantizer,
    state: State,
    largest: ir.Value,
    recipe: DelayedScaling | CurrentScaling | BlockScaling,
    name: str,
) -> State:
    return fp8.update_scale(
        *state,
        largest,
        ir.Type.parse(quantizer.format),
        recipe=name,
        algorithm=recipe.algorithm if isinstance(recipe, DelayedScaling) else None,
        margin=recipe.margin,
        power_of_two=recipe.power_of_two,
    )


def _splat(type_: ir.RankedTensorType, number: float) -> ir.Value:
    value = ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(type_.element_type, number))
    return build("constant", type_, [], {"value": value})
