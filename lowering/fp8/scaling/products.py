"""Dots and convolutions to scaled FP8."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import defining_op, operations
from mlir_fp8.dialects.chlo_ragged_dots import RAGGED_DOT
from mlir_fp8.dialects.float_formats import PRODUCT_FAMILIES
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.collectives.wire import on_the_wire
from mlir_fp8.lowering.fp8.scaling.block_layouts import SquareWeights, recipe_blocks
from mlir_fp8.lowering.fp8.scaling.block_operands import BlockOperands, block_source
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe, NVFP4Scaling
from mlir_fp8.lowering.fp8.scaling.contractions import (
    contracting_dims,
    is_convolution,
    repeated_dims,
)
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import called_functions, inlined_entry
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient, gradients
from mlir_fp8.lowering.fp8.scaling.int8_products import replace_by_integers
from mlir_fp8.lowering.fp8.scaling.int8_recipe import MOST_SUMMANDS, Int8Scaling
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
    WeightOnly,
)
from mlir_fp8.lowering.fp8.scaling.replacement import replace_product, summed_dim
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection, product_sizes
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.moves import blocks_after
from mlir_fp8.lowering.fp8.weights.scaled import Scaled
from mlir_fp8.lowering.rewriting.shardings import ManualValues, is_body

_UNKNOWN = Gradient("none", "default", "it is no dot of static shapes")
_STATELESS = "computes on one device's part, where no state can be carried: take recipe=current"
_SIDES = ("lhs", "rhs")
_OUTSIDE = ("none", "default", "it is not in the entry")


_SUMS_NOTHING = "sums nothing, so that there is nothing for blocks to run along"
_CONVOLVES = "is a convolution, whose operands have no scales of blocks"
_RAGGED = "is a ragged dot, whose groups have no dot of integers: take an FP8 recipe"
_TOO_MANY = f"sums more than {MOST_SUMMANDS} products of integers, which i32 does not hold"
_NO_SUMMANDS = "sums nothing, so that there is nothing to quantize"
_BACKWARD = "is of the backward pass (gradients=False)"


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
    numbers: ir.Attribute | None = None
    """Of a dot of the operands as they are quantized; None for those of `op`."""

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
    left = {
        op: reason
        for op in products
        if (reason := selection.reason_to_leave(op) or reason_of_recipe(op, recipe))
    }
    if isinstance(recipe, Int8Scaling) and not recipe.gradients:
        backward = [op for op, verdict in verdicts.items() if verdict.operand != "none"]
        left = dict.fromkeys(backward, _BACKWARD) | left
    if isinstance(recipe, DelayedScaling):
        manual = ManualValues(function)
        left |= {op: _STATELESS for op in products if manual.groups(op.results[0]) is not None}
    left.update(selection.at_the_ends({op: v for op, v in verdicts.items() if op not in left}))
    quantizers, weights = Quantizers(quantizer_names(function)), SquareWeights(function)
    decisions: list[Decision] = []
    wanted: list[_Product] = []
    operands = BlockOperands()
    for number, op in enumerate(products, first):
        verdict = verdicts.get(op, _UNKNOWN)
        facts = (op.name, op.location, signature(op), verdict.operand, verdict.rule, verdict.reason)
        if op in left:
            decisions.append(Decision(*facts, left=left[op]))
            continue
        square = weights.side_of(op, verdict) if isinstance(recipe, BlockScaling) else None
        product = _product(op, number, verdict, recipe, quantizers, operands, square)
        wanted.append(product)
        lhs, rhs = product.sides
        formats, names = (lhs.format, rhs.format), (lhs.name, rhs.name)
        decisions.append(Decision(*facts, formats=formats, quantizers=names))
    if _is_over_shards(recipe):
        manual = ManualValues(function)  # with the operands that were arranged for blocks
        for quantizer in quantizers.all():
            quantizer.groups = manual.groups(quantizer.value)
    insert(function, quantizers.all(), recipe)
    for product in wanted:
        _replace(product, recipe)
    erase_unused(op for product in wanted for op in product.path)
    return decisions


def reason_of_recipe(op: ir.Operation, recipe: Recipe | WeightOnly) -> str:
    """Why `recipe` leaves `op`, which could be quantized, as it is; nothing if it does not."""
    if isinstance(recipe, Int8Scaling):
        if op.name == RAGGED_DOT:
            return _RAGGED
        summands = product_sizes(op)[2]
        if summands == 0:
            return _NO_SUMMANDS
        return _TOO_MANY if summands > MOST_SUMMANDS else ""
    if not isinstance(recipe, BlockFormatRecipe):
        return ""
    if is_convolution(op):
        return _CONVOLVES
    return "" if contracting_dims(op, 0) else _SUMS_NOTHING


def _is_over_shards(recipe: Recipe) -> bool:
    """Whether one number is that of all parts of a tensor."""
    return isinstance(recipe, NVFP4Scaling | Int8Scaling) or (
        isinstance(recipe, CurrentScaling) and recipe.shards == "all"
    )


def _product(
    op: ir.Operation,
    number: int,
    verdict: Gradient,
    recipe: Recipe,
    quantizers: Quantizers,
    operands: BlockOperands,
    square: int | None,
) -> _Product:
    kind = "convolution" if is_convolution(op) else "dot"
    values, numbers = list(op.operands)[:2], None
    if isinstance(recipe, BlockFormatRecipe) and op.name != RAGGED_DOT:
        is_backward = verdict.operand != "none"
        values, numbers = operands.of(op, recipe.hadamard if is_backward else 0)
    came = _came(op, verdict, recipe)

    def operand(side: int, which: str) -> _Operand:
        is_gradient = verdict.operand == which
        if came[side] is not None:
            return _Operand(origin(op.operands[side]), None, came[side])
        fmt = recipe.format_of(is_gradient=is_gradient)
        is_weight = side == square
        source, blocks = operand_source(
            op, side, values[side], recipe, numbers, is_weight=is_weight
        )
        is_apart = is_gradient and isinstance(recipe, BlockFormatRecipe)
        name = f"{kind}{number}.{which}"
        apart = numbers_apart(op, side, recipe, source, numbers)
        quantizer = quantizers.of(source, fmt, name, blocks, is_gradient=is_apart, apart=apart)
        return _Operand(source, quantizer)

    return _Product(op, verdict, operand(0, "lhs"), operand(1, "rhs"), numbers)


def numbers_apart(
    op: ir.Operation, side: int, recipe: Recipe, source: Origin, numbers: ir.Attribute | None
) -> tuple[int, ...]:
    """The dimensions of an operand along which NVFP4 has a number for each index.

    They are those of batches, and of experts, in the arrangement of its origin, where the numbers
    can follow the operand from there.
    """
    if not isinstance(recipe, NVFP4Scaling) or recipe.scales is not None:
        return ()
    if numbers is not None:
        of = _stablehlo.DotDimensionNumbers(numbers)
        found = list((of.lhs_batching_dimensions, of.rhs_batching_dimensions)[side])
    else:
        found = repeated_dims(op, side)
    shape = ir.RankedTensorType(source.value.type).shape
    apart = {dim for dim in source.dims_of(found) if shape[dim] > 1}
    blocks: Blocks | None = tuple(int(dim in apart) for dim in range(len(shape)))
    for each in source.moves:
        blocks = None if blocks is None else blocks_after(each, 0, blocks)
    sizes = (
        shape if not source.moves else ir.RankedTensorType(source.moves[-1].results[0].type).shape
    )
    own = tuple(int(dim in found and size > 1) for dim, size in enumerate(sizes))
    return tuple(sorted(apart)) if blocks == own else ()


def operand_source(
    op: ir.Operation,
    side: int,
    value: ir.Value,
    recipe: Recipe,
    numbers: ir.Attribute | None = None,
    *,
    is_weight: bool = False,
) -> tuple[Origin, Blocks]:
    """Where `value`, an operand of `op`, is quantized, and the blocks of its scales there.

    `numbers` are those of a dot of such operands, where they are others than those of `op`.
    `is_weight` is for `block`, see `SquareWeights`.
    """
    if not isinstance(recipe, BlockFormatRecipe):
        source = origin(value)
        return source, operand_blocks(op, side, source, recipe, is_weight=is_weight)
    return block_source(value, summed_dim(op, side, numbers), recipe.block)


def _came(op: ir.Operation, verdict: Gradient, recipe: Recipe) -> list[Scaled | None]:
    """The operands that came from other devices in FP8, where a product takes their formats.

    None where a recipe has blocks of its own or integers, which did not travel.
    """
    if isinstance(recipe, BlockFormatRecipe | Int8Scaling):
        return [None, None]
    wanted = [recipe.format_of(is_gradient=verdict.operand == each) for each in _SIDES]
    found = [on_the_wire(op.operands[side]) for side in (0, 1)]
    formats = [
        want if each is None else str(ir.RankedTensorType(each.codes.type).element_type)
        for each, want in zip(found, wanted, strict=True)
    ]
    is_pair = any(set(formats) <= family for family in PRODUCT_FAMILIES)
    return found if is_pair else [None, None]


def operand_blocks(
    op: ir.Operation, side: int, source: Origin, recipe: Recipe, *, is_weight: bool = False
) -> Blocks:
    """The blocks of an operand's scales, of rows or channels too, where the recipe has them."""
    if isinstance(recipe, BlockScaling):
        return recipe_blocks(op, side, source, is_weight=is_weight)
    per = "tensor" if isinstance(recipe, DelayedScaling | BlockFormatRecipe) else recipe.per
    if per == "tensor" or is_convolution(op):
        return ()
    return blocks_at(source, contracting_dims(op, side), per)


def _replace(wanted: _Product, recipe: Recipe) -> None:
    sides = [each.codes() for each in wanted.sides]
    if isinstance(recipe, Int8Scaling):
        replace_by_integers(wanted.op, sides, wanted.verdict.operand)
        return
    replace_product(wanted.op, sides, wanted.verdict.operand, wanted.numbers)
