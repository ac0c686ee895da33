"""`accumulate-in-f32`: dots, convolutions and reductions on narrow floats round once, at the end.

Where the declared result is f8, f6, f4, bf16 or f16, the op yields f32 and one convert follows.
"""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.arithmetic._dot_algorithm import apply_algorithm
from mlir_fp8.lowering.arithmetic.float_normalization import (
    ACCUMULATIONS,
    ARITHMETIC,
    LEFT_TO_CHLO,
)
from mlir_fp8.lowering.codec.missing_codes import refuse_missing_codes
from mlir_fp8.lowering.rewriting.accumulator import accumulator, factors
from mlir_fp8.lowering.rewriting.stablehlo import (
    concerns,
    convert_operand,
    element_type,
    is_total_order,
    names,
    narrow_format,
    narrow_formats,
    require_ordered_nans,
    retype_result,
    with_element,
)

REDUCTIONS = frozenset({"stablehlo.reduce", "stablehlo.reduce_window"})

_IN_BODIES = (
    ARITHMETIC
    | LEFT_TO_CHLO
    | names(
        "stablehlo",
        """abs broadcast_in_dim case compare concatenate constant convert dynamic_slice
        dynamic_update_slice if map negate optimization_barrier pad reshape return reverse select
        slice transpose while""",
    )
)
"""The ops of a reduction's body that mean the same with f32 in the place of the narrow type."""


@dataclass(frozen=True)
class AccumulateInF32(ModulePass):
    """Accumulate in f32 what has a narrow result, and round it to the declared type once.

    Operands convert to the type of the accumulation. That is exact, and done once per element where
    a conversion inside the loops of a product would be done once per term. A dot's `algorithm` is
    honoured and dropped where it adds in f32 or f64, dropped where the dot is of integers, and
    refused elsewhere. `scatter` and `select_and_scatter` stay: each of their updates rounds to the
    declared type, as XLA does it.

    Options: `formats`, comma-separated, leaves alone the ops that have none of them.
    """

    formats: str = ""

    def run(self, module: ir.Operation) -> None:
        limited = bool(self.formats)
        formats = narrow_formats(self.formats)
        with module.context:
            for op in operations(module, inner_first=True):
                if limited and not concerns(op, formats):
                    continue
                if op.name in REDUCTIONS:
                    _reduce(op)
                elif op.name in ACCUMULATIONS:
                    has_algorithm = "algorithm" in op.attributes
                    sums_in = apply_algorithm(op) if has_algorithm else accumulator(op)
                    _accumulate_products(op, sums_in)


def _accumulate_products(op: ir.Operation, sums_in: ir.Type | None) -> None:
    """Any op that sums products: dots, convolutions and einsums; None leaves it as it is."""
    result = element_type(op.results[0])
    if sums_in is None or isinstance(result, ir.IntegerType):
        return
    for index in range(len(factors(op))):
        convert_operand(op, index, sums_in)
    if result != sums_in:
        retype_result(op, 0, sums_in)


def _reduce(op: ir.Operation) -> None:
    """Accumulate each result in f32 where it is narrow, with operands of the accumulator's type.

    A reduction whose result is wider than its operand (promoting) accumulates in the result's type.
    """
    narrow = {str(element_type(result)) for result in op.results if narrow_format(result)}
    _check_body(op, narrow)
    f32 = ir.F32Type.get()
    count = len(op.results)
    for index, result in enumerate(op.results):
        sums_in = f32 if narrow_format(result) else element_type(result)
        if not isinstance(sums_in, ir.FloatType | ir.IntegerType | ir.ComplexType):
            continue
        for operand in (index, count + index):
            convert_operand(op, operand, sums_in)
        if narrow_format(result):
            retype_result(op, index, f32)
    if narrow:
        _widen_body(op, narrow)


def _check_body(reduction: ir.Operation, narrow: set[str]) -> None:
    """Refuse bodies in which f32 in the place of the `narrow` types would change the meaning."""
    *body, _ = operations(reduction, inner_first=True)
    for op in body:
        refuse_missing_codes(op)
        formats = [narrow_format(value) for value in (*op.operands, *op.results)]
        widened = [fmt for fmt in formats if fmt is not None and fmt.name in narrow]
        if not widened:
            continue
        fmt = widened[0]
        if op.name not in _IN_BODIES:
            raise op_error(
                op,
                f"in the body of {reduction.name} fixes the type {fmt.name}, but "
                "the reduction accumulates in f32; reduce in f32 explicitly",
            )
        if op.name == "stablehlo.convert" and len(set(widened)) > 1:
            raise op_error(
                op,
                f"in the body of {reduction.name} rounds to one type of its results "
                "from another; both accumulate in f32: reduce in f32 explicitly",
            )
        if op.name == "stablehlo.compare" and is_total_order(op):
            require_ordered_nans(op, fmt)


def _widen_body(op: ir.Operation, narrow: set[str]) -> None:
    """Put f32 in the place of the `narrow` types in the regions of `op`."""
    for region in op.regions:
        for block in region:
            for argument in block.arguments:
                _widen(argument, narrow)
            for inner in [inner.operation for inner in block.operations]:
                _widen_op(inner, narrow)


def _widen_op(op: ir.Operation, narrow: set[str]) -> None:
    if op.name == "stablehlo.constant":
        return
    # What is narrow still: constants, and values from outside the body. Both are exact in f32.
    for index, operand in enumerate(op.operands):
        if str(element_type(operand)) in narrow:
            convert_operand(op, index, ir.F32Type.get())
    for result in op.results:
        _widen(result, narrow)
    if op.name == "stablehlo.convert" and op.operands[0].type == op.results[0].type:
        replace_op(op, [op.operands[0]])
        return
    _widen_body(op, narrow)


def _widen(value: ir.Value, narrow: set[str]) -> None:
    if str(element_type(value)) in narrow:
        value.set_type(with_element(value.type, ir.F32Type.get()))
