"""Dots and convolutions to scaled FP8."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.contractions import is_convolution
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, signature
from mlir_fp8.lowering.fp8.scaling.entry import called_functions, inlined_entry
from mlir_fp8.lowering.fp8.scaling.gradients import ATTRIBUTE, Gradient, gradients
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer, Quantizers, erase_unused
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe
from mlir_fp8.lowering.fp8.scaling.selection import PRODUCTS, SKIP, Selection
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.rewriting.ragged_dots import RAGGED_DOT

_UNKNOWN = Gradient("none", "default", "it is no dot of static shapes")
_OUTSIDE = ("none", "default", "it is not in the entry")


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
    left = {op: reason for op in products if (reason := selection.reason_to_leave(op))}
    left.update(selection.at_the_ends({op: v for op, v in verdicts.items() if op not in left}))
    quantizers = Quantizers(quantizer_names(function))
    decisions: list[Decision] = []
    wanted: list[_Product] = []
    for number, op in enumerate(products):
        verdict = verdicts.get(op, _UNKNOWN)
        facts = (op.name, op.location, signature(op), verdict.operand, verdict.rule, verdict.reason)
        if op in left:
            decisions.append(Decision(*facts, left=left[op]))
            continue
        lhs, rhs = _operands(op, number, verdict, recipe, quantizers)
        wanted.append(_Product(op, verdict, lhs, rhs))
        formats = (lhs.quantizer.format, rhs.quantizer.format)
        names = (lhs.quantizer.name, rhs.quantizer.name)
        decisions.append(Decision(*facts, formats=formats, quantizers=names))
    insert(function, quantizers.all(), recipe)
    for product in wanted:
        _replace(product)
    erase_unused(op for product in wanted for op in product.path)
    return decisions


def _operands(
    op: ir.Operation, number: int, verdict: Gradient, recipe: Recipe, quantizers: Quantizers
) -> tuple[_Operand, _Operand]:
    kind = "convolution" if is_convolution(op) else "dot"

    def operand(side: int, which: str) -> _Operand:
        source = origin(op.operands[side])
        fmt = recipe.format_of(is_gradient=verdict.operand == which)
        return _Operand(source, quantizers.of(source, fmt, f"{kind}{number}.{which}"))

    return operand(0, "lhs"), operand(1, "rhs")


def _replace(wanted: _Product) -> None:
    op, lhs, rhs = wanted.op, wanted.lhs, wanted.rhs
    if op.name == RAGGED_DOT:
        _dequantize_operands(wanted)
        return
    result = op.results[0]
    shared = {
        "a_scale": lhs.quantizer.scale,
        "b_scale": rhs.quantizer.scale,
        "result_element": ir.RankedTensorType(result.type).element_type,
        # As flax and TransformerEngine: gradients are summed with all bits.
        "fast_accum": wanted.verdict.operand == "none" and not _wants_all_bits(op),
    }
    operands = (lhs.quantizer.moved(lhs.origin), rhs.quantizer.moved(rhs.origin))
    with ir.InsertionPoint(op), op.location:
        if is_convolution(op):
            attributes = {name: op.attributes[name] for name in op.attributes if "." not in name}
            attributes.pop("precision_config", None)
            (product,) = fp8.scaled_convolution(*operands, convolution=attributes, **shared)
        else:
            numbers = _dot_numbers(op)
            (product,) = fp8.scaled_dot(*operands, dot_dimension_numbers=numbers, **shared)
    new = ir.OpResult(product).owner.operation
    for name in op.attributes:
        if "." in name and name != SKIP:
            new.attributes[name] = op.attributes[name]
    new.attributes[ATTRIBUTE] = ir.StringAttr.get(wanted.verdict.operand)
    replace_op(op, [product])


def _dequantize_operands(wanted: _Product) -> None:
    """Let a ragged dot, which has no scaled form, read what f8 and scale stand for, in f32."""
    op, f32 = wanted.op, ir.F32Type.get()
    for side, each in enumerate((wanted.lhs, wanted.rhs)):
        small, scale = each.quantizer.moved(each.origin), each.quantizer.scale
        assert small is not None and scale is not None
        with ir.InsertionPoint(op), op.location:
            op.operands[side] = fp8.dequantize(small, scale, f32)
    if SKIP in op.attributes:
        del op.attributes[SKIP]
    op.attributes[ATTRIBUTE] = ir.StringAttr.get(wanted.verdict.operand)


def _wants_all_bits(op: ir.Operation) -> bool:
    return "precision_config" in op.attributes and "HIGH" in str(op.attributes["precision_config"])


def _dot_numbers(op: ir.Operation) -> ir.Attribute:
    if op.name == "stablehlo.dot_general":
        return op.attributes["dot_dimension_numbers"]
    last = ir.RankedTensorType(op.operands[0].type).rank - 1
    numbers = f"lhs_contracting_dimensions = [{last}], rhs_contracting_dimensions = [0]"
    return ir.Attribute.parse(f"#stablehlo.dot<{numbers}>")
