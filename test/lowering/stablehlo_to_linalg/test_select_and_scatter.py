"""Compiled `stablehlo.select_and_scatter` against the specification's formula, in numpy."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from float_cases import tensor
from reduction_bodies import (
    ADD,
    BODIES,
    CALL,
    KEEP,
    MAXIMUM,
    MINIMUM,
    ORDER,
    ORDERED,
    SINGLE_OPS,
    TAKE,
    Body,
    small_numbers,
    with_element,
)
from window_cases import (
    Case,
    Windows,
    assert_interpreted,
    assert_match,
    random_windows,
    rounded,
)


@dataclass(frozen=True)
class Select:
    """A predicate of the element chosen so far, `%x0`, and another, `%y0`, as in `Body`."""

    text: str
    python: Callable[..., bool]
    elements: tuple[str, ...] = ORDERED


def _comparison(direction: str, python: Callable[..., bool]) -> Select:
    text = f"""%p = stablehlo.compare {direction}, %x0, %y0 : (T, T) -> tensor<i1>
    stablehlo.return %p : tensor<i1>"""
    return Select(text, python)


def _constant(value: bool) -> Select:
    text = f"""%p = stablehlo.constant dense<{str(value).lower()}> : tensor<i1>
    stablehlo.return %p : tensor<i1>"""
    return Select(text, lambda x, y: value, (*ADD.elements, "i1"))


SELECTS = {
    "ge": _comparison("GE", lambda x, y: x >= y),
    "gt": _comparison("GT", lambda x, y: x > y),
    "le": _comparison("LE", lambda x, y: x <= y),
    "ne": _comparison("NE", lambda x, y: x != y),
    "first": _constant(True),
    "last": _constant(False),
    "branch": Select(
        """%p = stablehlo.compare EQ, %x0, %y0 : (T, T) -> tensor<i1>
        %r = "stablehlo.if"(%p) ({
          stablehlo.return %p : tensor<i1>
        }, {
          %q = stablehlo.compare LT, %x0, %y0 : (T, T) -> tensor<i1>
          stablehlo.return %q : tensor<i1>
        }) : (tensor<i1>) -> tensor<i1>
        stablehlo.return %r : tensor<i1>""",
        lambda x, y: x <= y,
    ),
}


@dataclass(frozen=True)
class SelectCase(Case):
    """`Case` with a second region, the first in the text."""

    select: Select

    def op(self, number: int, first: int) -> str:
        given = self.elements[0]
        text, before = self.body.of(self.declared)
        chooses = with_element(self.select.text, given)
        small, scalar = tensor([], given), tensor([], self.declared)
        types = ", ".join(tensor(array.shape, given) for array in self.arrays)
        return f"""{before}
        %r{number}:1 = "stablehlo.select_and_scatter"(%a{first}, %a{first + 1}, %a{first + 2}) <{{
            {self.attributes}}}> ({{
        ^bb0(%x0: {small}, %y0: {small}):
          {chooses}
        }}, {{
        ^bb0(%x0: {scalar}, %y0: {scalar}):
          {text}
        }}) : ({types}) -> {self.results()[0]}""".replace("%PRE", f"%pre{number}")


def case_of(
    rng: np.random.Generator,
    select: Select,
    scatter: Body,
    element: str,
    *,
    narrow: str = "",
) -> SelectCase:
    """Random windows without dilations; the scatter is on `element`, the operands of `narrow`."""
    given = narrow or element
    shape, windows = random_windows(rng, int(rng.integers(0, 4)))
    ones = (1,) * len(shape)
    padding = tuple(
        (low, high) if low + high + size >= 0 else (0, 0)
        for (low, high), size in zip(windows.padding, shape, strict=True)
    )
    windows = Windows(windows.sizes, windows.strides, ones, ones, padding)
    counts = windows.counts(shape)
    operand, source, init = (small_numbers(rng, each, given) for each in (shape, counts, ()))
    wide = small_numbers(rng, (), element).dtype
    result = select_and_scatter(
        operand, source.astype(wide), init.astype(wide), windows, (select.python, scatter.python)
    )
    return _case(select, scatter, (given, element), (operand, source, init), windows, result)


def _case(
    select: Select,
    scatter: Body,
    elements: tuple[str, str],
    arrays: tuple[np.ndarray, ...],
    windows: Windows,
    result: np.ndarray,
) -> SelectCase:
    given, element = elements
    attributes = windows.attributes(("window_dimensions", "window_strides", "padding"))
    return SelectCase(
        "select_and_scatter", scatter, (given,) * 3, arrays, arrays[0].shape, attributes,
        rounded([result], element), element, None, select,
    )  # fmt: skip


def select_and_scatter(
    operand: np.ndarray,
    source: np.ndarray,
    init: np.ndarray,
    windows: Windows,
    regions: tuple[Callable[..., bool], Callable[..., tuple]],
) -> np.ndarray:
    """The specification read aloud; windows and updates in row-major order, rounded each time."""
    select, scatter = regions
    result = np.full(operand.shape, init[()], source.dtype)
    for position in np.ndindex(source.shape):
        chosen = None
        for offset in itertools.product(*map(range, windows.sizes)):
            place = tuple(
                at * stride + step - low
                for at, stride, step, (low, _) in zip(
                    position, windows.strides, offset, windows.padding, strict=True
                )
            )
            if not all(0 <= i < n for i, n in zip(place, operand.shape, strict=True)):
                continue
            if chosen is None or not select(operand[chosen], operand[place]):
                chosen = place
        if chosen is None:
            continue
        with np.errstate(all="ignore"):
            (value,) = scatter(result[chosen], source[position])
        result[chosen] = value
    return result


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", SELECTS)
def test_selects_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    select = SELECTS[name]
    assert_match([case_of(rng, select, _any(element), element) for element in select.elements])


def _any(element: str) -> Body:
    return SINGLE_OPS["either"] if element == "i1" else ADD


SCATTERS = {
    **{name: SINGLE_OPS[name] for name in ("multiply", "maximum", "subtract", "xor")},
    "keep": KEEP,
    "take": TAKE,
    "branch": BODIES["branch"],
    "captured": BODIES["captured"],
}


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", SCATTERS)
def test_scatters_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    body = SCATTERS[name]
    cases = []
    for element in body.elements:
        select = SELECTS["ge" if element in ORDERED else "last"]
        cases.append(case_of(rng, select, body, element))
    assert_match(cases)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(3))
def test_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = [ORDER, ADD, TAKE, MAXIMUM, CALL, BODIES["loop"], BODIES["nested"]]
    selects = list(SELECTS.values())
    assert_match(
        [
            case_of(rng, selects[k % len(selects)], bodies[k % 6], ("i32", "f32")[k % 2])
            for k in range(42)
        ]
    )


def test_the_scatter_may_be_wider_than_the_operands() -> None:
    rng = np.random.default_rng(5)
    wider = [("i8", "i32"), ("ui8", "ui32"), ("bf16", "f32"), ("f8E4M3FN", "f32"), ("f32", "f64")]
    assert_match([case_of(rng, SELECTS["ge"], ADD, wide, narrow=narrow) for narrow, wide in wider])


def test_the_specification_in_numpy_agrees_with_the_interpreter() -> None:
    rng = np.random.default_rng(6)
    selects = list(SELECTS.values())
    # The interpreter scatters the initial value with every update, where the specification and XLA
    # do so once: of these bodies that is the same.
    bodies = (MAXIMUM, MINIMUM)
    cases = [case_of(rng, selects[k % len(selects)], bodies[k % 2], "i32") for k in range(60)]
    assert_interpreted([case for case in cases if all(array.size for array in case.arrays)])


def test_nans_and_zeros_are_chosen_as_the_comparison_says() -> None:
    operand = np.array([1, np.nan, 2, np.nan, 3, 4, -0.0, 0.0, 0.0, -0.0], np.float32)
    source = np.arange(1, 6, dtype=np.float32)
    halves = Windows((2,), (2,), (1,), (1,), ((0, 0),))
    cases = []
    for name in ("ge", "gt", "ne"):
        select = SELECTS[name]
        init = np.zeros((), np.float32)
        result = select_and_scatter(operand, source, init, halves, (select.python, ADD.python))
        cases.append(_case(select, ADD, ("f32", "f32"), (operand, source, init), halves, result))
    assert_match(cases)
