"""Elementwise ops, one row each: on which types, how exact, and on which grid their results are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder import Builder
from elements import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED
from grid import Grid
from program import BITS, CLOSE, NEAR, VALUES, Value

from mlir_fp8.dialects.float_formats import FORMATS

GridRule = Callable[..., Grid | None]

NUMBERS = (*INTEGERS, *FLOATS)
BITWISE = ("i1", *INTEGERS)
# f8E8M0FNU has no sign.
SIGNED_FLOATS = tuple(element for element in FLOATS if FORMATS[element].signed)
NO_NAN = tuple(element for element in FLOATS if not FORMATS[element].has_nan)
# Where numbers may give NaN.
NAN_FLOATS = tuple(element for element in FLOATS if FORMATS[element].has_nan)


@dataclass(frozen=True)
class Elementwise:
    """An op whose operands and result have one type."""

    name: str
    arity: int
    elements: Sequence[str]
    check: str = VALUES
    grid: GridRule | None = None


def _integers(grid: Grid) -> Grid:
    return Grid(max(grid.low, 0), max(grid.high, 0))


def _unchanged(grid: Grid, *_: Grid) -> Grid:
    return grid


# fmt: off
ELEMENTWISE = (
    Elementwise("stablehlo.add", 2, ALL, grid=Grid.plus),
    Elementwise("stablehlo.subtract", 2, NUMBERS, grid=Grid.plus),
    Elementwise("stablehlo.multiply", 2, ALL, grid=Grid.times),
    Elementwise("stablehlo.divide", 2, (*INTEGERS, *NAN_FLOATS)),
    Elementwise("stablehlo.remainder", 2, (*INTEGERS, *NAN_FLOATS)),
    Elementwise("stablehlo.maximum", 2, ALL, grid=Grid.joined),
    Elementwise("stablehlo.minimum", 2, ALL, grid=Grid.joined),
    Elementwise("stablehlo.abs", 1, (*SIGNED, *FLOATS), grid=_unchanged),
    Elementwise("stablehlo.negate", 1, (*INTEGERS, *SIGNED_FLOATS), grid=_unchanged),
    Elementwise("stablehlo.sign", 1, (*SIGNED, *FLOATS), grid=lambda _: Grid(0, 0)),
    Elementwise("stablehlo.floor", 1, FLOATS, grid=_integers),
    Elementwise("stablehlo.ceil", 1, FLOATS, grid=_integers),
    Elementwise("stablehlo.round_nearest_afz", 1, FLOATS, grid=_integers),
    Elementwise("stablehlo.round_nearest_even", 1, FLOATS, grid=_integers),
    Elementwise("stablehlo.sqrt", 1, NAN_FLOATS),
    Elementwise("stablehlo.and", 2, BITWISE),
    Elementwise("stablehlo.or", 2, BITWISE),
    Elementwise("stablehlo.xor", 2, BITWISE),
    Elementwise("stablehlo.not", 1, BITWISE),
    Elementwise("stablehlo.popcnt", 1, INTEGERS),
    Elementwise("stablehlo.count_leading_zeros", 1, INTEGERS),
    Elementwise("stablehlo.shift_left", 2, INTEGERS),
    Elementwise("stablehlo.shift_right_arithmetic", 2, INTEGERS),
    Elementwise("stablehlo.shift_right_logical", 2, INTEGERS),
    Elementwise("stablehlo.clamp", 3, NUMBERS, grid=lambda a, b, c: a.joined(b).joined(c)),
    Elementwise("stablehlo.atan2", 2, FLOATS, NEAR),
    Elementwise("stablehlo.cbrt", 1, FLOATS, NEAR),
    Elementwise("stablehlo.cosine", 1, FLOATS, NEAR),
    Elementwise("stablehlo.exponential", 1, FLOATS, NEAR),
    Elementwise("stablehlo.exponential_minus_one", 1, FLOATS, NEAR),
    Elementwise("stablehlo.log", 1, NAN_FLOATS, NEAR),
    Elementwise("stablehlo.log_plus_one", 1, NAN_FLOATS, NEAR),
    Elementwise("stablehlo.logistic", 1, FLOATS, NEAR),
    Elementwise("stablehlo.power", 2, NAN_FLOATS, NEAR),
    Elementwise("stablehlo.rsqrt", 1, NAN_FLOATS, NEAR),
    Elementwise("stablehlo.sine", 1, FLOATS, NEAR),
    Elementwise("stablehlo.tan", 1, FLOATS, NEAR),
    Elementwise("stablehlo.tanh", 1, FLOATS, NEAR),
    *(Elementwise(f"chlo.{name}", 1, NAN_FLOATS, CLOSE) for name in (
        "acos", "acosh", "asin", "atanh", "digamma", "erf_inv",
    )),
    *(Elementwise(f"chlo.{name}", 1, FLOATS, CLOSE) for name in (
        "asinh", "atan", "bessel_i1e", "cosh", "erf", "erfc", "lgamma", "sinh", "square",
    )),
)
# fmt: on


def emit_elementwise(row: Elementwise, b: Builder, first: Value | None = None) -> Value:
    """One op of `row`, on values that are exact; `first` or any other is the first operand."""
    first = first or b.value(lambda value: value.is_exact, row.elements)
    if not first.is_exact:
        first = b.fresh(first.shape, first.element)
    operands = [first]
    operands += [b.like(first.shape, first.element) for _ in range(row.arity - 1)]
    if row.name in ("stablehlo.divide", "stablehlo.remainder") and first.element in INTEGERS:
        # By zero, and the least number by -1, are nowhere defined.
        operands[1] = _positive(b, operands[1])
    return b.op(
        row.name,
        operands,
        first.spec,
        check=_check(row, first.element),
        grid=_grid(row, operands),
    )


def _positive(b: Builder, value: Value) -> Value:
    one = b.op(
        "stablehlo.constant", [], value.spec, attributes=f"<{{value = dense<1> : {value.spec}}}>"
    )
    if value.element in UNSIGNED or not b.chance(50):
        return b.op("stablehlo.maximum", [value, one], value.spec)
    return one


def _check(row: Elementwise, element: str) -> str:
    if element not in FORMATS:
        return BITS
    return row.check


def _grid(row: Elementwise, operands: Sequence[Value]) -> Grid | None:
    grids = [value.grid for value in operands]
    if row.grid is None or None in grids or operands[0].element == "i1":
        return None
    if operands[0].element in INTEGERS:
        return None
    found = row.grid(*grids)
    return found and found.rounded_to(operands[0].element)
