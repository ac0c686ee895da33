"""Dots and convolutions to scaled FP8."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.block_operands import (
    BlockOperands,
    block_source,
)
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockRecipe
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_convolution
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import called_functions, inlined_entry
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient, gradients
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.scaling.quantizers import (
    Quantizer,
    Quantizers,
    blocks_at,
    erase_unused,
)
from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling, Recipe, WeightOnly
from mlir_fp8.lowering.fp8.scaling.replacement import replace_product, summed_dim
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, Selection
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.rewriting.ragged_dots import RAGGED_DOT

_UNKNOWN = Gradient("none", "default", "it is no dot of static shapes")
_OUTSIDE = ("none", "default", "it is not in the entry")


_SUMS_NOTHING = "sums nothing, so that there is nothing for blocks to run along"
_CONVOLVES = "is a convolution, whose operands have no scales of blocks"


@dataclass(frozen=True)
class _Operand:
    origin: Origin
    quantizer: Quantizer


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
        """The ops between the operands and what they come from."""
        return [*self.lhs.origin.path, *self.rhs.origin.path]


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
    outside = [
        Decision(op.name, op.location, signature(op), *_OUTSIDE, left=_called(callee))
        for callee in called_functions(module, function)
        for op in operations(callee)
        if op.name in PRODUCTS
    ]
    with ir.Location.unknown(module.context):
        return _quantize_products(function, recipe, selection) + outside


def _called(function: ir.Operation) -> str:
    return f"is in '{symbol_name(function)}', which cannot be inlined: make it part of the entry"


def _quantize_products(
    function: ir.Operation, recipe: Recipe, selection: Selection
) -> list[Decision]:
    verdicts = gradients(function)
    products = [op for op in operations(function) if op.name in PRODUCTS]
    left = {
        op: reason
        for op in products
        if (reason := selection.reason_to_leave(op) or reason_of_recipe(op, recipe))
    }
    left.update(selection.at_the_ends({op: v for op, v in verdicts.items() if op not in left}))
    quantizers = Quantizers(quantizer_names(function))
    decisions: list[Decision] = []
    wanted: list[_Product] = []
    operands = BlockOperands()
    for number, op in enumerate(products):
        verdict = verdicts.get(op, _UNKNOWN)
        facts = (op.name, op.location, signature(op), verdict.operand, verdict.rule, verdict.reason)
        if op in left:
            decisions.append(Decision(*facts, left=left[op]))
            continue
        product = _product(op, number, verdict, recipe, quantizers, operands)
        lhs, rhs = product.sides
        wanted.append(product)
        formats = (lhs.quantizer.format, rhs.quantizer.format)
        names = (lhs.quantizer.name, rhs.quantizer.name)
        decisions.append(Decision(*facts, formats=formats, quantizers=names))
    insert(function, quantizers.all(), recipe)
    for product in wanted:
        _replace(product)
    erase_unused(op for product in wanted for op in product.path)
    return decisions


def reason_of_recipe(op: ir.Operation, recipe: Recipe | WeightOnly) -> str:
    """Why `recipe` leaves `op`, which could be quantized, as it is; nothing if it does not."""
    if not isinstance(recipe, BlockRecipe):
        return ""
    if is_convolution(op):
        return _CONVOLVES
    return "" if contracting_dims(op, 0) else _SUMS_NOTHING


def _product(
    op: ir.Operation,
    number: int,
    verdict: Gradient,
    recipe: Recipe,
    quantizers: Quantizers,
    operands: BlockOperands,
) -> _Product:
    kind = "convolution" if is_convolution(op) else "dot"
    values, numbers = list(op.operands)[:2], None
    if isinstance(recipe, BlockRecipe) and op.name != RAGGED_DOT:
        is_backward = verdict.operand != "none"
        values, numbers = operands.of(op, recipe.hadamard if is_backward else 0)

    def operand(side: int, which: str) -> _Operand:
        is_gradient = verdict.operand == which
        fmt = recipe.format_of(is_gradient=is_gradient)
        source, blocks = operand_source(op, side, values[side], recipe, numbers)
        is_apart = is_gradient and isinstance(recipe, BlockRecipe)
        name = f"{kind}{number}.{which}"
        return _Operand(source, quantizers.of(source, fmt, name, blocks, is_gradient=is_apart))

    return _Product(op, verdict, operand(0, "lhs"), operand(1, "rhs"), numbers)


def operand_source(
    op: ir.Operation,
    side: int,
    value: ir.Value,
    recipe: Recipe,
    numbers: ir.Attribute | None = None,
) -> tuple[Origin, Blocks]:
    """Where `value`, an operand of `op`, is quantized, and the blocks of its scales there.

    `numbers` are those of a dot of such operands, where they are others than those of `op`.
    """
    if not isinstance(recipe, BlockRecipe):
        source = origin(value)
        return source, operand_blocks(op, side, source, recipe)
    return block_source(value, summed_dim(op, side, numbers), recipe.block)


def operand_blocks(op: ir.Operation, side: int, source: Origin, recipe: Recipe) -> Blocks:
    """The blocks of an operand's scales: those of rows or channels, where the recipe has them."""
    per = "tensor" if isinstance(recipe, DelayedScaling | BlockRecipe) else recipe.per
    if per == "tensor" or is_convolution(op):
        return ()
    return blocks_at(source, contracting_dims(op, side), per)


def _replace(wanted: _Product) -> None:
    sides = [each.quantizer.moved(each.origin) for each in wanted.sides]
    replace_product(wanted.op, sides, wanted.verdict.operand, wanted.numbers)
