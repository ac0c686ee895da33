"""Random products of all kinds that have kernels, run from their PTX, against the CPU."""

import numpy as np
import pytest
from test_products_in_modules import evaluated

import mlir_fp8
from mlir_fp8.tuning import card
from mlir_fp8.tuning.modules import parsed, with_kernels
from mlir_fp8.tuning.random_works import random_pieces

SEEDS = range(12)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", SEEDS)
def test_values_are_those_of_the_cpu(seed: int) -> None:
    """Of small sizes, in forms that a card has; where an activation is exact, to the bit."""
    for number, (work, kernel, shape, form) in enumerate(random_pieces(20, seed, 40)):
        if number % len(SEEDS) != seed:
            continue
        arguments = card.exact_arrays(work.arguments(), seed)
        made = mlir_fp8.compile(parsed(work.text()), threads=1)(*arguments)
        wanted = made if isinstance(made, (tuple, list)) else [made]
        found = evaluated(with_kernels([(work, kernel, shape)]), arguments)
        is_exact = getattr(work, "activation", "none") in ("none", "relu") and kernel != "gated"
        for one, other in zip(found, wanted, strict=True):
            got, want = (np.asarray(each).astype(np.float32) for each in (one, other))
            if is_exact:
                np.testing.assert_array_equal(got, want, f"{kernel} {work} {form}")
            else:
                near = {"rtol": 0.26, "atol": 1e-5 * np.nanmax(np.abs(want), initial=1)}
                np.testing.assert_allclose(got, want, err_msg=f"{kernel} {work} {form}", **near)
