"""Loops, sorts, windows and updates as JAX writes them, against XLA:CPU's results for them."""

from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored

PROGRAMS = Path(__file__).parent / "Inputs" / "jax"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.mlir"))
# Of f32: functions and sums in another order than XLA's.
TOLERANCE = 2e-6


def test_the_programs_are_there() -> None:
    assert len(NAMES) == 33
    assert sorted(path.stem for path in PROGRAMS.glob("*.npz")) == NAMES


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", NAMES)
def test_program(name: str) -> None:
    arrays = dict(restored(np.load(PROGRAMS / f"{name}.npz")))
    arguments = [array for key, array in arrays.items() if key.startswith("arg")]
    wanted = [array for key, array in arrays.items() if key.startswith("res")]
    results = mlir_fp8.compile((PROGRAMS / f"{name}.mlir").read_text())(*arguments)
    assert len(results) == len(wanted)
    for got, want in zip(results, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if want.dtype.kind in "iub":
            assert np.array_equal(got, want)
            continue
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            got.astype(wide), want.astype(wide), rtol=TOLERANCE, atol=TOLERANCE
        )
