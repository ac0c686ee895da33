"""A function whose weights are wide or f8 by flags that it takes: what each costs, in one module.

With a flag set, a weight is what its codes stand for, and what products multiply it by is what its
own codes stand for: in exact arithmetic that is the scaled product.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type, operations
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.block_insertion import block_scaled
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.insertion import Places
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.scaling.products import operand_source, reason_of_recipe
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer, Quantizers
from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling, Recipe, WeightOnly
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection
from mlir_fp8.lowering.fp8.scaling.state import insert
from mlir_fp8.lowering.fp8.weights.channels import ChannelUse
from mlir_fp8.lowering.fp8.weights.find import Weight
from mlir_fp8.lowering.fp8.weights.names import described, input_scale_name
from mlir_fp8.lowering.fp8.weights.quantize import weights_for
from mlir_fp8.lowering.fp8.weights.smoothing import (
    Smoother,
    divided_products,
    rescaled,
    smoothed_weights,
)
from mlir_fp8.lowering.fp8.weights.wide import wide_inputs, wide_weights
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type


@dataclass(frozen=True)
class Switch:
    """A weight that flags make f8, its elements, and how many bits one has that is wide."""

    name: str
    elements: int
    bits: int


@dataclass(frozen=True)
class _Plan:
    """What a recipe quantizes of a function that is still as it was."""

    recipe: Recipe | WeightOnly
    weights: list[Weight]
    inputs: Sequence[str]
    divided: Mapping[ir.Operation, tuple[ChannelUse, np.ndarray]]


def switched(
    module: ir.Operation,
    recipes: Sequence[Recipe | WeightOnly],
    entry: str,
    patterns: Sequence[str],
    layout: str,
    wide: Sequence[str],
    smoothing: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> list[Switch]:
    """Let `entry` take flags, tensor<RxNxi1>, after its own arguments: for each recipe and weight.

    At most one recipe has the flag of a weight. Weights, those that all recipes take, what stays
    wide and `smoothing` are those of `quantize_weights`.
    """
    if any(isinstance(each, DelayedScaling) for each in recipes):
        raise Fp8Error("recipe has state: take weight_only, current or StaticScaling")
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        products = [op for op in operations(function) if op.name in PRODUCTS]
        plans = [
            _plan(function, products, each, patterns, layout, wide, smoothing) for each in recipes
        ]
        names = set.intersection(*({each.name for each in plan.weights} for plan in plans))
        if not names:
            raise Fp8Error("no weight can be quantized: see the remarks of fp8-quantize-weights")
        groups = [[each for each in plan.weights if each.name in names] for plan in plans]
        count = len(groups[0])
        flags = _flags(function, len(recipes), count)
        # By place: the hash of an op is that of its operands too.
        given = [[op.operands[0], op.operands[1]] for op in products]
        for plan, weights, own in zip(plans, groups, flags, strict=True):
            if not isinstance(plan.recipe, WeightOnly):
                _switch_inputs(function, plan, weights, products, own, given)
        formats = [each.forward for each in recipes]
        for number in range(count):
            same = [
                next(each for each in group if each.name == groups[0][number].name)
                for group in groups
            ]
            _switch_weight(same, [own[number] for own in flags], formats)
        return [_switch(each) for each in groups[0]]


def _switch(weight: Weight) -> Switch:
    type_ = ir.RankedTensorType(weight.value.type)
    bits = FORMATS[str(type_.element_type)].bits
    return Switch(weight.name, math.prod(type_.shape), bits)


def _plan(
    function: ir.Operation,
    products: Sequence[ir.Operation],
    recipe: Recipe | WeightOnly,
    patterns: Sequence[str],
    layout: str,
    wide: Sequence[str],
    smoothing: Mapping[str, np.ndarray],
) -> _Plan:
    found, _ = weights_for(function, patterns, layout, recipe)
    skipped = wide_weights(found, wide)
    selection = Selection()
    weights = [
        each
        for each in found
        if each.name not in skipped
        and not any(
            selection.reason_to_leave(op) or reason_of_recipe(op, recipe) for op in each.products
        )
    ]
    inputs = wide_inputs(products, found, wide)
    uses = smoothed_weights(function, found, smoothing)
    left_wide = [op for op, reason in zip(products, inputs, strict=True) if reason]
    return _Plan(recipe, weights, inputs, divided_products(weights, uses, left_wide))


def _flags(function: ir.Operation, rows: int, count: int) -> list[list[ir.Value]]:
    """A new last argument of so many rows of flags, and each of them."""
    block = function.regions[0].blocks[0]
    bit = ir.IntegerType.get_signless(1)
    attributes = described(function, "arg_attrs", len(block.arguments))
    argument = block.add_argument(
        ir.RankedTensorType.get([rows, count], bit), ir.Location.unknown()
    )
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, ir.DictAttr.get({})])
    type_ = function_type(function)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*type_.inputs, argument.type], type_.results)
    )
    with ir.InsertionPoint.at_block_begin(block):
        return [[_flag(argument, row, at) for at in range(count)] for row in range(rows)]


def _flag(flags: ir.Value, row: int, at: int) -> ir.Value:
    bit = ir.IntegerType.get_signless(1)
    bounds = {
        "start_indices": ir.DenseI64ArrayAttr.get([row, at]),
        "limit_indices": ir.DenseI64ArrayAttr.get([row + 1, at + 1]),
        "strides": ir.DenseI64ArrayAttr.get([1, 1]),
    }
    one = build("slice", ir.RankedTensorType.get([1, 1], bit), [flags], bounds)
    return build("reshape", ir.RankedTensorType.get([], bit), [one])


def _switch_inputs(
    function: ir.Operation,
    plan: _Plan,
    weights: Sequence[Weight],
    products: Sequence[ir.Operation],
    flags: Sequence[ir.Value],
    given: Sequence[Sequence[ir.Value]],
) -> None:
    """Let products of weights read, where the flag of the weight says so, dequantized tensors.

    `given` are the operands of products as they were.
    """
    recipe, inputs, divided = plan.recipe, plan.inputs, plan.divided
    assert not isinstance(recipe, WeightOnly)
    quantizers = Quantizers(())
    smoother = Smoother()
    reads: list[tuple[ir.Operation, int, Quantizer, Origin, ir.Value]] = []
    owners = {op: number for number, each in enumerate(weights) for op in each.products}
    of_weights = {value for each in weights for value in (each.value,)}
    for position, op in enumerate(products):
        if op not in owners or inputs[position]:
            continue
        for side, which in enumerate(("lhs", "rhs")):
            value = given[position][side]
            if origin(value).value in of_weights:
                continue
            if op in divided:
                value = smoother.divided(*divided[op])
            kind = "convolution" if op.name == "stablehlo.convolution" else "dot"
            source, blocks = operand_source(op, side, value, recipe)
            name = f"{kind}{position}.{which}"
            found = quantizers.of(source, recipe.format_of(is_gradient=False), name, blocks)
            found.aliases.append(input_scale_name(weights[owners[op]].name))
            reads.append((op, side, found, source, flags[owners[op]]))
    insert(function, quantizers.all(), recipe)
    for op, side, quantizer, source, flag in reads:
        moved = quantizer.moved(source)
        before = op.operands[side]
        with ir.InsertionPoint(op), op.location:
            small = moved.wide(ir.F32Type.get())
            if op in divided:
                use, factors = divided[op]
                small = rescaled(small, factors.reshape(-1)[use.index])
            rounded = convert(small, element_type(before) or ir.F32Type.get())
            op.operands[side] = build("select", before.type, [flag, rounded, before])


def _switch_weight(
    weights: Sequence[Weight], flags: Sequence[ir.Value], formats: Sequence[str]
) -> None:
    """Let products read what a weight is by the recipe whose flag is set; `weights` are one."""
    value = weights[0].value
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    chosen = value
    for weight, flag, format_ in zip(weights, flags, formats, strict=True):
        place = Places().after(value)
        if chosen != value:
            place = ir.InsertionPoint.after(ir.OpResult(chosen).owner.operation)
        elif not isinstance(value.owner, ir.Block):
            place = ir.InsertionPoint.after(value.owner.operation)
        elif isinstance(flags[-1].owner, ir.Operation | ir.OpView):
            place = ir.InsertionPoint.after(flags[-1].owner.operation)
        with place, value.location:
            rounded = _rounded(weight, format_)
            chosen = build("select", value.type, [flag, rounded, chosen])
    for op, number in uses:
        op.operands[number] = chosen


def _rounded(weight: Weight, format_: str) -> ir.Value:
    value, factors, f32 = weight.value, weight.smoothing, ir.F32Type.get()
    wide = value if factors is None else rescaled(value, factors)
    of_blocks = weight.blocks, format_, weight.rule
    rounded = block_scaled(convert(wide, f32), *of_blocks, apart=weight.apart).wide(f32)
    if factors is not None:
        rounded = rescaled(rounded, np.float32(1) / factors)
    return convert(rounded, element_type(value) or f32)
