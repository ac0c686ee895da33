"""Quantizations that dots contract along either dimension, and where their kernels go.

A tensor is a matrix: its last dimension, and all others as one.
"""

import math
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from mlir_fp8.base.operations import operations, producer
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.dialects._fp8_ragged_parts import ragged_parts
from mlir_fp8.lowering.fp8.ops.scaling import number
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import is_positive_zero
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.quantize_transpose import (
    QuantizeTranspose,
    quantize_transpose_kernel,
)
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, transpose_verdict
from mlir_fp8.lowering.gpu.xla.elementwise import FUSED
from mlir_fp8.lowering.gpu.xla.moves import has_copy, moved, moves_of, permutation
from mlir_fp8.lowering.gpu.xla.product_dims import reshaped
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue, erase_unused, prologue_of
from mlir_fp8.lowering.gpu.xla.ragged_operands import RAGGED, takes_turned, turn_ragged
from mlir_fp8.lowering.rewriting.stablehlo import element_type

FORMATS = ("f8E4M3FN", "f8E5M2")
MOST_ELEMENTS = 1 << 31


@dataclass(frozen=True)
class Quantizer:
    """An `fp8.quantize`, the tensor that it loads, and its uses."""

    op: ir.Operation
    source: ir.Value
    moves: list[ir.Operation]
    """What makes a matrix of the codes; the kernel loads the tensor after the same moves."""
    plain: list[ir.Operation]
    """What takes the codes as they are."""
    turned: list[tuple[ir.Operation, int]]
    """Dots that contract all but the last dimension of operand 0 or 1."""
    transposes: list[ir.Operation]
    amax: ir.Operation | None
    prologue: FoundPrologue | str
    """What makes the tensor, which then is not read; or why that is left to XLA."""

    @property
    def codes(self) -> ir.Value:
        """Those that dots take."""
        return (self.moves or [self.op])[-1].results[0]

    @property
    def bytes(self) -> int:
        """What is read for an element."""
        if isinstance(self.prologue, FoundPrologue):
            return self.prologue.prologue.bytes
        return ELEMENTS[str(element_type(self.source))].size

    @property
    def made_for_it(self) -> bool:
        """Whether XLA would not write what is read, but compute it as it quantizes."""
        if isinstance(self.prologue, FoundPrologue):
            return False
        op = producer(self.source)
        if op is None or op.name not in FUSED:
            return False
        x = self.op.operands[0]
        if x != self.source:
            return users(self.source) == [producer(x)]
        return all(user == self.op or user.name == "stablehlo.abs" for user in users(x))

    @property
    def place(self) -> ir.Operation:
        """Before what a kernel stands: the first op that it is in the place of."""
        first = self.op
        if self.amax is not None and self.amax.is_before_in_block(first):
            first = self.amax
        return first


def quantizer_of(
    op: ir.Operation, *, grouped: bool = False, prologues: bool = True
) -> Quantizer | str:
    """What is known of an `fp8.quantize`; or why no kernel computes it.

    With `grouped` ragged dots, which kernels then are, take transposes as dots do. With `prologues`
    also of the ops in front of it.
    """
    x, scale = op.operands
    type_ = ir.RankedTensorType(x.type)
    if str(type_.element_type) != "f32":
        return f"it divides in {type_.element_type}"
    if type_.rank < 2 or not type_.has_static_shape or not math.prod(type_.shape):
        return f"{type_} is no matrix"
    if math.prod(type_.shape) >= MOST_ELEMENTS:
        return f"{type_} has 2^31 elements or more"
    if str(element_type(op.results[0])) not in FORMATS or not is_set(op, "saturate"):
        return "it does not saturate to f8E4M3FN or f8E5M2"
    if str(scale.type) != "tensor<f32>":
        return f"its scale is a {scale.type}"

    def is_turned(codes: ir.Value) -> bool:
        uses = uses_of_codes(codes, grouped=grouped)
        return bool(uses.turned or uses.transposes)

    moves = moves_of(op.results[0], is_turned)
    uses = uses_of_codes((moves or [op])[-1].results[0], grouped=grouped)
    source = source_of(x)
    prologue = prologue_of(source) if prologues and not moves else ""
    amax = _amax_of(op)
    return Quantizer(op, source, moves, uses.plain, uses.turned, uses.transposes, amax, prologue)


@dataclass(frozen=True)
class CodeUses:
    """What takes codes as they are, dots that take their transpose, and ops that make it."""

    plain: list[ir.Operation]
    turned: list[tuple[ir.Operation, int]]
    transposes: list[ir.Operation]

    def take(self, transposed: ir.Value) -> None:
        """Let those that want it have the transpose."""
        for dot, side in self.turned:
            *leading, columns = ir.RankedTensorType(dot.operands[side].type).shape
            with ir.InsertionPoint(dot), dot.location:
                _turn(dot, side, reshaped(transposed, [columns, *leading]))
        for each in self.transposes:
            shape = ir.RankedTensorType(each.results[0].type).shape
            with ir.InsertionPoint(each), each.location:
                each.results[0].replace_all_uses_with(reshaped(transposed, shape))
            each.erase()


def uses_of_codes(codes: ir.Value, *, grouped: bool = False) -> CodeUses:
    """Of a tensor of f8, and of what reshapes its rows; `grouped` as `quantizer_of` has it."""
    type_ = ir.RankedTensorType(codes.type)
    rank = type_.rank
    found = CodeUses([], [], [])
    for use in codes.uses:
        user = use.owner.operation
        if user.name == "stablehlo.transpose" and permutation(user) == _last_first(rank):
            found.transposes.append(user)
        elif use.operand_number < 2 and _is_turned(user, use.operand_number, grouped):
            found.turned.append((user, use.operand_number))
        elif user.name == "stablehlo.reshape" and _keeps_columns(user, type_):
            inner = uses_of_codes(user.results[0], grouped=grouped)
            found.plain.extend(inner.plain)
            found.turned.extend(inner.turned)
            found.transposes.extend(inner.transposes)
        else:
            found.plain.append(user)
    return found


def _erase_reshapes(codes: ir.Value) -> None:
    """Those by way of which dots took `codes`, and which nothing reads now."""
    for each in users(codes):
        _erase_reshapes(each.results[0])
        each.erase()


def _keeps_columns(reshape: ir.Operation, of: ir.RankedTensorType) -> bool:
    to = ir.RankedTensorType(reshape.results[0].type)
    return to.rank > 1 and to.shape[-1] == of.shape[-1]


def verdict_of(found: Quantizer, costs: Costs) -> Verdict:
    if not found.turned and not found.transposes:
        return Verdict(unknown="no dot takes its transpose, and XLA quantizes as fast")
    *leading, columns = ir.RankedTensorType(found.codes.type).shape
    return transpose_verdict(
        costs,
        math.prod(leading),
        columns,
        found.bytes,
        plain=bool(found.plain),
        made_for_it=found.made_for_it,
        moved=has_copy(found.moves),
    )


def put_kernel(found: Quantizer, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op, of its transposes and of its amax."""
    op, codes = found.op, ir.RankedTensorType(found.codes.type)
    *leading, columns = codes.shape
    rows = math.prod(leading)
    operands, prologue = [], None
    if isinstance(found.prologue, FoundPrologue):
        operands, prologue = found.prologue.operands, found.prologue.prologue
    shape = QuantizeTranspose(
        rows,
        columns,
        str(element_type(found.source)),
        str(codes.element_type),
        amax=found.amax is not None,
        plain=bool(found.plain),
        division="product" if is_set(op, "inverse") else "branch",
        prologue=prologue,
    )
    scalar = ir.RankedTensorType.get([], ir.F32Type.get(op.context), loc=op.location)
    with ir.InsertionPoint(found.place), op.location:
        if prologue is None:
            operands = [moved(found.source, found.moves)]
        turned = ir.RankedTensorType.get([columns, *leading], codes.element_type)
        results = [*[codes] * shape.plain, turned, *[scalar] * shape.amax]
        operands = [*operands, op.operands[1], *[number(scalar, 0.0)] * shape.amax]
        aliases = {len(results) - 1: len(operands) - 1} if shape.amax else {}
        made = calls.build(quantize_transpose_kernel(shape), operands, results, aliases)
    if found.amax is not None:
        reduced = list(found.amax.operands)
        found.amax.results[0].replace_all_uses_with(made.pop())
        found.amax.erase()
        for each in reduced:
            erase_unused(each)
    CodeUses(found.plain, found.turned, found.transposes).take(made.pop())
    if made:
        found.codes.replace_all_uses_with(made[0])
    else:
        _erase_reshapes(found.codes)
    x = op.operands[0]
    for each in [*found.moves[::-1], op]:
        each.erase()
    erase_unused(x)


def _last_first(rank: int) -> list[int]:
    """The permutation that makes the last dimension the first."""
    return [rank - 1, *range(rank - 1)]


def _is_turned(op: ir.Operation, side: int, grouped: bool) -> bool:
    """Whether `op` is a dot that contracts all but the last dimension of operand `side`."""
    if op.name == RAGGED and grouped:
        return takes_turned(ragged_parts(op), side)
    if op.name != "fp8.scaled_dot":
        return False
    numbers = _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    contracted = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)[side]
    rank = ir.RankedTensorType(op.operands[side].type).rank
    if sorted(contracted) != list(range(rank - 1)) or list(numbers.lhs_batching_dimensions):
        return False
    parts = product_parts(op)
    scale = (parts.a_scale, parts.b_scale)[side]
    return scale is None or not ir.RankedTensorType(scale.type).rank


def _turn(dot: ir.Operation, side: int, transposed: ir.Value) -> None:
    """Let `dot` take the transpose as operand `side`, whose dimensions are one further on."""
    if dot.name == RAGGED:
        turn_ragged(dot, side)
        dot.operands[side] = transposed
        return
    numbers = _stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
    contracted = [
        list(numbers.lhs_contracting_dimensions),
        list(numbers.rhs_contracting_dimensions),
    ]
    contracted[side] = [dim + 1 for dim in contracted[side]]
    new = _stablehlo.DotDimensionNumbers.get([], [], *contracted, context=dot.context)
    dot.attributes["dot_dimension_numbers"] = new
    dot.operands[side] = transposed


def source_of(x: ir.Value) -> ir.Value:
    """The tensor that `x`, f32, is converted from, which is exact; else `x`."""
    op = producer(x)
    if op is None or op.name != "stablehlo.convert":
        return x
    return op.operands[0] if str(element_type(op.operands[0])) in ELEMENTS else x


def _amax_of(op: ir.Operation) -> ir.Operation | None:
    """The reduction to max |x| of all that `op` quantizes, before which its scale is known."""
    x, scale = op.operands
    for magnitudes in users(x):
        if magnitudes.name != "stablehlo.abs":
            continue
        for each in users(magnitudes.results[0]):
            if each.block == op.block and is_whole_maximum(each) and _is_known(scale, each, op):
                return each
    return None


def _is_known(scale: ir.Value, amax: ir.Operation, op: ir.Operation) -> bool:
    """Whether `scale` is defined before both ops, which are of one block."""
    maker = producer(scale)
    if maker is None or maker.block != op.block:
        return True
    return op.is_before_in_block(amax) or maker.is_before_in_block(amax)


def is_whole_maximum(op: ir.Operation) -> bool:
    """Whether `op` is the largest of all elements of a tensor of none below 0, as f32."""
    if op.name != "stablehlo.reduce" or len(op.results) != 1:
        return False
    if str(op.results[0].type) != "tensor<f32>" or not is_positive_zero(op.operands[1]):
        return False
    inner = [each.name for each in operations(op)[1:]]
    return inner == ["stablehlo.maximum", "stablehlo.return"]
