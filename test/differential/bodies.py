"""Bodies of reductions and scatters, and what they make of the numbers."""

from dataclasses import dataclass
from math import inf

import numpy as np
from builder import Builder
from elements import ALL, INTEGERS, SIGNED, WITH_ZERO
from grid import Grid, accumulator
from program import BITS, VALUES, Value

from mlir_fp8.arrays.tensor_specs import element_dtype
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
    Body("stablehlo.add", WITH_ZERO, sums=True),
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


def neutral_for(b: Builder, body: Body, element: str) -> Value:
    """A value to start from that changes nothing: an engine may start as often as it likes."""
    grid = Grid(0, 0) if body.sums else None
    return b.given(_neutral(body.name, element), element, grid)


def _neutral(name: str, element: str) -> np.ndarray:
    dtype = element_dtype(element)
    least, most = limits(element)
    numbers = {
        "stablehlo.maximum": least,
        "stablehlo.minimum": most,
        # The other zero would make 0 of a sum of -0 alone.
        "stablehlo.add": -0.0 if element in FORMATS else 0,
        "stablehlo.multiply": 1,
        "stablehlo.and": most if element not in SIGNED else -1,
    }
    return np.array(numbers.get(name, 0)).astype(dtype)


def limits(element: str) -> tuple[float, float]:
    """The least and the largest number of a type, infinities included."""
    if element == "i1":
        return 0, 1
    if element not in FORMATS:
        information = np.iinfo(element_dtype(element))
        return int(information.min), int(information.max)
    fmt = FORMATS[element]
    largest = inf if fmt.has_infinity else float(fmt.max)
    return (-largest if fmt.signed else float(fmt.smallest_normal)), largest


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
