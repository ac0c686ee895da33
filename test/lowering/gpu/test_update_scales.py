"""`update_scales` run from its PTX, against the formulas of `fp8.update_scale` in numpy."""

import gpu_kernels as gpu
import numpy as np
import pytest

from mlir_fp8.lowering.gpu.kernels.update_scales import UpdateScales, update_scales_kernel

FORMATS = ("f8E4M3FN", "f8E5M2", "f8E4M3FN", "f8E5M2", "f8E4M3FN")
MARGINS = (0.0, 1.0, 0.0, -2.0, 0.0)


def _updated(
    shape: UpdateScales, tensor: int, scale: np.ndarray, history: np.ndarray, amax: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    counts = shape.recipe == "transformer_engine"
    seen = history.copy()
    if counts:
        seen[0] = amax[0]
    largest = np.max(seen) if shape.algorithm == "max" else seen[0]
    found = np.float32(largest) / np.float32(gpu.FORMATS[FORMATS[tensor]][1])
    found = found * np.float32(2.0 ** MARGINS[tensor])
    new = found if 2.0**-126 <= found < np.inf else scale[0]
    rolled = np.roll(seen, -1)
    rolled[0] = 0 if counts else amax[0]
    return np.array([new], np.float32), rolled


def _tensors(size: int) -> list[tuple[np.ndarray, ...]]:
    generator = np.random.default_rng(0)
    histories = [np.float32(10) * generator.random(size, np.float32) for _ in FORMATS]
    histories[2][-1] = np.nan
    histories[3][:] = 0
    histories[4][:] = -1
    amaxes = generator.random((len(FORMATS), 1), np.float32) * np.float32(30)
    scales = np.arange(1, len(FORMATS) + 1, dtype=np.float32)[:, None]
    return list(zip(scales, histories, amaxes, strict=True))


def test_scales_that_are_powers_of_two() -> None:
    """Rounded up: 448 / 448 is 1, 449 / 448 becomes 2; NaN stays; from 2^-50 on."""
    numbers = (448.0, 449.0, 447.0, np.nan, 1e-30)
    shape = UpdateScales(
        1, ("f8E4M3FN",) * 5, (0.0,) * 5, "transformer_engine", gives_history=False,
        power_of_two=True,
    )  # fmt: skip
    taken = [
        each for number in numbers for each in (np.array([number]), np.zeros(1), np.array([number]))
    ]
    buffers = [each.astype(np.float32) for each in taken] + [np.zeros(1, np.float32)] * 5
    found = [float(each[0]) for each in gpu.run(update_scales_kernel(shape), buffers)[15:]]
    np.testing.assert_equal(found, [1.0, 2.0, 1.0, np.nan, 2.0**-50])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("recipe", ["flax", "transformer_engine"])
@pytest.mark.parametrize("algorithm", ["max", "most_recent"])
@pytest.mark.parametrize("size", [1, 2, 33, 300])
@pytest.mark.parametrize(("scale", "history"), [(True, True), (True, False), (False, True)])
def test_update_scales(recipe: str, algorithm: str, size: int, scale: bool, history: bool) -> None:
    shape = UpdateScales(size, FORMATS, MARGINS, recipe, algorithm, scale, history)
    tensors = _tensors(size)
    taken = [
        each
        for old, past, amax in tensors
        for each in [old] * scale + [past] + [amax] * shape.takes_amax
    ]
    given = [np.full_like(each, 9) for old, past, _ in tensors for each in
             [old] * scale + [past] * history]  # fmt: skip
    results = gpu.run(update_scales_kernel(shape), [*taken, *given])[len(taken) :]
    for number, (old, past, amax) in enumerate(tensors):
        new_scale, new_history = _updated(shape, number, old, past, amax)
        if scale:
            np.testing.assert_array_equal(results.pop(0), new_scale)
        if history:
            np.testing.assert_array_equal(results.pop(0), new_history)
    assert not results
