"""Quantizations by the amax of each row, or of each 128 elements of one, and their kernels."""

import math
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import defining_op, operations, producer
from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects.float_formats import FORMATS as FLOATS
from mlir_fp8.lowering.fp8.ops.power_of_two import POWERS_OF_TWO, is_power_of_two
from mlir_fp8.lowering.fp8.scaled_dot.uses import users
from mlir_fp8.lowering.fp8.scaled_dot.values import is_positive_zero, splat_number
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.prologue import BLOCK_BYTES, MOST_BYTES
from mlir_fp8.lowering.gpu.kernels.quantize_rows import (
    GROUP,
    QuantizeGroups,
    QuantizeRows,
    fits_rows,
    quantize_groups_kernel,
    quantize_rows_kernel,
)
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.costs import Costs, Verdict, rates_verdict
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue, erase_unused, prologue_of
from mlir_fp8.lowering.gpu.xla.quantizers import FORMATS, MOST_ELEMENTS, source_of
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_LEAST_NORMAL = 2.0**-126
_WIDENING = ("fp8.dequantize", "stablehlo.convert")


@dataclass(frozen=True)
class RowQuantizer:
    """An `fp8.quantize` whose scale is made of the amax of each `group` elements of a row."""

    op: ir.Operation
    source: ir.Value
    group: int
    margin: float
    power_of_two: bool = False
    prologue: FoundPrologue | str = ""
    """What makes the tensor, which then is not read; or why that is left to XLA."""

    @property
    def is_rows(self) -> bool:
        return self.group == ir.RankedTensorType(self.source.type).shape[1]


def row_quantizer_of(op: ir.Operation, *, prologues: bool = True) -> RowQuantizer | str:
    """What is known of an `fp8.quantize` with a scale of rank 2; or why no kernel computes it.

    With `prologues` also of the ops in front of it.
    """
    x, scale = op.operands
    type_ = ir.RankedTensorType(x.type)
    if str(type_.element_type) != "f32" or str(element_type(op.results[0])) not in FORMATS:
        return f"it divides in {type_.element_type}, to {element_type(op.results[0])}"
    if is_set(op, "inverse") or not is_set(op, "saturate"):
        return "it does not divide, or does not saturate"
    size = math.prod(type_.shape) if type_.has_static_shape else 0
    if type_.rank != 2 or not size or size >= MOST_ELEMENTS:
        return f"{type_} is no matrix of less than 2^31 elements"
    rows, groups = ir.RankedTensorType(scale.type).shape
    if rows != type_.shape[0] or type_.shape[1] % groups:
        return f"its scale is a {scale.type}"
    found = RowQuantizer(op, source_of(x), type_.shape[1] // groups, 0.0)
    element = str(element_type(found.source))
    if not found.is_rows and found.group != GROUP:
        return f"{found.group} elements have a scale, not {GROUP}"
    if found.is_rows and not fits_rows(QuantizeRows(rows, type_.shape[1], element)):
        return f"a row of {type_.shape[1]} {element} is too long for a block"
    if all(user.name in _WIDENING for user in users(op.results[0])):
        return "its codes are only made wide again, in the kernel that makes them"
    rounded = is_power_of_two(scale)
    maker = producer(scale)
    if rounded and maker is not None and maker.name == "stablehlo.select":
        scale = maker.operands[2]
    margin = _margin(scale, x, str(element_type(op.results[0])))
    if margin is None:
        return "its scale is not made of the amax of what it divides"
    prologue: FoundPrologue | str = ""
    if prologues:
        row = QuantizeRows(rows, type_.shape[1], element)
        held = row.loads * row.block * ELEMENTS[element].lanes if found.is_rows else 1
        prologue = prologue_of(found.source, min(MOST_BYTES, BLOCK_BYTES // held))
    return RowQuantizer(op, found.source, found.group, margin, rounded, prologue)


def rows_verdict(found: RowQuantizer, costs: Costs) -> Verdict:
    type_ = ir.RankedTensorType(found.source.type)
    rates = (
        (costs.quantize_rows, costs.rows_by_xla)
        if found.is_rows
        else (costs.quantize_groups, costs.groups_by_xla)
    )
    size = ELEMENTS[str(type_.element_type)].size
    if isinstance(found.prologue, FoundPrologue):
        size = found.prologue.prologue.bytes
    return rates_verdict(*rates, costs, math.prod(type_.shape) * (size + 1))


def put_rows_kernel(found: RowQuantizer, calls: KernelCalls) -> None:
    """Put a kernel in the place of the op, and of what makes its scale."""
    op, scale = found.op, found.op.operands[1]
    codes = ir.RankedTensorType(op.results[0].type)
    rows, columns = codes.shape
    element, format_ = str(element_type(found.source)), str(codes.element_type)
    operands, prologue = [found.source], None
    if isinstance(found.prologue, FoundPrologue):
        operands, prologue = found.prologue.operands, found.prologue.prologue
    scaling = (format_, found.margin, found.power_of_two)
    if found.is_rows:
        shape = QuantizeRows(rows, columns, element, *scaling, prologue=prologue)
        kernel = quantize_rows_kernel(shape)
    else:
        groups = QuantizeGroups(
            rows * columns, element, *scaling, columns=columns, prologue=prologue
        )
        kernel = quantize_groups_kernel(groups)
    maker = producer(scale)
    assert maker is not None
    with ir.InsertionPoint(maker), op.location:
        made = calls.build(kernel, operands, [codes, scale.type])
        if found.power_of_two:
            defining_op(made[1]).attributes[POWERS_OF_TWO] = ir.DenseI64ArrayAttr.get([1])
    scale.replace_all_uses_with(made[1])
    op.results[0].replace_all_uses_with(made[0])
    op.erase()
    erase_unused(maker.results[0])  # and x, of whose amax it is made


def _margin(scale: ir.Value, x: ir.Value, format_: str) -> float | None:
    """The margin with which `scale_of_amax` of weights/scaled.py made `scale` of `x`; else None."""
    chosen = producer(scale)
    if chosen is None or chosen.name != "stablehlo.select":
        return None
    flag, quotient, one = chosen.operands
    if splat_number(one) != 1.0 or not _is_usable(flag, quotient):
        return None
    factor, op = 1.0, producer(quotient)
    if op is not None and op.name == "stablehlo.multiply":
        factor, op = splat_number(op.operands[1]) or 0.0, producer(op.operands[0])
    if op is None or op.name != "stablehlo.divide" or not _is_amax(op.operands[0], x):
        return None
    if splat_number(op.operands[1]) != float(FLOATS[format_].max):
        return None
    is_power = factor > 0 and math.frexp(factor)[0] == 0.5
    return math.log2(factor) if is_power else None


def _is_usable(flag: ir.Value, number: ir.Value) -> bool:
    """Whether `flag` says that `number` is normal."""
    op = producer(flag)
    if op is None or op.name != "stablehlo.and":
        return False
    bounds: dict[str, float | None] = {}
    for each in op.operands:
        test = producer(each)
        if test is None or test.name != "stablehlo.compare" or test.operands[0] != number:
            return False
        direction = str(test.attributes["comparison_direction"]).rstrip(">").split()[-1]
        bounds[direction] = splat_number(test.operands[1])
    return bounds == {"GE": _LEAST_NORMAL, "LT": math.inf}


def _is_amax(value: ir.Value, x: ir.Value) -> bool:
    """Whether `value` is the largest |x| along a part of each row, as its shape says."""
    op = producer(value)
    if op is None or op.name != "stablehlo.reduce" or not is_positive_zero(op.operands[1]):
        return False
    if [each.name for each in operations(op)[1:]] != ["stablehlo.maximum", "stablehlo.return"]:
        return False
    magnitudes = producer(op.operands[0])
    if magnitudes is None or magnitudes.name != "stablehlo.abs":
        return False
    apart = producer(magnitudes.operands[0])
    if apart is None or apart.name != "stablehlo.reshape" or apart.operands[0] != x:
        return False
    rows, columns = ir.RankedTensorType(x.type).shape
    groups = ir.RankedTensorType(value.type).shape[1]
    wanted = [rows, 1, groups, columns // groups]
    dimensions = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    return list(ir.RankedTensorType(apart.results[0].type).shape) == wanted and dimensions == [1, 3]
