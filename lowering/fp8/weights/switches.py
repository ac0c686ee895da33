"""A function whose weights are wide or f8 by flags that it takes: what each costs, in one module.

With a flag set, a weight is what its codes stand for, and what products multiply it by is what its
own codes stand for: in exact arithmetic that is the scaled product.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import function_type, operations
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


def switched(
    module: ir.Operation,
    recipe: Recipe | WeightOnly,
    entry: str,
    patterns: Sequence[str],
    layout: str,
    wide: Sequence[str],
    smoothing: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> list[str]:
    """Let `entry` take a flag for each weight, tensor<Nxi1>, after its own arguments; their names.

    Weights, what stays wide and `smoothing` are those of `quantize_weights`.
    """
    if isinstance(recipe, DelayedScaling):
        raise Fp8Error("recipe has state: take weight_only, current or StaticScaling")
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        products = [op for op in operations(function) if op.name in PRODUCTS]
        found, _ = weights_for(function, patterns, layout, recipe)
        skipped = wide_weights(found, wide)
        selection = Selection()
        weights = [
            each
            for each in found
            if each.name not in skipped
            and not any(
                selection.reason_to_leave(op) or reason_of_recipe(op, recipe)
                for op in each.products
            )
        ]
        inputs = wide_inputs(products, found, wide)
        if not weights:
            raise Fp8Error("no weight can be quantized: see the remarks of fp8-quantize-weights")
        uses = smoothed_weights(function, found, smoothing)
        left_wide = [op for op, reason in zip(products, inputs, strict=True) if reason]
        divided = divided_products(weights, uses, left_wide)
        flags = _flags(function, len(weights))
        if not isinstance(recipe, WeightOnly):
            _switch_inputs(function, recipe, products, weights, flags, inputs, divided)
        for weight, flag in zip(weights, flags, strict=True):
            _switch_weight(weight, flag, recipe.forward)
        return [each.name for each in weights]


def _flags(function: ir.Operation, count: int) -> list[ir.Value]:
    """A new last argument of so many flags, and each of them."""
    block = function.regions[0].blocks[0]
    bit = ir.IntegerType.get_signless(1)
    attributes = described(function, "arg_attrs", len(block.arguments))
    argument = block.add_argument(ir.RankedTensorType.get([count], bit), ir.Location.unknown())
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, ir.DictAttr.get({})])
    type_ = function_type(function)
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([*type_.inputs, argument.type], type_.results)
    )
    found: list[ir.Value] = []
    with ir.InsertionPoint.at_block_begin(block):
        for number in range(count):
            bounds = {
                "start_indices": ir.DenseI64ArrayAttr.get([number]),
                "limit_indices": ir.DenseI64ArrayAttr.get([number + 1]),
                "strides": ir.DenseI64ArrayAttr.get([1]),
            }
            one = build("slice", ir.RankedTensorType.get([1], bit), [argument], bounds)
            found.append(build("reshape", ir.RankedTensorType.get([], bit), [one]))
    return found


def _switch_inputs(
    function: ir.Operation,
    recipe: Recipe,
    products: Sequence[ir.Operation],
    weights: Sequence[Weight],
    flags: Sequence[ir.Value],
    inputs: Sequence[str],
    divided: Mapping[ir.Operation, tuple[ChannelUse, np.ndarray]],
) -> None:
    """Let products of weights read, where the flag of the weight says so, dequantized tensors."""
    quantizers = Quantizers(())
    smoother = Smoother()
    reads: list[tuple[ir.Operation, int, Quantizer, Origin, ir.Value]] = []
    owners = {op: number for number, each in enumerate(weights) for op in each.products}
    of_weights = {value for each in weights for value in (each.value,)}
    for position, op in enumerate(products):
        if op not in owners or inputs[position]:
            continue
        for side, which in enumerate(("lhs", "rhs")):
            value = op.operands[side]
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


def _switch_weight(weight: Weight, flag: ir.Value, format_: str) -> None:
    value = weight.value
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    place = Places().after(value)
    if not isinstance(value.owner, ir.Block):
        place = ir.InsertionPoint.after(value.owner.operation)
    elif isinstance(flag.owner, ir.Operation | ir.OpView):
        place = ir.InsertionPoint.after(flag.owner.operation)
    with place, value.location:
        factors = weight.smoothing
        wide = value if factors is None else rescaled(value, factors)
        f32 = ir.F32Type.get()
        rounded = block_scaled(convert(wide, f32), weight.blocks, format_, weight.rule).wide(f32)
        if factors is not None:
            rounded = rescaled(rounded, np.float32(1) / factors)
        rounded = convert(rounded, element_type(value) or ir.F32Type.get())
        chosen = build("select", value.type, [flag, rounded, value])
    for op, number in uses:
        op.operands[number] = chosen
