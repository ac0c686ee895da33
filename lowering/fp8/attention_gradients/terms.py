"""Values of a softmax's gradient as sums of products of what they are computed from.

Of scores x with exponentials E, and G the gradient of the probabilities: a term is a number and
powers of E, of G, and of sums over keys of their powers. P is E / sum E; and its gradient is
E G / sum E - E sum(E G) / (sum E)^2, in whatever form a program has it. Conversions are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.attention_gradients.labels import MOVES, SPREAD, Labels, after_move
from mlir_fp8.lowering.fp8.attention_gradients.scores import is_wide
from mlir_fp8.lowering.fp8.scaled_dot.values import shape, splat_number

Factor = tuple[str, int, int]
"""What has a power: E, G, or the sum over keys of E^a G^b."""
Term = tuple[tuple[Factor, int], ...]
Sum = dict[Term, float]
E: Factor = ("matrix", 1, 0)
G: Factor = ("matrix", 0, 1)
TOTAL: Factor = ("sum", 1, 0)
P: Sum = {tuple(sorted([(E, 1), (TOTAL, -1)])): 1.0}
_DEPTH = 48
"""Ops on the way to a value."""


def softmax_gradient() -> Sum:
    mean: Factor = ("sum", 1, 1)
    return {
        tuple(sorted([(E, 1), (G, 1), (TOTAL, -1)])): 1.0,
        tuple(sorted([(E, 1), (mean, 1), (TOTAL, -2)])): -1.0,
    }


def times_of(found: Sum, of: Sum) -> float | None:
    """The number c for which `found` is c times `of`."""
    if found.keys() != of.keys():
        return None
    factors = [number / of[term] for term, number in found.items()]
    return (
        factors[0]
        if all(abs(each - factors[0]) <= 1e-6 * abs(factors[0]) for each in factors)
        else None
    )


@dataclass
class Terms:
    """Knows values by terms. `of_dot` knows results of dots, `is_seen` masks of seen keys, which
    change nothing where E is 0; `key` is the label of keys."""

    key: int
    known: dict[ir.Value, tuple[Sum, Labels]]
    of_dot: Callable[[ir.Operation], tuple[Sum, Labels] | None]
    is_seen: Callable[[ir.Value, Labels], bool]
    _tried: dict[ir.Value, tuple[Sum, Labels] | None] = field(default_factory=dict)

    def of(self, value: ir.Value, depth: int = _DEPTH) -> tuple[Sum, Labels] | None:
        if value in self.known:
            return self.known[value]
        if value not in self._tried:
            self._tried[value] = None if not depth else self._read(value, depth - 1)
        return self._tried[value]

    def _read(self, value: ir.Value, depth: int) -> tuple[Sum, Labels] | None:
        number = splat_number(value)
        if number is not None:
            return {(): number}, tuple(SPREAD if size > 1 else None for size in shape(value))
        op = producer(value)
        if op is None or not is_wide(value):
            return None
        if op.name == "stablehlo.dot_general":
            return self.of_dot(op)
        if op.name in ("stablehlo.convert", "stablehlo.negate", *MOVES, "stablehlo.reduce"):
            given = self.of(op.operands[0], depth)
            return None if given is None else self._of_one(op, *given)
        if op.name == "stablehlo.select":
            given = self.of(op.operands[1], depth)
            is_kept = given is not None and splat_number(op.operands[2]) == 0
            return given if given and is_kept and self.is_seen(op.operands[0], given[1]) else None
        if op.name.removeprefix("stablehlo.") not in _BINARY:
            return None
        left, right = (self.of(each, depth) for each in op.operands)
        if left is None or right is None:
            return None
        labels = _joined(left[1], right[1])
        found = _BINARY[op.name.removeprefix("stablehlo.")](left[0], right[0])
        return None if labels is None or found is None else (found, labels)

    def _of_one(self, op: ir.Operation, found: Sum, labels: Labels) -> tuple[Sum, Labels] | None:
        if op.name == "stablehlo.convert":
            return found, labels
        if op.name == "stablehlo.negate":
            return _scaled(found, -1.0), labels
        if op.name in MOVES:
            moved = after_move(op, labels)
            return None if moved is None else (found, moved)
        return self._summed(op, found, labels)

    def _summed(self, op: ir.Operation, found: Sum, labels: Labels) -> tuple[Sum, Labels] | None:
        if len(op.operands) != 2 or not _adds(op.regions[0].blocks[0]):
            return None
        if splat_number(op.operands[1]) != 0:
            return None
        dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        kept = tuple(label for dim, label in enumerate(labels) if dim not in dims)
        over = [labels[dim] for dim in dims if labels[dim] is not None]
        if over == [self.key]:
            summed = _over_keys(found)
            return None if summed is None else (summed, kept)
        return (found, kept) if not over else None


def _adds(body: ir.Block) -> bool:
    """Whether a reduction's body gives the sum of both its arguments."""
    first, *rest = body.operations
    return (
        first.operation.name == "stablehlo.add"
        and len(rest) == 1
        and set(first.operation.operands) == set(body.arguments)
        and list(rest[0].operation.operands) == [first.operation.results[0]]
    )


def _joined(left: Labels, right: Labels) -> Labels | None:
    found: list[int | None] = []
    for a, b in zip(left, right, strict=True):
        if a != b and SPREAD not in (a, b):
            return None
        found.append(b if a == SPREAD else a)
    return tuple(found)


def _scaled(found: Sum, by: float) -> Sum:
    return {term: number * by for term, number in found.items()}


def _added(left: Sum, right: Sum) -> Sum:
    found = dict(left)
    for term, number in right.items():
        found[term] = found.get(term, 0.0) + number
    return {term: number for term, number in found.items() if number}


def _subtracted(left: Sum, right: Sum) -> Sum:
    return _added(left, _scaled(right, -1.0))


def _multiplied(left: Sum, right: Sum) -> Sum:
    found: Sum = {}
    for a, number in left.items():
        for b, other in right.items():
            powers = dict(a)
            for factor, power in b:
                powers[factor] = powers.get(factor, 0) + power
            term = tuple(sorted((factor, power) for factor, power in powers.items() if power))
            found = _added(found, {term: number * other})
    return found


def _divided(left: Sum, right: Sum) -> Sum | None:
    if len(right) != 1:
        return None
    ((term, number),) = right.items()
    if not number:
        return None
    inverse = tuple((factor, -power) for factor, power in term)
    return _multiplied(left, {inverse: 1 / number})


def _over_keys(found: Sum) -> Sum | None:
    """The sum over keys: what is of rows comes out of it."""
    result: Sum = {}
    for term, number in found.items():
        powers = dict(term)
        matrix: Factor = ("sum", powers.pop(E, 0), powers.pop(G, 0))
        if not any(matrix[1:]):
            return None
        powers[matrix] = powers.get(matrix, 0) + 1
        kept = tuple(sorted((factor, power) for factor, power in powers.items() if power))
        result = _added(result, {kept: number})
    return result


_BINARY: dict[str, Callable[[Sum, Sum], Sum | None]] = {
    "add": _added,
    "subtract": _subtracted,
    "multiply": _multiplied,
    "divide": _divided,
}
