"""Loops whose results are not all used, and functions that are called twice."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from builder import Builder
from elements import ALL, FLOATS, UNSIGNED
from elementwise import NUMBERS, emit_elementwise
from program import BITS, VALUES, Op, Value
from typed import EXACT_ROWS, elementwise_body, exact

from mlir_fp8.arrays.tensor_specs import TensorSpec

_COUNTER = TensorSpec((), "i32")
_PREDICATE = TensorSpec((), "i1")
_MOST_TURNS = 4


def call_twice(b: Builder) -> None:
    """Two calls of one function with operands of the same types."""
    first = [_unknown(exact(b, ALL)) for _ in range(b.integer(1, 2))]
    second = [b.like(value.shape, value.element) for value in first]
    made = b.called(lambda: elementwise_body(b), first, second)
    if b.chance(30):
        _forget(b, [b.one_of(made)])


def loop(b: Builder, depth: int = 0) -> None:
    """A `while` over a counter and up to four values, of which some are used after it.

    As in loops until convergence, one may be read by the condition alone.
    """
    counter = b.given(np.array(0, np.int32), "i32")
    watched = b.fresh((), b.element(NUMBERS))
    carried = [_unknown(exact(b, ALL)) for _ in range(b.integer(1, 3))]
    is_watched = b.chance(60)
    carried += [counter, _unknown(watched)] if is_watched else [counter]
    order = b.permutation(len(carried))
    operands = [carried[index] for index in order]
    at, watched_at = order.index(carried.index(counter)), order.index(len(carried) - 1)
    captured = [_unknown(exact(b, ALL)) for _ in range(b.integer(0, 1))]
    turns = b.integer(0, _MOST_TURNS)

    def condition(taken: list[Value]) -> list[Value]:
        return [_goes_on(b, taken[at], taken[watched_at] if is_watched else None, turns)]

    def body(taken: list[Value]) -> list[Value]:
        if is_watched:
            _forget(b, [taken[watched_at]])
        return _turn(b, taken, at, depth)

    regions = [b.inside(each, operands, captured) for each in (condition, body)]
    made = b.ops(
        "stablehlo.while",
        operands,
        [value.spec for value in operands],
        region=f"({', '.join(_region(*each) for each in regions)})",
        check=VALUES,
        grids=[None] * len(operands),
        captured=captured,
        inner=tuple(op for *_, ops in regions for op in ops),
    )
    _forget(b, [made[at], made[watched_at], *(value for value in made if b.chance(40))])


def _unknown(value: Value) -> Value:
    """`value`, of which no more is known than that it has one right value."""
    return replace(value, check=VALUES if value.element in FLOATS else BITS, grid=None)


def _forget(b: Builder, values: Sequence[Value]) -> None:
    """No later op uses `values`, and they are no results of the program."""
    names = {value.name for value in values}
    b.values = [value for value in b.values if value.name not in names]


def _region(taken: Sequence[Value], given: Sequence[Value], ops: Sequence[Op]) -> str:
    arguments = ", ".join(f"{value.name}: {value.spec}" for value in taken)
    names = ", ".join(value.name for value in given)
    types = ", ".join(str(value.spec) for value in given)
    body = "\n".join(op.text for op in ops)
    return f'{{^bb0({arguments}):\n{body}\n  "stablehlo.return"({names}) : ({types}) -> ()}}'


def _goes_on(b: Builder, counter: Value, watched: Value | None, turns: int) -> Value:
    """The condition: a trip count, and a comparison of `watched` with a constant."""
    goes_on = _compare(b, "LT", counter, b.given(np.array(turns, np.int32), "i32"))
    if watched is None:
        return goes_on
    still = _compare(b, b.one_of(("LE", "NE", "GT")), watched, b.fresh((), watched.element))
    return b.op("stablehlo.and", [goes_on, still], _PREDICATE)


def _compare(b: Builder, direction: str, lhs: Value, rhs: Value) -> Value:
    kind = "FLOAT" if lhs.element in FLOATS else "SIGNED"
    if lhs.element in UNSIGNED:
        kind = "UNSIGNED"
    attributes = (
        f"<{{comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {kind}>}}>"
    )
    return b.op("stablehlo.compare", [lhs, rhs], _PREDICATE, attributes=attributes)


def _turn(b: Builder, taken: Sequence[Value], counter: int, depth: int) -> list[Value]:
    """The next values; the body may hold another loop."""
    if depth == 0 and b.chance(20):
        loop(b, depth + 1)
    visible = [value for value in taken if value in b.values]
    given = [_next(b, value, visible) for value in taken]
    one = b.given(np.array(1, np.int32), "i32")
    given[counter] = b.op("stablehlo.add", [taken[counter], one], _COUNTER)
    return given


def _next(b: Builder, value: Value, visible: Sequence[Value]) -> Value:
    """One more op on `value`, or another value of its type."""
    if value not in visible or b.chance(25):
        return b.like(value.shape, value.element)
    rows = [row for row in EXACT_ROWS if value.element in row.elements]
    return emit_elementwise(b.one_of(rows), b, value) if rows else value
