"""Random well-typed StableHLO programs over the small floats and everything beside them.

Every result of a program has one right value, to the bit, or is a transcendental function of such
values that nothing but moves and narrowing conversions build on: see `Value.is_exact`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import indexed
import loops
import mixed
import products
import reductions
import typed
from builder import Builder
from choices import Choices, Drawn, Seeded
from elements import ALL, SMALL
from elementwise import ELEMENTWISE, Elementwise, emit_elementwise
from hypothesis import strategies as st
from movement import MOVEMENT
from program import Program


@dataclass(frozen=True)
class Row:
    """One op: what draws and writes it, and how often, compared with others."""

    name: str
    emit: Callable[[Builder], object]
    weight: int = 2


_COMMON = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "negate", "abs")


def _elementwise(row: Elementwise) -> Row:
    weight = 3 if row.name.removeprefix("stablehlo.") in _COMMON else 1
    return Row(row.name, lambda b: emit_elementwise(row, b), weight)


ROWS: tuple[Row, ...] = (
    *map(_elementwise, ELEMENTWISE),
    *(Row(f"stablehlo.{name}", emit) for name, emit in MOVEMENT.items()),
    Row("stablehlo.constant", typed.constant),
    Row("stablehlo.iota", typed.iota),
    Row("stablehlo.convert", typed.convert, 8),
    Row("stablehlo.bitcast_convert", typed.bitcast_convert, 3),
    Row("stablehlo.compare", typed.compare, 3),
    Row("stablehlo.select", typed.select, 3),
    Row("stablehlo.is_finite", typed.is_finite),
    Row("stablehlo.reduce_precision", typed.reduce_precision),
    Row("func.call", typed.call),
    Row("func.call (twice)", loops.call_twice),
    Row("stablehlo.while", loops.loop),
    Row("stablehlo.map", typed.mapped),
    Row("stablehlo.gather", indexed.gather, 3),
    Row("stablehlo.scatter", indexed.scatter, 3),
    Row("stablehlo.reduce", reductions.reduce, 4),
    Row("stablehlo.reduce (argmax)", reductions.argmax),
    Row("stablehlo.reduce_window", reductions.reduce_window, 3),
    Row("stablehlo.select_and_scatter", reductions.select_and_scatter),
    Row("stablehlo.dot_general", products.dot_general, 4),
    Row("stablehlo.convolution", products.convolution, 3),
)

_DRAWN = tuple(row for row in ROWS for _ in range(row.weight))

MIXED_PERCENT = 34
_MIXED = (loops.loop, loops.call_twice, mixed.arith)
"""What programs of mixed dialects have once at least."""


def program(choices: Choices) -> Program:
    """A program of 3 to 15 ops on 1 to 4 arguments, of a small float, a wide one and few others.

    A third of them have a loop, a function that is called twice, and arith beside StableHLO.
    """
    b = Builder(choices)
    wide = b.one_of(("f32", "bf16", "f16", "f64"))
    b.elements = (b.one_of(SMALL), wide, *(b.one_of(ALL) for _ in range(b.integer(0, 2))))
    b.fresh(b.shape(), b.elements[0])
    b.mixes_dialects = b.chance(MIXED_PERCENT)
    emits = [b.one_of(_DRAWN).emit for _ in range(b.integer(3, 15))]
    for emit in _MIXED if b.mixes_dialects else ():
        emits.insert(b.integer(0, len(emits)), emit)
    for emit in emits:
        emit(b)
    return b.program()


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs, as a strategy of hypothesis."""
    return program(Drawn(draw))


def seeded(seed: int, index: int) -> Program:
    """The program of that number among those of `seed`."""
    return program(Seeded(f"{seed}:{index}"))
