"""Compiled `stablehlo.reduce_window` against the StableHLO specification's formula, in numpy."""

import numpy as np
import pytest
from reduction_bodies import (
    ADD,
    BODIES,
    LARGE,
    MAXIMUM,
    ORDER,
    SINGLE_OPS,
    Body,
)
from window_cases import (
    Case,
    assert_match,
    random_windows,
    window_case,
)


def random_case(rng: np.random.Generator, body: Body, element: str) -> Case:
    shape, windows = random_windows(rng, int(rng.integers(0, 4)))
    return window_case(rng, body, element, shape, windows)


@pytest.mark.parametrize("name", BODIES)
def test_bodies_on_every_element(name: str) -> None:
    rng = np.random.default_rng(len(name))
    body = BODIES[name]
    assert_match([random_case(rng, body, element) for element in body.elements])


@pytest.mark.parametrize("seed", range(4))
def test_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies = [ORDER, ADD, MAXIMUM, SINGLE_OPS["multiply"], LARGE["pair"]]
    assert_match([random_case(rng, bodies[k % 5], ("i32", "f32")[k % 2]) for k in range(40)])
