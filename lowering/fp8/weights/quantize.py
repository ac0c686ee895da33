"""A function whose weights are quantized once: `quantize_weights`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.block_operands import BlockOperands, merge_summed
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe, NVFP4Scaling
from mlir_fp8.lowering.fp8.scaling.contractions import (
    is_convolution,
    is_product,
    repeated_dims,
)
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient, gradients
from mlir_fp8.lowering.fp8.scaling.int8_products import replace_by_integers
from mlir_fp8.lowering.fp8.scaling.origins import Origin
from mlir_fp8.lowering.fp8.scaling.products import operand_source, reason_of_recipe
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer, Quantizers, erase_unused
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe, WeightOnly
from mlir_fp8.lowering.fp8.scaling.replacement import is_scaled_ragged, replace_product, scales_sum
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.fp8.weights.channels import ChannelUse
from mlir_fp8.lowering.fp8.weights.decisions import WeightDecision, quantized_weight, wide_weight
from mlir_fp8.lowering.fp8.weights.find import Weight, find_weights
from mlir_fp8.lowering.fp8.weights.layouts import recipe_layout
from mlir_fp8.lowering.fp8.weights.names import input_scale_name, own_names
from mlir_fp8.lowering.fp8.weights.products import multiply_codes
from mlir_fp8.lowering.fp8.weights.replace import replace_weights
from mlir_fp8.lowering.fp8.weights.scaled import Scaled, decoding_ops
from mlir_fp8.lowering.fp8.weights.smoothing import Smoother, divided_products, smoothed_weights
from mlir_fp8.lowering.fp8.weights.wide import wide_inputs, wide_weights
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_UNKNOWN = Gradient("none", "default", "it is no dot of static shapes")
_NO_WEIGHT = "multiplies none of the weights"


@dataclass(frozen=True)
class _Product:
    """A product of a weight; `facts` are those of its decision, of before anything was changed."""

    op: ir.Operation
    number: int
    facts: tuple[str, ir.Location, str, str, str, str]
    left: str
    wide: str
    is_of_blocks: bool
    """Whether the recipe has blocks along one summed dimension, which zeros may fill up."""


@dataclass(frozen=True)
class _Operand:
    """An operand that is quantized in each call."""

    origin: Origin
    quantizer: Quantizer


def quantize_weights(
    module: ir.Operation,
    recipe: Recipe | WeightOnly,
    selection: Selection,
    entry: str,
    patterns: Sequence[str],
    layout: str,
    wide: Sequence[str],
    smoothing: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> tuple[list[Decision], list[WeightDecision]]:
    """Let `entry` take the weights that `patterns` name as f8 with scales of `layout`.

    Products with a weight become scaled FP8 by `recipe`, or with `WeightOnly` products of the wide
    operand and the codes; all others stay as they are. What a product that is left reads stays
    wide, and what `wide` names, see `wide_weights` and `wide_inputs`. `smoothing` has factors by
    name, see `smoothed_weights`. Gives what became of each product, and of each weight that a
    pattern matches.
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        if isinstance(recipe, BlockFormatRecipe):
            _prepare_blocks(function, recipe, selection)
        arguments = list(function.regions[0].blocks[0].arguments)
        types = dict(zip(own_names(function), arguments, strict=True))
        weights, left = weights_for(function, patterns, layout, recipe)
        products = _products(function, selection, weights, wide, recipe)
        named_wide = wide_weights(weights, wide)
        left.update(named_wide)
        kept, skipped = _without_left(
            [each for each in weights if each.name not in named_wide], products
        )
        left.update(skipped)
        smoothed = smoothed_weights(function, weights, smoothing)
        notes = _smooth(kept, smoothed, products, recipe)
        weight_decisions = [_decided(each, recipe.forward, notes) for each in kept]
        for name, reason in left.items():
            value = types.get(name) or next(w.value for w in weights if w.name == name)
            type_ = ir.RankedTensorType(value.type)
            weight_decisions.append(wide_weight(name, type_, value.location, reason))
        decisions = _quantize(function, recipe, kept, products)
    return decisions, weight_decisions


def weights_for(
    function: ir.Operation, patterns: Sequence[str], layout: str, recipe: Recipe | WeightOnly
) -> tuple[list[Weight], dict[str, str]]:
    """As `find_weights`; the blocks and scales of a block recipe are its own."""
    if not isinstance(recipe, BlockFormatRecipe):
        return find_weights(function, patterns, layout)
    weights, left = find_weights(function, patterns, recipe_layout(recipe.block))
    for each in weights:
        each.rule = recipe.rule
        each.apart = _apart(each) if isinstance(recipe, NVFP4Scaling) else ()
    return weights, left


def _apart(weight: Weight) -> tuple[int, ...]:
    """Batches and experts of an argument, of which all that reads it has each by itself."""
    if weight.argument is None:
        return ()
    found: set[int] | None = None
    for use in weight.value.uses:
        op, side = use.owner.operation, use.operand_number
        if op not in weight.products:
            return ()
        dims = set(repeated_dims(op, side))
        found = dims if found is None else found & dims
    shape = weight.type.shape
    return tuple(sorted(dim for dim in found or () if shape[dim] > 1))


def _prepare_blocks(
    function: ir.Operation, recipe: BlockFormatRecipe, selection: Selection
) -> None:
    if recipe.hadamard:
        reason = "transforms both operands of backward dots, and weights are quantized before"
        raise Fp8Error(f"hadamard {reason}: drop it")
    operands = BlockOperands()
    for op in operations(function):
        if op.name in PRODUCTS and not selection.reason_to_leave(op):
            merge_summed(op, operands)


def _decided(weight: Weight, format_: str, notes: Mapping[str, str]) -> WeightDecision:
    location = weight.value.location
    facts = (weight.name, weight.type, location, format_, weight.blocks, weight.rule)
    made = quantized_weight(*facts, weight.apart)
    return replace(made, smoothed=notes.get(weight.name, ""))


def _smooth(
    weights: Sequence[Weight],
    smoothed: Mapping[str, Sequence[ChannelUse]],
    products: Sequence[_Product],
    recipe: Recipe | WeightOnly,
) -> dict[str, str]:
    """Divide what products multiply `smoothed` weights by; what became of each of these."""
    wide = {each.op for each in products if each.wide or isinstance(recipe, WeightOnly)}
    asked = [each for each in weights if each.smoothing is not None]
    divided = divided_products(weights, smoothed, wide)
    notes: dict[str, str] = {}
    for weight in asked:
        notes[weight.name] = "not smoothed: what it multiplies stays wide"
        if weight.smoothing is not None:
            notes[weight.name] = f"{weight.smoothing.size} channels smoothed"
    smoother = Smoother()
    for product in products:  # in their order, so that what is shared is made before its first use
        if product.op in divided:
            use, factors = divided[product.op]
            use.op.operands[use.side] = smoother.divided(use, factors)
    return notes


def _products(
    function: ir.Operation,
    selection: Selection,
    weights: Sequence[Weight],
    wide: Sequence[str],
    recipe: Recipe | WeightOnly,
) -> list[_Product]:
    verdicts = gradients(function)
    ops = [op for op in operations(function) if op.name in PRODUCTS]
    left = {
        op: reason
        for op in ops
        if (reason := selection.reason_to_leave(op) or reason_of_recipe(op, recipe))
    }
    left.update(selection.at_the_ends({op: v for op, v in verdicts.items() if op not in left}))
    found: list[_Product] = []
    reasons = wide_inputs(ops, weights, wide)
    for number, op in enumerate(ops):
        verdict = verdicts.get(op, _UNKNOWN)
        facts = (op.name, op.location, signature(op), verdict.operand, verdict.rule, verdict.reason)
        is_of_blocks = isinstance(recipe, BlockFormatRecipe)
        found.append(_Product(op, number, facts, left.get(op, ""), reasons[number], is_of_blocks))
    return found


def _without_left(
    weights: Sequence[Weight], products: Sequence[_Product]
) -> tuple[list[Weight], dict[str, str]]:
    """The weights that no product reads that is left as it is, and why the others stay wide."""
    reasons = {each.op: each.left for each in products if each.left}
    kept: list[Weight] = []
    left: dict[str, str] = {}
    for weight in weights:
        reason = next((reasons[op] for op in weight.products if op in reasons), "")
        if reason:
            left[weight.name] = f"is read by a product that {reason}"
        else:
            kept.append(weight)
    return kept, left


def _quantize(
    function: ir.Operation,
    recipe: Recipe | WeightOnly,
    weights: Sequence[Weight],
    products: Sequence[_Product],
) -> list[Decision]:
    uses = replace_weights(function, weights, {each.name: recipe.forward for each in weights})
    quantizers = Quantizers(quantizer_names(function))
    decisions: list[Decision] = []
    scaled: list[tuple[_Product, list[Scaled | _Operand]]] = []
    dead: list[ir.Operation] = []
    for product in products:
        sides = _sides(product.op, uses.wide)
        if product.left or not sides:
            decisions.append(Decision(*product.facts, left=product.left or _NO_WEIGHT))
            continue
        dead += [each for side in sides for each in decoding_ops(product.op.operands[side])]
        if isinstance(recipe, WeightOnly) or product.wide:
            decisions.append(_weight_only(product, sides, recipe.forward))
            multiply_codes(product.op, sides)
            continue
        operands = [
            sides.get(side) or _operand(product, side, recipe, quantizers, sides) for side in (0, 1)
        ]
        scaled.append((product, operands))
        decisions.append(_decision(product, operands, recipe.forward))
    if not isinstance(recipe, WeightOnly):
        insert(function, quantizers.all(), recipe)
    for product, operands in scaled:
        _replace(product, operands)
        dead += [op for each in operands if isinstance(each, _Operand) for op in each.origin.path]
    erase_unused(dead)
    return decisions


def _sides(op: ir.Operation, wide: Mapping[ir.Value, Scaled]) -> dict[int, Scaled]:
    """The operands of a product that are weights."""
    if not is_product(op):
        return {}
    return {side: wide[value] for side, value in enumerate(op.operands) if value in wide}


def _operand(
    product: _Product,
    side: int,
    recipe: Recipe,
    quantizers: Quantizers,
    weights: Mapping[int, Scaled],
) -> _Operand:
    which, kind = ("lhs", "rhs")[side], "convolution" if is_convolution(product.op) else "dot"
    fmt = recipe.format_of(is_gradient=product.facts[3] == which)
    source, blocks = operand_source(product.op, side, product.op.operands[side], recipe)
    name = f"{kind}{product.number}.{which}"
    quantizer = quantizers.of(source, fmt, name, blocks)
    quantizer.aliases += [input_scale_name(each.name) for each in weights.values()]
    return _Operand(source, quantizer)


def _replace(product: _Product, operands: Sequence[Scaled | _Operand]) -> None:
    """A scaled product; where a last block is smaller, which it does not have, a dot of f32.

    Ragged dots that have no scaled form are of codes, and their sums are scaled.
    """
    op = product.op
    scaled = {side: _scaled(each) for side, each in enumerate(operands)}
    if op.name == RAGGED_DOT and not is_scaled_ragged(op, scaled):
        multiply_codes(op, scaled)
        return
    weights = {i: each for i, each in enumerate(operands) if isinstance(each, Scaled)}
    are_integers = any(each.is_integer for each in scaled.values())
    if are_integers and all(scales_sum(op, side, each.scale) for side, each in scaled.items()):
        replace_by_integers(op, list(scaled.values()), product.facts[3])
        return
    is_whole = not are_integers and all(each.is_whole for each in weights.values())
    if product.is_of_blocks or is_whole:
        replace_product(op, list(scaled.values()), product.facts[3])
        return
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(op), op.location:
        for side, each in enumerate(operands):
            if isinstance(each, _Operand):
                op.operands[side] = scaled[side].wide(f32)
    multiply_codes(op, weights)


def _scaled(operand: Scaled | _Operand) -> Scaled:
    if isinstance(operand, Scaled):
        return operand
    return operand.quantizer.moved(operand.origin)


def _weight_only(product: _Product, sides: Mapping[int, Scaled], format_: str) -> Decision:
    elements = [str(element_type(each)) for each in product.op.operands]
    formats = [format_ if side in sides else elements[side] for side in (0, 1)]
    names = [sides[side].name if side in sides else "wide" for side in (0, 1)]
    found = Decision(*product.facts, (formats[0], formats[1]), (names[0], names[1]))
    return replace(found, wide=f"it multiplies, as {product.wide}" if product.wide else "")


def _decision(product: _Product, operands: Sequence[Scaled | _Operand], format_: str) -> Decision:
    formats = [format_ if isinstance(each, Scaled) else each.quantizer.format for each in operands]
    names = [each.name if isinstance(each, Scaled) else each.quantizer.name for each in operands]
    return Decision(*product.facts, (formats[0], formats[1]), (names[0], names[1]))
