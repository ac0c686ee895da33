"""Scaled FP8 around ops of any kind: dequantize, the op in its wide type, amax and quantize.

This is the first approach of the FP8 proposal for XLA (openxla/xla discussion 22). Each tensor that
the ops share is quantized once, where it is made; each op reads what f8 and scale stand for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects import fp8
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.scaling.block_recipes import BlockFormatRecipe
from mlir_fp8.lowering.fp8.scaling.decisions import OpDecision, signature
from mlir_fp8.lowering.fp8.scaling.entry import inlined_entry
from mlir_fp8.lowering.fp8.scaling.float_ops import FLOAT_OPS, data_operands, refuse_op
from mlir_fp8.lowering.fp8.scaling.gradients import Gradient, backward_name, gradients
from mlir_fp8.lowering.fp8.scaling.int8_recipe import Int8Scaling
from mlir_fp8.lowering.fp8.scaling.origins import Origin, origin
from mlir_fp8.lowering.fp8.scaling.quantizers import Quantizer, Quantizers, erase_unused
from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling, Recipe
from mlir_fp8.lowering.fp8.scaling.selection import dequantized_from, is_skipped, place_refusal
from mlir_fp8.lowering.fp8.scaling.settled import is_quantized, measuring
from mlir_fp8.lowering.fp8.scaling.state import insert, quantizer_names
from mlir_fp8.lowering.rewriting.stablehlo import element_type, has_static_shape

_WIDE = ("f32", "bf16", "f16")
_NOTHING_WIDE = (
    "computes on nothing of f32, bf16 or f16 with a static shape but constants and scaled FP8"
)
_MEASURES = "finds an amax for a scale"


@dataclass(frozen=True)
class _Read:
    """An operand that is to be read in scaled FP8."""

    op: ir.Operation
    index: int
    origin: Origin
    quantizer: Quantizer


def quantize_operations(
    module: ir.Operation, recipe: Recipe, names: Sequence[str], entry: str
) -> list[OpDecision]:
    """Surround the ops of `entry` with one of `names` ("all": `FLOAT_OPS`) by quantizers.

    Their float operands and results become scaled FP8, but for constants and for what is scaled
    FP8 already, which stay as they are; signatures stay, too, and so do the bodies of reductions.
    Results of backward ops, and gradients among the operands of dots (`scaled_dot.gradients`), are
    in the recipe's backward format. Calls are inlined.
    """
    wanted = FLOAT_OPS if list(names) == ["all"] else frozenset(names)
    load_fp8_dialect(module.context)
    for name in sorted(wanted, key=str):
        if reason := refuse_op(name, module.context):
            raise Fp8Error(f"'{name}' in ops {reason}")
    if isinstance(recipe, BlockFormatRecipe):
        raise Fp8Error("the recipe has blocks along what a dot sums, which ops do not: drop ops")
    if isinstance(recipe, Int8Scaling):
        raise Fp8Error("the recipe is int8, of dots and convolutions alone: drop ops")
    if not isinstance(recipe, DelayedScaling) and recipe.per != "tensor":
        reason = f"the recipe has a scale per {recipe.per}, which ops do not take"
        raise Fp8Error(f"{reason}: take one that has a scale per tensor")
    function = inlined_entry(module, entry)
    with ir.Location.unknown(module.context):
        ops = [op for op in operations(function) if op.name in wanted and not place_refusal(op)]
        return _Surrounding(function, recipe).surround(ops)


class _Surrounding:
    """Quantizers around ops of one function."""

    def __init__(self, function: ir.Operation, recipe: Recipe) -> None:
        self._function = function
        self._recipe = recipe
        self._quantizers = Quantizers(quantizer_names(function))
        self._measures = measuring(function)
        self._results: dict[ir.Value, Quantizer] = {}
        self._dequantized: dict[tuple[ir.Value, ir.Type], ir.Value] = {}

    def surround(self, ops: Sequence[ir.Operation]) -> list[OpDecision]:
        verdicts = gradients(self._function)
        decisions: list[OpDecision] = []
        reads: list[_Read] = []
        for number, op in enumerate(ops):
            facts = (op.name, op.location, signature(op))
            if reason := is_skipped(op) or (_MEASURES if op in self._measures else ""):
                decisions.append(OpDecision(*facts, left=reason))
                continue
            verdict = verdicts.get(op)
            own = self._reads(op, f"op{number}", verdict)
            reads += own
            operands = [""] * len(op.operands)
            for read in own:
                operands[read.index] = read.quantizer.name
            results = self._writes(op, f"op{number}", verdict)
            if not any((*operands, *results)):
                decisions.append(OpDecision(*facts, left=_NOTHING_WIDE))
                continue
            decisions.append(OpDecision(*facts, tuple(operands), tuple(results)))
        insert(self._function, self._quantizers.all(), self._recipe)
        for read in reads:
            read.op.operands[read.index] = self._read(read)
        for quantizer in self._results.values():
            value = quantizer.value
            readers = list(quantizer.readers)
            wide = self._wide(quantizer, quantizer.quantized, element_type(value))
            value.replace_all_uses_except(wide, readers)
        erase_unused(op for read in reads for op in read.origin.path)
        return decisions

    def _reads(self, op: ir.Operation, name: str, verdict: Gradient | None) -> list[_Read]:
        reads: list[_Read] = []
        gradient = {"lhs": 0, "rhs": 1}.get(verdict.operand) if verdict else None
        for index in data_operands(op):
            value = op.operands[index]
            if not _is_wide(value):
                continue
            source = origin(value)
            if _is_constant(source.value):
                continue
            quantizer = self._results.get(source.value)
            if quantizer is None:
                if dequantized_from(value):
                    continue
                fmt = self._recipe.format_of(is_gradient=index == gradient)
                quantizer = self._quantizers.of(source, fmt, f"{name}.operand{index}")
            reads.append(_Read(op, index, source, quantizer))
        return reads

    def _writes(self, op: ir.Operation, name: str, verdict: Gradient | None) -> list[str]:
        names: list[str] = []
        is_backward = backward_name(op) is not None
        if verdict is not None:
            is_backward = verdict.operand != "none"
        for index, result in enumerate(op.results):
            if not _is_wide(result) or is_quantized(result, self._measures):
                names.append("")
                continue
            fmt = self._recipe.format_of(is_gradient=is_backward)
            quantizer = self._quantizers.of(origin(result), fmt, f"{name}.result{index}")
            self._results[result] = quantizer
            names.append(quantizer.name)
        return names

    def _read(self, read: _Read) -> ir.Value:
        element = element_type(read.op.operands[read.index])
        return self._wide(read.quantizer, read.quantizer.moved(read.origin).codes, element)

    def _wide(
        self, quantizer: Quantizer, small: ir.Value | None, element: ir.Type | None
    ) -> ir.Value:
        """What `small`, a quantized tensor in some arrangement, stands for, made right after it."""
        assert small is not None and element is not None and quantizer.scale is not None
        if (small, element) not in self._dequantized:
            op = ir.OpResult(small).owner.operation
            with ir.InsertionPoint.after(op), op.location:
                wide = fp8.dequantize(small, quantizer.scale, element)
            self._dequantized[small, element] = wide
        return self._dequantized[small, element]


def _is_wide(value: ir.Value) -> bool:
    return has_static_shape(value) and str(element_type(value)) in _WIDE


def _is_constant(value: ir.Value) -> bool:
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.operation.name == "stablehlo.constant"
