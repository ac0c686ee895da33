"""A function whose weights are f8 as a checkpoint has them, each with its own scheme."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.float_formats import PRODUCT_FAMILIES
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_convolution, is_product
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.quantizers import erase_unused
from mlir_fp8.lowering.fp8.scaling.replacement import is_scaled_ragged, replace_product
from mlir_fp8.lowering.fp8.weights.decisions import WeightDecision, quantized_weight
from mlir_fp8.lowering.fp8.weights.find import Weight, find_weights
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.products import multiply_codes
from mlir_fp8.lowering.fp8.weights.replace import replace_weights
from mlir_fp8.lowering.fp8.weights.scaled import Scaled, decoding_ops, quantized
from mlir_fp8.lowering.rewriting.carries import drop_invariant_carries
from mlir_fp8.lowering.rewriting.stablehlo import convert

_GROUP = 128
"""Elements of a token that share a scale, as in DeepSeek-V3 and compressed-tensors' FP8_BLOCK."""

_RANGE = "f8E5M2"
"""Activations want a bit of precision more, and GPU libraries have no product of two."""


@dataclass(frozen=True)
class WeightScheme:
    """The format and blocks of a weight, and what its products do with the other operand.

    `activation` is "wide", which leaves it as it is; "static", which divides by `input_scale`;
    "tensor", "token" or "group", whose scales are of its own amax: one, one for all that a
    result sums, one for each 128 of these. Activations are of the format of the weight, of
    f8E4M3FN with f8E5M2.
    """

    format: str
    blocks: Blocks
    activation: str = "wide"
    input_scale: float | None = None


def quantize_by_schemes(
    module: ir.Operation, entry: str, schemes: Mapping[str, WeightScheme]
) -> tuple[list[Decision], list[WeightDecision]]:
    """Let `entry` take the weights that `schemes` name in f8, with their scales.

    Raises `Fp8Error` for a name that is no argument's or of no weight. What became of each
    product, and of each weight.
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        drop_invariant_carries(function)
        weights, _ = find_weights(function, list(schemes), "tensor")
        for weight in weights:
            weight.blocks = schemes[weight.name].blocks
        formats = {name: each.format for name, each in schemes.items()}
        of_weights = [_decided(each, formats[each.name]) for each in weights]
        wide = replace_weights(function, weights, formats).wide
        decisions: list[Decision] = []
        dead: list[ir.Operation] = []
        for op in operations(function):
            if not is_product(op):
                continue
            sides = {side: wide[value] for side, value in enumerate(op.operands) if value in wide}
            facts = (op.name, op.location, signature(op), "none", "default", "it is of inference")
            if not sides:
                decisions.append(Decision(*facts, left="multiplies none of the weights"))
                continue
            dead += [each for side in sides for each in decoding_ops(op.operands[side])]
            decisions.append(_quantized(op, facts, sides, schemes))
        erase_unused(dead)
    return decisions, of_weights


def _decided(weight: Weight, format_: str) -> WeightDecision:
    location = weight.value.location
    return quantized_weight(weight.name, weight.type, location, format_, weight.blocks)


def _quantized(
    op: ir.Operation,
    facts: tuple[str, ir.Location, str, str, str, str],
    weights: Mapping[int, Scaled],
    schemes: Mapping[str, WeightScheme],
) -> Decision:
    """Replace a product of `weights`, of which the other operand is quantized by their scheme.

    Two that no hardware multiplies are made wide, which is exact.
    """
    formats = [str(ir.RankedTensorType(each.type).element_type) for each in op.operands]
    names = ["wide", "wide"]
    sides = dict(weights)
    if len(weights) == 1:
        ((side, weight),) = weights.items()
        scheme = schemes[weight.name]
        if scheme.activation != "wide":
            format_ = "f8E4M3FN" if scheme.format == _RANGE else scheme.format
            sides[1 - side] = _activation(op, 1 - side, scheme, format_)
    for side, each in sides.items():
        formats[side] = str(ir.RankedTensorType(each.codes.type).element_type)
        names[side] = each.name or "activation"
    is_whole = all(each.is_whole for each in sides.values())
    is_multiplied = any(set(formats) <= family for family in PRODUCT_FAMILIES)
    is_multiplied &= op.name != RAGGED_DOT or is_scaled_ragged(op, sides)
    if len(sides) == 2 and is_whole and is_multiplied:
        replace_product(op, [sides[0], sides[1]], "none")
    else:
        multiply_codes(op, sides)
    return Decision(*facts, formats=(formats[0], formats[1]), quantizers=(names[0], names[1]))


def _activation(op: ir.Operation, side: int, scheme: WeightScheme, format_: str) -> Scaled:
    operand = op.operands[side]
    rank = ir.RankedTensorType(operand.type).rank
    blocks = (0,) * rank
    if scheme.activation in ("token", "group"):
        if is_convolution(op):
            reason = f"takes activations with a scale per {scheme.activation}"
            raise op_error(op, f"{reason}: a convolution has one for all, activation 'tensor'")
        summed = list(contracting_dims(op, side))
        inner = _GROUP if scheme.activation == "group" else 0
        last = max(summed, default=-1)
        whole = 0 if scheme.activation == "token" else 1
        blocks = tuple(
            inner if dim == last else whole if dim in summed else 1 for dim in range(rank)
        )
    with ir.InsertionPoint(op), op.location:
        if scheme.activation != "static":
            return quantized(operand, blocks, format_)
        assert scheme.input_scale is not None
        x = convert(operand, ir.F32Type.get())
        scale = number(ir.RankedTensorType.get([], ir.F32Type.get()), scheme.input_scale)
        codes = fp8.quantize(x, scale, ir.Type.parse(format_), saturate=True)
        return Scaled(codes, scale, blocks)
