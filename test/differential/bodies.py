"""Bodies of reductions and scatters, and what they make of the numbers."""

from dataclasses import dataclass

from builder import BITS, VALUES, Builder, Value
from elements import ALL, FLOATS, INTEGERS
from grid import Grid, accumulator

from mlir_fp8.dialects.float_formats import FORMATS


@dataclass(frozen=True)
class Body:
    """An associative op of two numbers; `sums` need operands whose sums are exact."""

    name: str
    elements: tuple[str, ...]
    sums: bool = False


BODIES = (
    Body("stablehlo.maximum", ALL),
    Body("stablehlo.minimum", ALL),
    Body("stablehlo.add", FLOATS, sums=True),
    Body("stablehlo.add", INTEGERS),
    Body("stablehlo.multiply", INTEGERS),
    Body("stablehlo.and", ("i1", *INTEGERS)),
    Body("stablehlo.or", ("i1", *INTEGERS)),
    Body("stablehlo.xor", ("i1", *INTEGERS)),
)


def region(name: str, element: str, *, swapped: bool = False) -> str:
    """A body of the one op `name`; `swapped` is a body that starts with its second argument."""
    scalar = f"tensor<{element}>"
    operands = "%y, %x" if swapped else "%x, %y"
    return (
        f'({{^bb0(%x: {scalar}, %y: {scalar}): %z = "{name}"({operands}) : ({scalar}, {scalar}) '
        f'-> {scalar} "stablehlo.return"(%z) : ({scalar}) -> ()}})'
    )


def operand_for(b: Builder, body: Body, least: int = 0) -> Value:
    """A value of `least` dims or more that `body` has one right result for."""
    if body.sums:
        return b.on_grid(body.elements, least)
    value = b.value(lambda v: v.is_exact and len(v.shape) >= least, body.elements)
    if value.is_exact and len(value.shape) >= least:
        return value
    return b.fresh(b.shape(least), value.element)


def initial_for(b: Builder, body: Body, element: str) -> Value:
    """A value to start from."""
    return b.like((), element, on_grid=body.sums)


def sums_exactly(body: Body, grids: list[Grid | None], count: int, *elements: str) -> bool:
    """Whether `body` on `count` numbers of `grids` is exact in what it accumulates in."""
    return not body.sums or exact_sum(grids, count, *elements) is not None


def exact_sum(grids: list[Grid | None], count: int, *elements: str) -> Grid | None:
    """The grid of sums of `count` numbers of `grids`; None where they may round."""
    total: Grid | None = None
    for grid in grids:
        if grid is None:
            return None
        total = grid if total is None else total.joined(grid)
    if total is None:
        return None
    summed = total.summed(count)
    return summed if summed.is_exact_in(accumulator(*elements)) else None


def result_check(element: str) -> str:
    """How what is computed in `element` is compared."""
    return VALUES if element in FORMATS else BITS
