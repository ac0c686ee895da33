"""Quantizers: what is rounded to a small float, before the clamp and the scale."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8._scales import (
    Scale,
    dialect_scale,
    is_wide,
    scale_of,
    small_format,
    widens_or_rounds,
)
from mlir_fp8.lowering.fp8.scaled_dot.values import splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type, names

MOVES = names(
    "stablehlo", "broadcast broadcast_in_dim dynamic_slice reshape reverse slice transpose"
)
"""Ops that only move the elements of their first operand, of any type."""

_BOUNDS = {"stablehlo.maximum": -1, "stablehlo.minimum": 1}
"""The side of the bound that each sets."""


@dataclass(frozen=True)
class Quantizer:
    """A small float's origin: `value`, clamped or not, moved by `moves`, first one first.

    `origins` are the values that `value` may be after scaling, with the scale: none without a
    scale, two where either factor of a product may be it.
    """

    value: ir.Value
    moves: tuple[ir.Operation, ...]
    origins: tuple[tuple[ir.Value, Scale], ...]


def quantizer(q: ir.Value) -> Quantizer | str:
    """The origin of the small float `q`, or why it is not quantized: what `q` does."""
    op = producer(q)
    if op is None:
        return "comes from an argument"
    if op.name == "fp8.quantize":
        return Quantizer(op.operands[0], (), ((op.operands[0], dialect_scale(op)),))
    if op.name not in ("stablehlo.convert", "fp8.convert"):
        return f"comes from {op.name}"
    if not is_wide(op.operands[0]):
        return f"is converted from {element_type(op.operands[0])}"
    fmt = small_format(q)
    assert fmt is not None
    limit = float(fmt.max)
    value, moves = op.operands[0], []
    while (op := producer(value)) is not None:
        if op.name in MOVES:
            moves.insert(0, op)
        if op.name in MOVES or widens_or_rounds(op):
            value = op.operands[0]
            continue
        clamped = _clamped(value)
        if clamped is None:
            break
        value, bound = clamped
        if bound != limit:
            return f"is clamped to {bound:g}, where {fmt.name} ends at {limit:g}"
    return Quantizer(value, tuple(moves), _origins(value))


def _clamped(value: ir.Value) -> tuple[ir.Value, float] | None:
    """What is clamped to minus and plus a number, and that number; None for any other value."""
    op = producer(value)
    if op is not None and op.name == "stablehlo.clamp":
        low, value, high = op.operands
        bounds = {-1: splat_number(low), 1: splat_number(high)}
    else:
        bounds = {}
        while (op := producer(value)) is not None and op.name in _BOUNDS and len(bounds) < 2:
            numbers = [splat_number(operand) for operand in op.operands]
            at = 0 if numbers[0] is not None else 1
            bounds[_BOUNDS[op.name]] = numbers[at]
            value = op.operands[1 - at]
    low, high = bounds.get(-1), bounds.get(1)
    return None if low is None or high is None or low != -high else (value, high)


def _origins(value: ir.Value) -> tuple[tuple[ir.Value, Scale], ...]:
    op = producer(value)
    if op is None or op.name not in ("stablehlo.divide", "stablehlo.multiply"):
        return ()
    a, b = op.operands
    factors = [(a, b)] if op.name == "stablehlo.divide" else [(a, b), (b, a)]
    found = [(x, scale_of(s, inverse=len(factors) == 2)) for x, s in factors]
    return tuple((x, scale) for x, scale in found if scale.is_plausible)
