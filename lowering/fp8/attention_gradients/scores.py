"""The scores of a softmax, traced back to the product of q and k."""

import math
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_scales import WIDE_TYPES
from mlir_fp8.lowering.fp8.attention.positions import Bound, conjuncts
from mlir_fp8.lowering.fp8.attention_gradients.labels import (
    DEPTH,
    MOVES,
    DotNumbers,
    Labels,
    Named,
    before_move,
    named,
    of_operands,
)
from mlir_fp8.lowering.fp8.scaled_dot.values import rounded, shape, splat_number
from mlir_fp8.lowering.rewriting.stablehlo import element_type

_LEAST_MASK = -1e9
"""What is so far below all scores that e to the power of the difference is 0."""


@dataclass(frozen=True)
class Scores:
    """x = scale q.k, with `mask_value` where key j > query i if that is not None.

    `batch` are labels that q and k share, `rows` that q has alone, `query` the one of these whose
    numbers positions are.
    """

    dot: ir.Operation
    q: Named
    k: Named
    batch: tuple[int, ...]
    rows: tuple[int, ...]
    query: int
    scale: float = 1.0
    mask_value: float | None = None


def read_scores(x: ir.Value, labels: Labels, key: int) -> Scores | str:
    """The scores `x`, whose dimensions have `labels`; or why they are none that an op has."""
    scale, mask_value, query = 1.0, None, None
    while (op := producer(x)) is not None and op.name != "stablehlo.dot_general":
        source = _source(op)
        if source is None:
            return f"{op.name} stands between the scores and the softmax"
        if op.name in MOVES:
            before = before_move(op, labels)
            if before is None:
                return f"{op.name} cuts or repeats the scores"
            labels = before
        elif op.name == "stablehlo.multiply":
            scale *= _number(op, source)
        elif op.name == "stablehlo.divide":
            scale /= _number(op, source)
        elif op.name == "stablehlo.select":
            row = causal_row(op.operands[0], labels, key)
            number = splat_number(op.operands[2])
            if row is None or query not in (None, row):
                return "its mask is not that key j is behind query i"
            mask_value = None if number is None else _in_f32(x, number * scale)
            # A product of 0 and infinity is NaN, which is no less.
            if mask_value is None or not mask_value <= _LEAST_MASK:
                return "its mask puts other than a number of -10^9 or less"
            query = row
        x = source
    if op is None:
        return "no product is behind it"
    found = _of_dot(op, labels, key)
    if isinstance(found, str):
        return found
    if query is None:
        query = max(found.rows, key=lambda label: _size(found.q, label))
    elif query not in found.rows:
        return "its mask compares positions that are not those of q"
    factor = _in_f32(x, scale)
    if not math.isfinite(factor) or not factor:
        return f"its scores are scaled by {scale:g}"
    return replace(found, query=query, scale=scale, mask_value=mask_value)


def _in_f32(like: ir.Value, number: float) -> float:
    return rounded(number, ir.F32Type.get(like.context))


def is_wide(value: ir.Value) -> bool:
    """Whether it is of floats of 16 bits or more, to which roundings may be left out."""
    return str(element_type(value)) in WIDE_TYPES


def causal_row(mask: ir.Value, labels: Labels, key: int) -> int | None:
    """The label of the rows that `mask`, of `labels`, shows keys up to their own number of."""
    found = conjuncts(mask)
    if len(found) != 1 or not isinstance(found[0], Bound):
        return None
    bound = found[0]
    is_plain = bound.direction == "LE" and bound.number == 0 and bound.scalar is None
    if not is_plain or bound.row is None or labels[bound.key] != key:
        return None
    return labels[bound.row]


def _source(op: ir.Operation) -> ir.Value | None:
    """What one of the ops between the product and the softmax takes."""
    if op.name in MOVES or (op.name == "stablehlo.convert" and is_wide(op.results[0])):
        return op.operands[0]
    if op.name == "stablehlo.select":
        return op.operands[1]
    if op.name in ("stablehlo.multiply", "stablehlo.divide"):
        numbers = [splat_number(each) for each in op.operands]
        if numbers[1] is not None and (numbers[1] or op.name == "stablehlo.multiply"):
            return op.operands[0]
        if numbers[0] is not None and op.name == "stablehlo.multiply":
            return op.operands[1]
    return None


def _number(op: ir.Operation, source: ir.Value) -> float:
    number = splat_number(op.operands[1 if op.operands[0] == source else 0])
    assert number is not None
    return number


def _of_dot(dot: ir.Operation, labels: Labels, key: int) -> Scores | str:
    operands = of_operands(dot, labels, DEPTH)
    if operands is None:
        return "the product of its scores sums over more than one dimension"
    numbers = DotNumbers.of(dot)
    batch = tuple(label for label in labels[: len(numbers.batching[0])] if label is not None)
    sides = [
        [label for dim in numbers.free(dot, side) if (label := operands[side][dim]) is not None]
        for side in range(2)
    ]
    if [key] not in sides or key in batch:
        return "the softmax does not run over all that k has alone"
    keys = sides.index([key])
    rows = tuple(sides[1 - keys])
    both = [named(value, each) for value, each in zip(dot.operands, operands, strict=True)]
    if not rows or shape(dot.operands[0])[numbers.contracting[0][0]] == 1:
        return "it has one query, or heads of one number"
    return Scores(dot, both[1 - keys], both[keys], batch, rows, rows[-1])


def _size(each: Named, label: int) -> int:
    return shape(each.value)[each.labels.index(label)]
