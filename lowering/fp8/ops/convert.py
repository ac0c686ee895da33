"""`fp8.convert` in StableHLO, by the formulas of `round-small-floats`."""

from collections.abc import Sequence
from functools import partial

from torch_mlir import ir

from mlir_fp8.dialects._fp8_attributes import is_set
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.dialects.rounding_modes import RoundingMode
from mlir_fp8.lowering.arithmetic._rounding import Rounding, round_convert
from mlir_fp8.lowering.arithmetic._squares import key_constant, run_time_key, squares_key
from mlir_fp8.lowering.rewriting.stablehlo import build, convert, element_type, narrow_format


def rounded_convert(op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """A `stablehlo.convert` of a value that is rounded before, at the current insertion point."""
    result = op.results[0]
    mode = RoundingMode(ir.StringAttr(op.attributes["rounding"]).value)
    x, *seeds = operands
    if narrow_format(x) is not None:
        x = convert(x, ir.F32Type.get())
    converted = build("convert", result.type, [x])
    fmt = FORMATS[str(element_type(result))]
    key = partial(_key, op, seeds) if mode is RoundingMode.STOCHASTIC else None
    rounding = Rounding(mode, is_set(op, "saturate"), key)
    round_convert(ir.OpResult(converted).owner.operation, fmt, rounding)
    return [converted]


def _key(op: ir.Operation, seeds: Sequence[ir.Value]) -> ir.Value:
    stream = ir.IntegerAttr(op.attributes["seed"]).value if "seed" in op.attributes else 0
    return run_time_key(seeds[0], stream) if seeds else key_constant(squares_key(0, stream))
