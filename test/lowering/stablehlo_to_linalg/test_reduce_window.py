"""Compiled `stablehlo.reduce_window` against the StableHLO specification's formula, in numpy."""

import numpy as np
import pytest
from reduction_bodies import (
    ADD,
    BODIES,
    CALL,
    MAXIMUM,
    MINIMUM,
    ORDER,
    SINGLE_OPS,
    Body,
)
from window_cases import (
    Case,
    Windows,
    assert_interpreted,
    assert_match,
    random_windows,
    window_case,
)


def random_case(rng: np.random.Generator, body: Body, element: str, *, narrow: str = "") -> Case:
    shape, windows = random_windows(rng, int(rng.integers(0, 4)))
    return window_case(rng, body, element, shape, windows, narrow=narrow)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", BODIES)
def test_bodies_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    body = BODIES[name]
    assert_match([random_case(rng, body, element) for element in body.elements])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(3))
def test_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = [ORDER, ADD, MAXIMUM, SINGLE_OPS["multiply"], BODIES["pair"], CALL]
    assert_match([random_case(rng, bodies[k % 6], ("i32", "f32")[k % 2]) for k in range(42)])


def test_rank_8() -> None:
    rng = np.random.default_rng(2)
    windows = Windows(
        sizes=(1, 2, 1, 1, 3, 1, 1, 2),
        strides=(2, 1, 1, 1, 1, 1, 3, 1),
        base_dilations=(1, 1, 1, 2, 1, 1, 1, 1),
        dilations=(1, 2, 1, 1, 1, 1, 1, 1),
        padding=((0, 0), (1, 1), (0, 0), (0, 0), (2, 0), (0, 0), (0, 0), (0, -1)),
    )
    shape = (2, 1, 1, 2, 2, 1, 1, 3)
    assert_match([window_case(rng, body, "f32", shape, windows) for body in (ORDER, ADD)])


def test_results_wider_than_the_inputs() -> None:
    rng = np.random.default_rng(3)
    wider = [("i8", "i32"), ("i1", "i64"), ("ui2", "ui16"), ("bf16", "f32"), ("f8E5M2", "f64")]
    wider += [("f8E4M3FN", "bf16"), ("f4E2M1FN", "f16"), ("complex<f32>", "complex<f64>")]
    for body in (ADD, BODIES["crossed"]):
        assert_match([random_case(rng, body, wide, narrow=narrow) for narrow, wide in wider])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("body", [ADD, MAXIMUM, MINIMUM, SINGLE_OPS["multiply"], ORDER])
def test_cumulative(body: Body) -> None:
    rng = np.random.default_rng(4)
    cases = []
    for element in ("i32", "f32", "ui8", "f64", "f8E4M3FN", "bf16", "complex<f32>"):
        for axis in range(3) if element in body.elements else ():
            shape = [2, 3, 2]
            shape[axis] = 9
            sizes, pads = [1, 1, 1], [(0, 0)] * 3
            sizes[axis] = 9
            pads[axis] = ((8, 0), (0, 8))[len(cases) % 2]
            ones = (1, 1, 1)
            windows = Windows(tuple(sizes), ones, ones, ones, tuple(pads))
            cases.append(window_case(rng, body, element, shape, windows, init=len(cases) // 2 % 2))
    assert_match(cases)


def test_the_specification_in_numpy_agrees_with_the_interpreter() -> None:
    rng = np.random.default_rng(5)
    bodies = [ORDER, ADD, BODIES["crossed"], BODIES["nested"]]
    cases = [random_case(rng, bodies[k % 4], ("i32", "f32", "ui8")[k % 3]) for k in range(48)]
    assert_interpreted([case for case in cases if all(array.size for array in case.arrays)])
