"""Dots and convolutions to scaled FP8."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import defining_op, operations, replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.chlo_ragged_dots import NUMBERS, RAGGED_DOT, is_ragged_batch
from mlir_fp8.dialects.float_formats import PRODUCT_FAMILIES
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.collectives.wire import on_the_wire
from mlir_fp8.lowering.fp8.ops.products import dot_numbers
from mlir_fp8.lowering.fp8.ops.ragged import has_scaled_form
from mlir_fp8.lowering.fp8.scaling.block_layouts import SquareWeights, recipe_blocks
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_convolution
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import called_functions, inlined_entry
from mlir_fp8.lowering.fp8.scaling.gradients import ATTRIBUTE, Gradient, gradients
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.scaling.quantizers import (
    Quantizer,
    Quantizers,
    blocks_at,
    erase_unused,
)
from mlir_fp8.lowering.fp8.scaling.recipes import (
    BlockScaling,
    CurrentScaling,
    DelayedScaling,
    Recipe,
)
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, SKIP, Selection
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.shardings import ManualValues, is_body

_UNKNOWN = Gradient("none", "default", "it is no dot of static shapes")
_STATELESS = "computes on one device's part, where no state can be carried: take recipe=current"
_SIDES = ("lhs", "rhs")
_OUTSIDE = ("none", "default", "it is not in the entry")


@dataclass(frozen=True)
class _Operand:
    """What is to be quantized, or the codes in which an operand came from other devices."""

    origin: Origin
    quantizer: Quantizer | None
    came: Scaled | None = None

    @property
    def format(self) -> str:
        if self.quantizer is not None:
            return self.quantizer.format
        assert self.came is not None
        return str(ir.RankedTensorType(self.came.codes.type).element_type)

    @property
    def name(self) -> str:
        return "of the wire" if self.quantizer is None else self.quantizer.name

    def codes(self) -> Scaled:
        """The codes and the scale in the arrangement of the operand."""
        if self.came is not None:
            return self.came
        assert self.quantizer is not None
        return self.quantizer.moved(self.origin)


@dataclass(frozen=True)
class _Product:
    op: ir.Operation
    verdict: Gradient
    lhs: _Operand
    rhs: _Operand

    @property
    def sides(self) -> tuple[_Operand, _Operand]:
        return self.lhs, self.rhs

    @property
    def path(self) -> list[ir.Operation]:
        """The ops between the operands and what they come from, that which reads codes too."""
        reads = [defining_op(each.origin.value) for each in self.sides if each.came is not None]
        return [*reads, *self.lhs.origin.path, *self.rhs.origin.path]


def quantize_products(
    module: ir.Operation, recipe: Recipe, selection: Selection, entry: str
) -> list[Decision]:
    """Make the dots and convolutions of the function `entry` scaled FP8; what became of each.

    Calls are inlined; what is in functions all the same (of composites, or that call themselves) is
    left. `Fp8Error` where a wanted op can have no state (delayed scaling, in the
    condition of a loop).
    """
    load_fp8_dialect(module.context)
    function = inlined_entry(module, entry)
    called = called_functions(module, function)
    outside = [
        Decision(op.name, op.location, signature(op), *_OUTSIDE, left=_called(callee))
        for callee in called
        for op in operations(callee)
        if op.name in PRODUCTS and not is_body(callee)
    ]
    decisions: list[Decision] = []
    with ir.Location.unknown(module.context):
        for each in (function, *filter(is_body, called)):
            decisions += _quantize_products(each, recipe, selection, len(decisions))
    return decisions + outside


def _called(function: ir.Operation) -> str:
    return f"is in '{symbol_name(function)}', which cannot be inlined: make it part of the entry"


def _quantize_products(
    function: ir.Operation, recipe: Recipe, selection: Selection, first: int
) -> list[Decision]:
    verdicts = gradients(function)
    products = [op for op in operations(function) if op.name in PRODUCTS]
    left = {op: reason for op in products if (reason := selection.reason_to_leave(op))}
    manual = ManualValues(function)
    if isinstance(recipe, DelayedScaling):
        left |= {op: _STATELESS for op in products if manual.groups(op.results[0]) is not None}
    left.update(selection.at_the_ends({op: v for op, v in verdicts.items() if op not in left}))
    quantizers, weights = Quantizers(quantizer_names(function)), SquareWeights(function)
    decisions: list[Decision] = []
    wanted: list[_Product] = []
    for number, op in enumerate(products, first):
        verdict = verdicts.get(op, _UNKNOWN)
        facts = (op.name, op.location, signature(op), verdict.operand, verdict.rule, verdict.reason)
        if op in left:
            decisions.append(Decision(*facts, left=left[op]))
            continue
        square = weights.side_of(op, verdict) if isinstance(recipe, BlockScaling) else None
        lhs, rhs = _operands(op, number, verdict, recipe, quantizers, square)
        wanted.append(_Product(op, verdict, lhs, rhs))
        formats, names = (lhs.format, rhs.format), (lhs.name, rhs.name)
        decisions.append(Decision(*facts, formats=formats, quantizers=names))
    if isinstance(recipe, CurrentScaling) and recipe.shards == "all":
        for quantizer in quantizers.all():
            quantizer.groups = manual.groups(quantizer.value)
    insert(function, quantizers.all(), recipe)
    for product in wanted:
        _replace(product)
    erase_unused(op for product in wanted for op in product.path)
    return decisions


def _operands(
    op: ir.Operation,
    number: int,
    verdict: Gradient,
    recipe: Recipe,
    quantizers: Quantizers,
    square: int | None,
) -> tuple[_Operand, _Operand]:
    kind = "convolution" if is_convolution(op) else "dot"

    came = _came(op, [recipe.format_of(is_gradient=verdict.operand == each) for each in _SIDES])

    def operand(side: int, which: str) -> _Operand:
        source = origin(op.operands[side])
        if came[side] is not None:
            return _Operand(source, None, came[side])
        fmt = recipe.format_of(is_gradient=verdict.operand == which)
        blocks = operand_blocks(op, side, source, recipe, is_weight=side == square)
        return _Operand(source, quantizers.of(source, fmt, f"{kind}{number}.{which}", blocks))

    return operand(0, "lhs"), operand(1, "rhs")


def _came(op: ir.Operation, wanted: Sequence[str]) -> list[Scaled | None]:
    """The operands that came from other devices in FP8, where a product takes their formats."""
    found = [on_the_wire(op.operands[side]) for side in (0, 1)]
    formats = [
        want if each is None else str(ir.RankedTensorType(each.codes.type).element_type)
        for each, want in zip(found, wanted, strict=True)
    ]
    is_pair = any(set(formats) <= family for family in PRODUCT_FAMILIES)
    return found if is_pair and formats != ["f8E5M2", "f8E5M2"] else [None, None]


def operand_blocks(
    op: ir.Operation, side: int, source: Origin, recipe: Recipe, *, is_weight: bool = False
) -> Blocks:
    """The blocks of an operand's scales, of rows or channels too, where the recipe has them."""
    if isinstance(recipe, BlockScaling):
        return recipe_blocks(op, side, source, is_weight=is_weight)
    per = "tensor" if isinstance(recipe, DelayedScaling) else recipe.per
    if per == "tensor" or is_convolution(op):
        return ()
    return blocks_at(source, contracting_dims(op, side), per)


def _replace(wanted: _Product) -> None:
    moved = [each.codes() for each in wanted.sides]
    sides = [(each.codes, each.scale) for each in moved]
    replace_product(wanted.op, sides, wanted.verdict.operand)


def replace_product(
    op: ir.Operation, sides: Sequence[tuple[ir.Value, ir.Value | None]], gradient: str
) -> None:
    """Replace `op` by a scaled product of `sides`: the codes and the scale of each operand.

    The sum is scaled where one scale is that of all that is summed for a result; else operands
    are dequantized to f32 before. So are those of ragged dots that are no `fp8.scaled_ragged_dot`.
    """
    result = op.results[0]
    (a, a_scale), (b, b_scale) = sides
    at_sum = all(scales_sum(op, side, scale) for side, (_, scale) in enumerate(sides))
    is_ragged = op.name == RAGGED_DOT and not is_ragged_batch(op)
    if is_ragged and not (at_sum and has_scaled_form(op, [scale for _, scale in sides])):
        _dequantize_operands(op, sides, gradient)
        return
    shared = {
        "a_scale": a_scale,
        "b_scale": b_scale,
        "result_element": ir.RankedTensorType(result.type).element_type,
        # As flax and TransformerEngine: gradients are summed with all bits.
        "fast_accum": gradient == "none" and not _wants_all_bits(op),
    }
    if not is_ragged:
        shared["operand_type"] = None if at_sum else ir.F32Type.get()
    with ir.InsertionPoint(op), op.location:
        if is_ragged:
            numbers = {NUMBERS: op.attributes[NUMBERS]}
            product = fp8.scaled_ragged_dot(a, b, op.operands[2], **numbers, **shared)
        elif is_convolution(op):
            attributes = {name: op.attributes[name] for name in op.attributes if "." not in name}
            attributes.pop("precision_config", None)
            (product,) = fp8.scaled_convolution(a, b, convolution=attributes, **shared)
        else:
            numbers = dot_numbers(op)
            (product,) = fp8.scaled_dot(a, b, dot_dimension_numbers=numbers, **shared)
    new = ir.OpResult(product).owner.operation
    for name in op.attributes:
        if "." in name and name != SKIP:
            new.attributes[name] = op.attributes[name]
    new.attributes[ATTRIBUTE] = ir.StringAttr.get(gradient)
    replace_op(op, [product])


def scales_sum(op: ir.Operation, side: int, scale: ir.Value | None) -> bool:
    """Whether `scale`, of operand `side`, is the same for all that `op` sums for a result."""
    shape = [] if scale is None else list(ir.RankedTensorType(scale.type).shape)
    if not shape:
        return True
    return not is_convolution(op) and all(shape[d] == 1 for d in contracting_dims(op, side))


def _dequantize_operands(
    op: ir.Operation, sides: Sequence[tuple[ir.Value, ir.Value | None]], gradient: str
) -> None:
    """Let a ragged dot read what f8 and scale stand for, in f32."""
    for side, (codes, scale) in enumerate(sides):
        if scale is None:
            continue
        with ir.InsertionPoint(op), op.location:
            op.operands[side] = fp8.dequantize(codes, scale, ir.F32Type.get())
    if SKIP in op.attributes:
        del op.attributes[SKIP]
    op.attributes[ATTRIBUTE] = ir.StringAttr.get(gradient)


def _wants_all_bits(op: ir.Operation) -> bool:
    return "precision_config" in op.attributes and "HIGH" in str(op.attributes["precision_config"])
