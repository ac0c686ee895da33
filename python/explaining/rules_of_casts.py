"""Lint: casts to FP8 that give NaN or infinity where the number is too large."""

import math
from collections.abc import Iterator

import numpy as np
from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.explaining.intervals import Interval, Intervals
from mlir_fp8.lowering.fp8._scales import small_format

_CASTS = frozenset({"stablehlo.convert", "fp8.convert", "fp8.quantize"})
_FUSED = frozenset({"fp8.scaled_dot", "fp8.scaled_convolution"})


def has_flag(op: ir.Operation, name: str) -> bool:
    """Whether a unit or bool attribute is set."""
    return name in op.attributes and str(op.attributes[name]) != "false"


def unclamped_cast(op: ir.Operation, intervals: Intervals) -> Iterator[tuple[str, str]]:
    """Casts to an f8 with NaN or infinity whose operand is not known to be in its range.

    The range is that of what rounds to a number: up to 464 for f8E4M3FN. Scales (f8E8M0FNU) and
    casts that saturate are no casts of this kind.
    """
    if op.name not in _CASTS and op.name not in _FUSED:
        return
    fmt = small_format(op.results[0])
    if fmt is None or not fmt.signed or not (fmt.has_nan or fmt.has_infinity):
        return
    fate = "infinity" if fmt.has_infinity else "NaN"
    limit = float(fmt.max)
    if op.name != "stablehlo.convert":
        if not has_flag(op, "saturate") and _rounds_to_nearest(op):
            message = (
                f"'{op.name}' to {fmt.name} does not saturate: beyond {limit:g} it gives {fate}"
            )
            yield message, "set saturate"
        return
    if small_format(op.operands[0]) == fmt:
        return
    found = intervals.of(op.operands[0])
    if _fits(found, fmt):
        return
    where = f"clamp to -{limit:g} and {limit:g} before it"
    if math.isinf(found.low) or math.isinf(found.high):
        message = f"the cast to {fmt.name} is not clamped: beyond {limit:g} it gives {fate}"
        yield message, where
    else:
        message = (
            f"what is cast to {fmt.name} goes from {found.low:g} to {found.high:g}: beyond "
            f"{limit:g} it gives {fate}"
        )
        yield message, where


def _rounds_to_nearest(op: ir.Operation) -> bool:
    """Toward zero, a number beyond the range gives the largest value."""
    return "rounding" not in op.attributes or str(op.attributes["rounding"]) != '"toward_zero"'


def _fits(found: Interval, fmt: FloatFormat) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.array([found.low, found.high], np.float32).astype(fmt.dtype)
    return bool(np.isfinite(ends.astype(np.float32)).all())
