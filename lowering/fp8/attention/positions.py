"""Which keys a predicate shows: comparisons of positions, and all else as a mask."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.lowering.fp8.attention.repeats import MOVES, moved
from mlir_fp8.lowering.fp8.scaled_dot.spread import Spread
from mlir_fp8.lowering.fp8.scaled_dot.values import shape
from mlir_fp8.lowering.rewriting.stablehlo import build, element_type, is_total_order

_SMALL = 1 << 29
"""Sums of a few numbers below it do not wrap in i32."""
_TURNED = {"GE": "LE", "GT": "LT", "LE": "GE", "LT": "GT"}
_OPPOSITE = {"GE": "LT", "LT": "GE", "LE": "GT", "GT": "LE"}


@dataclass(frozen=True)
class Affine:
    """sum of factor * index of dimension, + `number` + the value `scalar`, of rank 0."""

    factors: Mapping[int, int] = field(default_factory=dict)
    number: int = 0
    scalar: ir.Value | None = None


@dataclass(frozen=True)
class Bound:
    """A key at `place` (an index) is shown where place `direction` index of row + number + scalar.

    `direction` is LE, or GT. `row` is None where there is one row.
    """

    key: int
    row: int | None
    direction: str
    number: int
    scalar: ir.Value | None


def conjuncts(value: ir.Value, *, negated: bool = False) -> list[Bound | Spread]:
    """What all must hold for `value`, of i1, to be true, in its dimensions; or false, `negated`."""
    op = producer(value)
    if op is not None and op.name in MOVES:
        inner = conjuncts(op.operands[0], negated=negated)
        lifted = [_lifted(each, op) for each in inner]
        known = [each for each in lifted if each is not None]
        return known if len(known) == len(inner) else [_mask(value, negated)]
    if op is None or (negated and op.name != "stablehlo.compare"):
        return [_mask(value, negated)]
    if op.name == "stablehlo.and":
        return [each for operand in op.operands for each in conjuncts(operand)]
    if op.name == "stablehlo.not":
        return conjuncts(op.operands[0], negated=True)
    if op.name == "stablehlo.select" and shape(op.operands[0]) and _flag(op.operands[2]) is False:
        return [*conjuncts(op.operands[0]), *conjuncts(op.operands[1])]
    if op.name == "stablehlo.compare":
        bound = _bound(op, negated)
        return [_mask(value, negated) if bound is None else bound]
    return [] if _flag(value) is True else [_mask(value, negated)]


def _mask(value: ir.Value, negated: bool) -> Spread:
    spread = Spread.whole(value)
    if not negated:
        return spread
    return replace(spread, make=lambda: build("not", value.type, [value]))


def _flag(value: ir.Value) -> bool | None:
    """The constant that all elements are."""
    op = producer(value)
    if op is None:
        return None
    if op.name in MOVES:
        return _flag(op.operands[0])
    held = op.attributes["value"] if op.name == "stablehlo.constant" else None
    if not isinstance(held, ir.DenseIntElementsAttr) or not held.is_splat:
        return None
    return bool(held[0])


def _lifted(each: Bound | Spread, op: ir.Operation) -> Bound | Spread | None:
    if isinstance(each, Spread):
        return moved(each, op)
    places = _places(op)
    if places is None or places.get(each.key) is None:
        return None
    if each.row is None:
        return replace(each, key=places[each.key])
    row = places.get(each.row)
    return None if row is None else replace(each, key=places[each.key], row=row)


def _places(op: ir.Operation) -> dict[int, int] | None:
    """Where `op`, of `MOVES`, puts each dimension that is not of size 1."""
    before, after = shape(op.operands[0]), shape(op.results[0])
    if op.name == "stablehlo.transpose":
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return {source: target for target, source in enumerate(order)}
    if op.name == "stablehlo.broadcast_in_dim":
        mapping = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
        return {i: dim for i, dim in enumerate(mapping) if before[i] != 1 or after[dim] == 1}
    sources = [i for i, size in enumerate(before) if size != 1]
    targets = [i for i, size in enumerate(after) if size != 1]
    if [before[i] for i in sources] != [after[i] for i in targets]:
        return None
    return dict(zip(sources, targets, strict=True))


def affine(value: ir.Value) -> Affine | None:
    """`value`, of i32 or i64, by its indices; None where it is no such sum."""
    if str(element_type(value)) not in ("i32", "i64"):
        return None
    if not shape(value):
        number = _integer(value)
        return Affine(scalar=value) if number is None else Affine(number=number)
    op = producer(value)
    if op is None:
        return None
    if op.name == "stablehlo.iota":
        dimension = ir.IntegerAttr(op.attributes["iota_dimension"]).value
        return Affine({dimension: 1} if shape(value)[dimension] != 1 else {})
    if op.name in MOVES:
        return _moved_affine(op)
    if op.name in ("stablehlo.add", "stablehlo.subtract"):
        a, b = (affine(operand) for operand in op.operands)
        sign = 1 if op.name == "stablehlo.add" else -1
        return None if a is None or b is None else _sum(a, b, sign)
    if op.name == "stablehlo.multiply":
        a, b = (affine(operand) for operand in op.operands)
        return None if a is None or b is None else _times(a, b)
    return _constant(op) if op.name == "stablehlo.constant" else None


def _moved_affine(op: ir.Operation) -> Affine | None:
    inner, places = affine(op.operands[0]), _places(op)
    if inner is None or places is None or any(dim not in places for dim in inner.factors):
        return None
    return replace(inner, factors={places[dim]: each for dim, each in inner.factors.items()})


def _sum(a: Affine, b: Affine, sign: int) -> Affine | None:
    if b.scalar is not None and (a.scalar is not None or sign < 0):
        return None
    factors = dict(a.factors)
    for dim, each in b.factors.items():
        factors[dim] = factors.get(dim, 0) + sign * each
    kept = {dim: each for dim, each in factors.items() if each}
    return Affine(kept, a.number + sign * b.number, a.scalar if b.scalar is None else b.scalar)


def _times(a: Affine, b: Affine) -> Affine | None:
    if a.scalar is not None or b.scalar is not None or (a.factors and b.factors):
        return None
    if not a.factors:
        a, b = b, a
    return Affine({dim: each * b.number for dim, each in a.factors.items()}, a.number * b.number)


def _constant(op: ir.Operation) -> Affine | None:
    """A constant that is one number, or that rises along its one dimension."""
    held = op.attributes["value"]
    if not isinstance(held, ir.DenseIntElementsAttr):
        return None
    if held.is_splat:
        return Affine(number=held[0])
    if len(shape(op.results[0])) != 1:
        return None
    numbers = [held[i] for i in range(len(held))]
    step = numbers[1] - numbers[0]
    if numbers != [numbers[0] + step * i for i in range(len(numbers))]:
        return None
    return Affine({0: step}, numbers[0])


def _integer(value: ir.Value) -> int | None:
    op = producer(value)
    held = op.attributes["value"] if op is not None and op.name == "stablehlo.constant" else None
    return held[0] if isinstance(held, ir.DenseIntElementsAttr) else None


def _bound(op: ir.Operation, negated: bool) -> Bound | None:
    direction = str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")
    if direction not in _TURNED or is_total_order(op):
        return None
    if negated:
        direction = _OPPOSITE[direction]
    a, b = (affine(operand) for operand in op.operands)
    if a is None or b is None or max(abs(a.number), abs(b.number)) > _SMALL:
        return None
    if any(size > _SMALL for size in shape(op.operands[0])):
        return None
    if a.scalar is None and b.scalar is None:
        return _of_indices(_sum(a, b, -1), direction)
    if a.scalar is not None:
        a, b, direction = b, a, _TURNED[direction]
    return _of_scalar(a, b, direction)


def _of_indices(difference: Affine | None, direction: str) -> Bound | None:
    """`difference`, in which nothing wraps, compared with 0."""
    assert difference is not None
    factors, number = dict(difference.factors), difference.number
    if sorted(factors.values()) != [-1, 1]:
        return None
    dims = {factor: dim for dim, factor in factors.items()}
    # The later dimension is that of keys: scores are rows of them.
    key = max(factors)
    row = min(factors)
    if dims[1] != key:  # row - key: turned
        number, direction = -number, _TURNED[direction]
    # key - row + number `direction` 0
    match direction:
        case "LE":
            return Bound(key, row, "LE", -number, None)
        case "LT":
            return Bound(key, row, "LE", -number - 1, None)
        case "GT":
            return Bound(key, row, "GT", -number, None)
        case _:
            return Bound(key, row, "GT", -number - 1, None)


def _of_scalar(a: Affine, b: Affine, direction: str) -> Bound | None:
    """Only what wraps where the op wraps: key <= row + s, or key > row + s - W."""
    if a.scalar is not None or a.number or list(a.factors.values()) != [1]:
        return None
    if list(b.factors.values()) not in ([], [1]) or direction not in ("LE", "GT"):
        return None
    if (direction == "LE") != (b.number == 0):
        return None
    (key,) = a.factors
    row = next(iter(b.factors), None)
    return None if row == key else Bound(key, row, direction, b.number, b.scalar)
