"""Every integer type in ops with bodies: reductions, windows, sorts and scatters."""

import functools
import random
from collections.abc import Callable

import numpy as np
import pytest
from integer_reference import BINARY, ELEMENTS, Integers, kind_letter

import mlir_fp8

ROWS, COLUMNS = 3, 5


def _arrays(kind: Integers) -> tuple[list[list[int]], int]:
    source = random.Random(kind.bits)
    values = kind.values()
    rows = [[source.choice(values) for _ in range(COLUMNS)] for _ in range(ROWS)]
    return rows, source.choice(values)


def _run(element: str, result: str, body: str) -> list[int]:
    kind = Integers(element)
    rows, start = _arrays(kind)
    text = f"""func.func @main(%a: tensor<3x5x$T>, %i: tensor<$T>) -> {result} {{
      {body}
      return %0 : {result}
    }}"""
    compiled = mlir_fp8.compile(text.replace("$T", element))
    flat = [number for row in rows for number in row]
    (got,) = compiled(kind.array(flat).reshape(ROWS, COLUMNS), kind.array([start]).reshape(()))
    return kind.numbers(got)


def _body(op: str) -> str:
    return f"""({{
      ^bb0(%x: tensor<$T>, %y: tensor<$T>):
        %s = stablehlo.{op} %x, %y : tensor<$T>
        stablehlo.return %s : tensor<$T>
      }})"""


def _compared(direction: str) -> str:
    return f"""({{
      ^bb0(%x: tensor<$T>, %y: tensor<$T>):
        %p = stablehlo.compare {direction}, %x, %y : (tensor<$T>, tensor<$T>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }})"""


def _folds(element: str) -> dict[str, Callable[[int, int], int]]:
    kind = Integers(element)
    ops = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
    return {
        op: functools.partial(BINARY[op][1], kind)
        for op in ops
        if kind_letter(kind) in BINARY[op][0]
    }


@pytest.mark.sampled(7)
@pytest.mark.parametrize("element", ELEMENTS)
def test_reductions(element: str) -> None:
    rows, start = _arrays(Integers(element))
    for op, fold in _folds(element).items():
        body = f"""%0 = "stablehlo.reduce"(%a, %i) {_body(op)} {{dimensions = array<i64: 1>}}
          : (tensor<3x5x$T>, tensor<$T>) -> tensor<3x$T>"""
        want = [functools.reduce(fold, row, start) for row in rows]
        assert _run(element, "tensor<3x$T>", body) == want, op


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_running_reductions(element: str) -> None:
    rows, start = _arrays(Integers(element))
    for op in ("add", "maximum"):
        fold = _folds(element)[op]
        body = f"""%0 = "stablehlo.reduce_window"(%a, %i) {_body(op)}
          {{window_dimensions = array<i64: 1, 5>,
            padding = dense<[[0, 0], [4, 0]]> : tensor<2x2xi64>}}
          : (tensor<3x5x$T>, tensor<$T>) -> tensor<3x5x$T>"""
        # The start stands in the padding, too: it counts once per place that is not yet filled.
        want = [
            functools.reduce(fold, [start] * (COLUMNS - 1 - i) + row[: i + 1], start)
            for row in rows
            for i in range(COLUMNS)
        ]
        assert _run(element, "tensor<3x5x$T>", body) == want, op


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ELEMENTS)
def test_sort_and_scatter(element: str) -> None:
    rows, start = _arrays(Integers(element))
    body = f"""%0 = "stablehlo.sort"(%a) {_compared("LT")} {{dimension = 1 : i64}}
      : (tensor<3x5x$T>) -> tensor<3x5x$T>"""
    assert _run(element, "tensor<3x5x$T>", body) == [n for row in rows for n in sorted(row)]
    add = _folds(element)["add"]
    body = f"""%k = stablehlo.constant dense<[[0], [1], [1]]> : tensor<3x1xi32>
      %0 = "stablehlo.scatter"(%a, %k, %a) {_body("add")} {{scatter_dimension_numbers =
        #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}
      : (tensor<3x5x$T>, tensor<3x1xi32>, tensor<3x5x$T>) -> tensor<3x5x$T>"""
    first, second, third = rows
    want = [add(n, n) for n in first]
    want += [add(add(n, n), m) for n, m in zip(second, third, strict=True)]
    assert _run(element, "tensor<3x5x$T>", body) == want + third
    body = f"""%u = stablehlo.slice %a [0:1, 0:2] : (tensor<3x5x$T>) -> tensor<1x2x$T>
      %0 = "stablehlo.select_and_scatter"(%a, %u, %i)
      ({_compared("GE")[1:-1]}, {_body("add")[1:-1]}) {{window_dimensions = array<i64: 3, 2>,
        window_strides = array<i64: 1, 3>}}
      : (tensor<3x5x$T>, tensor<1x2x$T>, tensor<$T>) -> tensor<3x5x$T>"""
    assert _run(element, "tensor<3x5x$T>", body) == _selected(element, rows, start)


def _selected(element: str, rows: list[list[int]], start: int) -> list[int]:
    """Each of two windows, of columns 0 and 1, 3 and 4: its source goes to its first largest."""
    add = _folds(element)["add"]
    want = [[start] * COLUMNS for _ in range(ROWS)]
    for source, column in zip(rows[0][:2], (0, 3), strict=True):
        places = [(y, x) for y in range(ROWS) for x in (column, column + 1)]
        y, x = max(places, key=lambda place: rows[place[0]][place[1]])
        want[y][x] = add(want[y][x], source)
    return [number for row in want for number in row]


def test_arrays_hold_the_ends() -> None:
    """Or the tests above would not see a wrong sign."""
    for element in ELEMENTS:
        kind = Integers(element)
        assert {kind.least, kind.largest} <= set(kind.values())
        assert np.array_equal(kind.numbers(kind.array(kind.values())), kind.values())
