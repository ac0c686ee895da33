"""What LLVM's loop vectorizer is told of each loop."""

import math
from dataclasses import dataclass
from typing import Self

from torch_mlir import ir

from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.loop_analysis.parallel_loops import known_integer, trip_count, work
from mlir_fp8.lowering.real_functions.expansions import TO_F32, allows_approximation
from mlir_fp8.lowering.rewriting.retype import element_type

ANNOTATION = "loop_annotation"
"""On an `scf.for`: the conversions to the LLVM dialect move it to the latch's branch."""
# More would make code generation take half as long again, for loops that are memory-bound.
PLAIN = "#llvm.loop_annotation<unroll = <disable = true>, interleave = <count = 1 : i32>>"
# The f32 part of a function then fills whole registers, between two dependence chains in f64.
WIDE = (
    "#llvm.loop_annotation<vectorize = <width = 8 : i32>, unroll = <disable = true>,"
    " interleave = <count = 2 : i32>>"
)
# Unrolling helps reductions, which are loop-carried, windows, and long loops with tiny bodies.
_NEXT_TO_NOTHING, _LONG, _WINDOW = 8, 32, 16
_ELEMENTS = 16
"""Of one iteration of the vectorized loop: 8 lanes, interleaved twice."""


@dataclass(frozen=True)
class Annotations:
    """The attributes that loops get, parsed once."""

    plain: ir.Attribute
    wide: ir.Attribute

    @classmethod
    def of(cls, context: ir.Context) -> Self:
        return cls(ir.Attribute.parse(PLAIN, context), ir.Attribute.parse(WIDE, context))


def annotate_loops(function: ir.Operation, annotations: Annotations) -> None:
    """Annotate every `scf.for` in `function` that LLVM does not know better about."""
    for op in operations(function, "scf.for"):
        if _is_wide(op):
            op.attributes[ANNOTATION] = annotations.wide
        elif not _is_worth_unrolling(op):
            op.attributes[ANNOTATION] = annotations.plain


def _is_worth_unrolling(loop: ir.Operation) -> bool:
    inside = operations(loop)
    nest = [op for op in inside if op.name == "scf.for"]
    if len(nest) > 1 and math.prod(map(trip_count, nest)) > _WINDOW:
        return False
    count = trip_count(loop)
    if len(nest) == 1 and count >= _LONG and work(loop) // count <= _NEXT_TO_NOTHING:
        return True
    index = loop.regions[0].blocks[0].arguments[0]
    stores = [op for op in inside if op.name in ("memref.store", "vector.store")]
    return len(loop.results) > 0 or any(index not in op.operands for op in stores)


def _is_wide(loop: ir.Operation) -> bool:
    """Whether `loop` computes functions in f64 for enough elements, each of which it stores.

    A forced width lets LLVM reorder sums: a store to a loop-invariant place may be a reduction.
    """
    *body, _ = [op.operation for op in loop.regions[0].blocks[0]]
    counter = loop.regions[0].blocks[0].arguments[0]
    if len(loop.results) or any(len(op.regions) for op in body):
        return False
    stored = [op for op in body if op.name == "memref.store"]
    if not all(counter in list(op.operands)[2:] for op in stored):
        return False
    return any(map(is_expanded, body)) and _fills_lanes(loop)


def is_expanded(op: ir.Operation) -> bool:
    """Whether `math-expand-in-f64` will make a chain in f64 of `op`."""
    if not op.name.startswith("math.") or op.name in ("math.absf", "math.sqrt", "math.fma"):
        return False
    narrow = isinstance(element_type(op.results[0].type), ir.F32Type | ir.F16Type)
    return TO_F32 in op.attributes or (narrow and not allows_approximation(op))


def _fills_lanes(loop: ir.Operation) -> bool:
    first, end = (known_integer(bound) for bound in list(loop.operands)[:2])
    if first is None or end is None:  # a share of a big loop
        return True
    count = end - first
    return count >= 4 * _ELEMENTS or count % _ELEMENTS == 0
