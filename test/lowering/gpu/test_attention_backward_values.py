"""Kernels of an attention's gradients, run from their PTX, against numpy: within the bound."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from gpu_attention_backward import Given, exact, given, on_gpu

from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward

ONE: dict[str, Any] = {"consumers": 1, "blocks": 1, "stages": 2}
TWO: dict[str, Any] = {"blocks": 2, "stages": 2}
CAUSAL: dict[str, Any] = {"causal": True}
SHAPES = {
    "one_tile": AttentionBackward(1, 1, 1, 64, 64, 64, 64, 0.1, **ONE),
    "more_tiles_than_stages": AttentionBackward(1, 1, 1, 320, 320, 64, 64, 0.1, **ONE),
    "two_warpgroups": AttentionBackward(1, 1, 1, 128, 256, 128, 128, 0.1, **TWO),
    "held_twice": AttentionBackward(1, 2, 2, 128, 128, 128, 128, 0.1, held_stages=2, **TWO),
    "one_query": AttentionBackward(1, 2, 2, 1, 100, 64, 64, 0.1, **ONE),
    "one_key": AttentionBackward(1, 1, 1, 3, 1, 16, 8, 0.2, **ONE),
    "odd": AttentionBackward(1, 2, 1, 70, 203, 80, 72, 0.1, **ONE),
    "f16": AttentionBackward(1, 1, 1, 129, 140, 96, 104, 0.1, "f16", **TWO),
    "shared": AttentionBackward(2, 6, 2, 66, 130, 64, 64, 0.1, **TWO),
    "negative": AttentionBackward(1, 1, 1, 64, 100, 64, 64, -0.1, **ONE),
    "causal": AttentionBackward(1, 1, 1, 300, 300, 64, 64, 0.1, **CAUSAL, **TWO),
    "causal_shared": AttentionBackward(1, 4, 2, 200, 200, 64, 64, 0.1, **CAUSAL, **TWO),
    "causal_rows": AttentionBackward(1, 2, 1, 200, 130, 64, 128, 0.1, **CAUSAL, **TWO),
    "causal_keys": AttentionBackward(1, 1, 1, 100, 400, 64, 64, 0.1, **CAUSAL, **TWO),
}


def _assert_within(shape: AttentionBackward, operands: Given, **how: Any) -> dict[str, np.ndarray]:
    found = on_gpu(shape, operands, **how)
    expected = exact(shape, operands)
    for name, each in found.items():
        wanted, bound = expected[name]
        assert (np.abs(each - wanted) <= bound).all(), name
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("of", ["keys", "queries"])
@pytest.mark.parametrize("name", list(SHAPES))
def test_all_shapes(name: str, of: str, early: bool) -> None:
    shape = dataclasses.replace(SHAPES[name], of=of)
    found = _assert_within(shape, given(shape), early=early)
    assert set(found) == ({"dk", "dv"} if of == "keys" else {"dq"})


@pytest.mark.parametrize("of", ["keys", "queries"])
@pytest.mark.parametrize("spread", [0.0, 8.0, 100.0])
def test_flat_and_steep_softmaxes(spread: float, of: str) -> None:
    shape = AttentionBackward(1, 1, 1, 64, 150, 64, 64, 0.125, of=of, **CAUSAL, **ONE)
    _assert_within(shape, given(shape, spread=spread))


def test_other_orders_of_warps_give_the_same() -> None:
    for of in ("keys", "queries"):
        shape = dataclasses.replace(SHAPES["causal"], of=of)
        operands = given(shape)
        wanted = on_gpu(shape, operands)
        for seed in range(2):
            for name, each in on_gpu(shape, operands, seed=seed).items():
                np.testing.assert_array_equal(each, wanted[name])


def test_keys_that_no_query_sees_have_no_gradients() -> None:
    shape = SHAPES["causal_keys"]
    found = on_gpu(shape, given(shape))
    for each in found.values():
        assert (each[:, :, shape.rows :] == 0).all()
        assert (each[:, :, : shape.rows] != 0).any()
