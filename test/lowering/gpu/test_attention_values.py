"""Kernels of attention, run from their PTX, against numpy without rounding: within the bound."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from gpu_attention import Operands, exact, exact_lse, on_gpu, operands
from gpu_products import F8

from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention

ONE: dict[str, Any] = {"consumers": 1, "blocks": 1, "stages": 2}
TWO: dict[str, Any] = {"blocks": 2, "stages": 2}
CAUSAL: dict[str, Any] = {"causal": True}
SHAPES = {
    "one_tile": Attention(1, 1, 1, 64, 128, 64, 64, **ONE),
    "more_tiles_than_stages": Attention(1, 1, 1, 64, 640, 64, 64, **ONE),
    "two_warpgroups": Attention(1, 1, 1, 128, 256, 128, 128, **TWO),
    "f32": Attention(1, 1, 1, 128, 256, 128, 128, result="f32", **TWO),
    "one_query": Attention(1, 2, 1, 1, 100, 64, 64, **ONE),
    "one_key": Attention(1, 1, 1, 3, 1, 16, 1, **ONE),
    "odd": Attention(1, 2, 1, 70, 203, 80, 71, **ONE),
    "odd_f16": Attention(1, 1, 1, 129, 140, 96, 100, result="f16", **TWO),
    "shared": Attention(2, 6, 2, 66, 130, 64, 64, **TWO),
    "e5m2": Attention(1, 1, 1, 64, 200, 64, 64, "f8E5M2", "f8E4M3FN", "f8E5M2", **ONE),
    "p_e5m2": Attention(1, 1, 1, 64, 200, 64, 64, p_format="f8E5M2", **ONE),
    "causal": Attention(1, 1, 1, 300, 300, 64, 64, result="f32", **CAUSAL, **TWO),
    "causal_rows": Attention(1, 2, 1, 200, 130, 64, 64, **CAUSAL, **TWO),
    "causal_keys": Attention(1, 1, 1, 100, 400, 64, 128, **CAUSAL, **TWO),
    "cache": Attention(2, 2, 1, 3, 300, 64, 64, offsets=2, **CAUSAL, **ONE),
    "cache_at": Attention(2, 2, 2, 65, 300, 64, 64, offsets=1, **CAUSAL, **ONE),
    "window": Attention(1, 2, 1, 300, 300, 64, 64, window=70, **CAUSAL, **TWO),
    "window_of_one": Attention(1, 1, 1, 70, 70, 64, 64, window=1, **CAUSAL, **ONE),
    "window_alone": Attention(1, 1, 1, 300, 300, 64, 64, window=70, **TWO),
    "window_cache": Attention(2, 2, 1, 3, 300, 64, 64, offsets=2, window=9, **CAUSAL, **ONE),
    "heads_as_rows": Attention(2, 2, 2, 70, 300, 64, 64, offsets=2, row_step=0, **CAUSAL, **TWO),
    "heads_in_window": Attention(
        1, 2, 2, 9, 200, 64, 64, offsets=1, row_step=0, window=20, **CAUSAL, **ONE
    ),
    "many": Attention(2, 3, 3, 130, 140, 32, 16, **CAUSAL, **ONE),
}


def _assert_within(shape: Attention, given: Operands, **how: Any) -> np.ndarray:
    found = on_gpu(shape, given, **how)
    wanted, bound = exact(shape, given)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    assert (np.isnan(wanted) | (np.abs(found - wanted) <= bound)).all()
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("name", list(SHAPES))
def test_all_shapes(name: str, early: bool) -> None:
    shape = SHAPES[name]
    found = _assert_within(shape, operands(shape), early=early)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("spread", [0.0, 0.01, 8.0, 300.0])
def test_flat_and_steep_softmaxes(spread: float) -> None:
    shape = Attention(1, 1, 1, 64, 300, 64, 64, result="f32", **ONE)
    _assert_within(shape, operands(shape, spread=spread))


LSE: dict[str, dict[str, Any]] = {
    "plain": {"sizes": (1, 2, 1, 70, 203, 80, 72), **ONE},
    "causal": {"sizes": (1, 1, 1, 300, 300, 64, 64), **CAUSAL, **TWO},
    "nan": {"sizes": (2, 2, 1, 70, 70, 64, 64), "offsets": 2, **CAUSAL, **ONE},
    "zero": {"sizes": (2, 2, 1, 70, 70, 64, 64), "offsets": 2, "blind": "zero", **CAUSAL, **ONE},
}


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize("name", list(LSE))
def test_lse_of_all_rows(name: str, spread: float) -> None:
    rest = dict(LSE[name])
    shape = Attention(*rest.pop("sizes"), lse=True, **rest)
    given = operands(shape, spread=spread)
    if shape.offsets:
        given.offsets[:] = [-20, 3]
    found = on_gpu(shape, given)
    wanted, bound = exact_lse(shape, given)
    lse = found[..., -1]
    np.testing.assert_array_equal(np.isnan(lse), np.isnan(wanted))
    assert np.isnan(wanted).any() == (name == "nan")
    assert (np.isnan(wanted) | (np.abs(lse - wanted) <= bound)).all()
    without = on_gpu(dataclasses.replace(shape, lse=False), given)
    np.testing.assert_array_equal(found[..., :-1], without)


def test_other_orders_of_warps_give_the_same() -> None:
    shape = SHAPES["causal"]
    given = operands(shape)
    wanted = on_gpu(shape, given)
    for seed in range(3):
        np.testing.assert_array_equal(on_gpu(shape, given, seed=seed), wanted)


def _one_hot(shape: Attention) -> Operands:
    """Query t is like key t mod depth alone, by so much that all others have e = 0."""
    given = operands(shape)
    eye = 16 * np.eye(shape.depth)
    q = np.resize(eye, given.q.shape).astype(F8[shape.q_format])
    k = np.zeros(given.k.shape)
    k[..., : shape.depth, :] = eye[: shape.keys]
    k = k.astype(F8[shape.k_format])
    ones = np.ones_like(given.factor)
    return dataclasses.replace(given, q=q, k=k, factor=ones, out_factor=ones)


def test_each_key_has_its_value() -> None:
    """To the bit: where one key is all, the result is its value."""
    shape = Attention(1, 2, 1, 128, 256, 128, 128, **TWO)
    given = _one_hot(shape)
    values = given.v[:, :, :128].astype(np.float64).repeat(2, 1)
    np.testing.assert_array_equal(on_gpu(shape, given), values)


def test_a_key_behind_all_others_wins_as_well() -> None:
    """What earlier tiles gave goes to 0 when a tile has the largest score."""
    shape = Attention(1, 1, 1, 64, 640, 64, 64, result="f32", **ONE)
    given = operands(shape)
    given = dataclasses.replace(
        given, q=np.ones_like(given.q), factor=given.factor * 0 + 1, out_factor=given.factor * 0 + 1
    )
    for key in (0, 130, 639):
        given.k[:] = -1
        given.k[0, 0, key] = 1
        wanted = np.broadcast_to(given.v[0, 0, key].astype(np.float64), (64, 64))
        np.testing.assert_array_equal(on_gpu(shape, given)[0, 0], wanted)


def test_equal_scores_give_the_mean() -> None:
    """To the bit, where sums of values are exact and the number of keys is a power of two."""
    shape = Attention(1, 1, 1, 70, 256, 64, 64, result="f32", **CAUSAL, **ONE)
    given = operands(shape)
    given.q[:], given.out_factor[:] = 0, 1
    given.v[:] = np.random.default_rng(0).integers(-3, 4, given.v.shape)
    found, values = on_gpu(shape, given)[0, 0], given.v[0, 0].astype(np.float64)
    for row in (0, 1, 3, 7, 15, 31, 63):
        np.testing.assert_array_equal(found[row], values[: row + 1].mean(0))


@pytest.mark.parametrize("factor", [-0.2, 0.0, -0.0, 1e-40, -1e-30, 1e30, np.inf, -np.inf, np.nan])
def test_any_factor_of_scores(factor: float) -> None:
    shape = Attention(1, 1, 1, 66, 150, 64, 64, **CAUSAL, **TWO)
    given = operands(shape)
    given.factor[:] = factor
    found = on_gpu(shape, given)
    with np.errstate(all="ignore"):
        wanted, bound = exact(shape, given)
    if not np.isfinite(factor) or abs(factor) > 1e9:  # NaN where scores are beyond 2^22
        assert np.isnan(found).all()
    else:
        assert (np.abs(found - wanted) <= bound).all()


@pytest.mark.parametrize("factor", [0.0, -2.0, np.inf, np.nan])
def test_any_factor_of_results(factor: float) -> None:
    shape = SHAPES["one_tile"]
    given = operands(shape)
    given.out_factor[:] = factor
    found = on_gpu(shape, given)
    with np.errstate(all="ignore"):
        wanted, bound = exact(shape, given)
        is_same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        assert (is_same | (np.abs(found - wanted) <= bound)).all()


def test_nan_goes_where_the_op_says() -> None:
    shape = Attention(1, 1, 1, 70, 70, 64, 64, **CAUSAL, **ONE)
    given = operands(shape)
    given.q[0, 0, 5, 3] = np.nan
    given.k[0, 0, 60, 3] = np.nan
    given.v[0, 0, 2, 7] = np.nan
    found = np.isnan(on_gpu(shape, given)[0, 0])
    wanted = np.zeros((70, 64), bool)
    wanted[5], wanted[60:], wanted[:, 7] = True, True, True
    np.testing.assert_array_equal(found, wanted)


def test_infinite_scores() -> None:
    """-infinity is a key that counts nothing, +infinity makes NaN."""
    shape = Attention(1, 1, 1, 64, 130, 64, 64, "f8E5M2", "f8E5M2", **ONE)
    given = operands(shape)
    given.q[0, 0, :, 0] = 1
    given.k[0, 0, 3, 0], given.k[0, 0, 129, 0] = -np.inf, -np.inf
    with np.errstate(all="ignore"):
        _assert_within(shape, given)
        given.k[0, 0, 3, 0] = np.inf
        assert np.isnan(on_gpu(shape, given)).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("blind", ["nan", "zero", "mean"])
@pytest.mark.parametrize("window", [0, 20])
@pytest.mark.parametrize("offset", [-1000, -129, -40, 0, 250, 331, 400])
def test_queries_that_see_no_key(blind: str, window: int, offset: int) -> None:
    shape = Attention(
        1, 1, 1, 150, 333, 64, 64, offsets=1, window=window, blind=blind, **CAUSAL, **TWO
    )
    given = operands(shape)
    given.offsets[:] = offset
    with np.errstate(all="ignore"):
        found = _assert_within(shape, given)
    assert np.isnan(found).any() == (blind == "nan" and (offset < 0 or (window and offset > 203)))
