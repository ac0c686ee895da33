"""`quantize(cache=)`: an f8 KV cache that the compiler makes, beside one written by hand."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

pytest.importorskip("jax")

from cached_attention import (
    F8_MAX,
    HEADS,
    SIZE,
    WIDTH,
    WRITES,
    by_select,
    copies_of,
    rows_of,
    text_of,
)

TOKENS = 8
E4M3 = ml_dtypes.float8_e4m3fn


def inputs(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, WIDTH), dtype=np.float32)


def hand_arrays() -> list[np.ndarray]:
    """k, k_scale, v, v_scale without tokens."""
    codes, ones = (HEADS, TOKENS, SIZE), (HEADS, TOKENS, 1)
    pair = [np.zeros(codes, E4M3), np.ones(ones, np.float32)]
    return [*pair, *(each.copy() for each in pair)]


def made_of(text: str, **options: Any) -> mlir_fp8.Quantized:
    return mlir_fp8.quantize(text, cache=["cache*"], **options)


@pytest.mark.parametrize("form", WRITES)
def test_steps_are_those_of_a_cache_by_hand(form: str) -> None:
    made = made_of(text_of(1, TOKENS, write=WRITES[form]))
    assert [each.scale_shape for each in made.caches] == [(HEADS, TOKENS, 1)] * 2
    assert made.donate == {2: 1, 3: 2, 4: 3, 5: 4}
    ours, hand = made.empty_caches(), hand_arrays()
    call = mlir_fp8.compile(made.module, donate=True)
    by_hand = mlir_fp8.compile(text_of(1, TOKENS, is_f8=True), donate=True)
    for at in range(4):
        x = inputs(1, at)
        mine, *kept = call(*made.arguments(ours, x, at))
        (other, *_) = by_hand(x, at, *hand)
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)
        assert kept[0] is ours["cache['k']"] and kept[2] is ours["cache['k']_scale"]
    for mine, other in zip(ours.values(), hand, strict=True):
        assert mine.tobytes() == other.tobytes()
    assert np.count_nonzero(ours["cache['k']"].view(np.uint8).any((0, 2))) == 4


def test_rows_are_quantized_element_by_element() -> None:
    made = made_of(text_of(3, TOKENS))
    arrays, x = made.empty_caches(), inputs(3)
    x[1] = 0  # a row of sin(0): its scale is 1
    call = mlir_fp8.compile(made.module, donate=made.donate)
    call(*made.arguments(arrays, x, 2))
    k = np.asarray(rows_of(x)[1])
    scale = np.abs(k).max(-1, keepdims=True) / np.float32(F8_MAX)
    scale[:, 1] = 1
    wanted = np.clip(k / scale, -F8_MAX, F8_MAX).astype(E4M3)
    codes = arrays["cache['k']"]
    # XLA's sine is not ours to the last bit: a code in a hundred may round otherwise.
    assert np.mean(codes[:, 2:5].view(np.uint8) != wanted.view(np.uint8)) < 0.01
    np.testing.assert_allclose(arrays["cache['k']_scale"][:, 2:5], scale, rtol=1e-6)
    assert not codes[:, [0, 1, 5, 6, 7]].view(np.uint8).any()


@pytest.mark.parametrize("scales", ["token", "head"])
@pytest.mark.parametrize("form", WRITES)
def test_nothing_of_the_size_of_a_cache_is_copied(form: str, scales: str) -> None:
    text = text_of(1, 96, write=WRITES[form])
    made = made_of(text, cache_scales=scales)
    assert copies_of(made.module, (HEADS, 96, SIZE), made.donate) == []
    if form != "select":  # which computes the whole cache anyway
        assert copies_of(made.module, (HEADS, 96, SIZE), ()) != []


def test_a_prefill_and_steps_share_caches() -> None:
    whole, first, rest = (made_of(text_of(count, TOKENS)) for count in (6, 5, 1))
    at_once, arrays = whole.empty_caches(), first.empty_caches()
    x = inputs(6)
    (wanted, *_) = mlir_fp8.compile(whole.module)(*whole.arguments(at_once, x, 0))
    mlir_fp8.compile(first.module, donate=True)(*first.arguments(arrays, x[:5], 0))
    (got, *_) = mlir_fp8.compile(rest.module, donate=True)(*rest.arguments(arrays, x[5:], 5))
    np.testing.assert_allclose(got, wanted[5:], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", WRITES)
def test_scales_of_heads_are_the_callers(form: str) -> None:
    made = made_of(text_of(1, TOKENS, write=WRITES[form]), cache_scales="head")
    assert [each.scale_shape for each in made.caches] == [(HEADS, 1, 1)] * 2
    assert made.donate == {2: 1, 3: 2}
    arrays, x = made.empty_caches(), inputs(1)
    assert list(arrays) == ["cache['k']", "cache['v']"]
    known = np.array([[[0.25]], [[2**-9]]], np.float32)  # the second is too small: rows saturate
    scales = {"cache['k']_scale": known, "cache['v']_scale": np.ones_like(known)}
    mlir_fp8.compile(made.module, donate=True)(*made.arguments({**arrays, **scales}, x, 3))
    k = np.asarray(rows_of(x)[1])[:, 0]
    codes = arrays["cache['k']"][:, 3].astype(np.float32)
    np.testing.assert_allclose(codes[0] / 4, k[0], rtol=0.07, atol=2**-11)
    np.testing.assert_allclose(codes[1], np.clip(k[1] * 512, -448, 448), rtol=0.07, atol=2**-10)
    assert np.abs(codes[1]).max() == 448


def test_prepare_quantizes_a_wide_cache() -> None:
    for scales, axes in (("token", 2), ("head", (1, 2))):
        made = made_of(text_of(1, TOKENS), cache_scales=scales)
        wide = np.random.default_rng(1).standard_normal((HEADS, TOKENS, SIZE), dtype=np.float32)
        held = made.prepare({"cache['k']": wide})
        scale = np.abs(wide).max(axes, keepdims=True) / np.float32(448)
        np.testing.assert_array_equal(held["cache['k']_scale"], scale)
        wanted = (wide / scale).astype(E4M3)
        assert held["cache['k']"].tobytes() == wanted.tobytes()


def test_a_cache_of_bf16() -> None:
    text = text_of(1, TOKENS, dtype=ml_dtypes.bfloat16)
    made = made_of(text)
    wide = mlir_fp8.compile(text)
    arrays = made.empty_caches()
    kept: list[Any] = [np.zeros((HEADS, TOKENS, SIZE), ml_dtypes.bfloat16) for _ in range(2)]
    call = mlir_fp8.compile(made.module, donate=True)
    errors: list[float] = []
    for at in range(4):
        got, *_ = call(*made.arguments(arrays, inputs(1, at), at))
        wanted, *kept = wide(inputs(1, at), at, *kept)
        errors.append(float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted)))
    assert all(1e-4 < each < 0.05 for each in errors)


def test_an_artifact_keeps_what_caches_are() -> None:
    made = made_of(text_of(1, TOKENS))
    held = mlir_fp8.load(mlir_fp8.serialize(made.module))
    arrays = made.empty_caches()
    call = mlir_fp8.compile(held, donate=made.donate)
    assert call(*made.arguments(arrays, inputs(1), 0))[1] is arrays["cache['k']"]
    again = mlir_fp8.Quantized(held, {}, (), caches=made.caches)
    assert again.donate == made.donate


def test_steps_in_one_call() -> None:
    made = made_of(text_of(1, TOKENS, write=by_select))
    arrays, alone = made.empty_caches(), made.empty_caches()
    names = {2: "cache['k']", 3: "cache['v']"}
    steps = mlir_fp8.repeat_steps(made.module, 3, {**made.donate, 0: 0}, counter=1)
    x = inputs(1)
    last, *_ = mlir_fp8.compile(steps, donate=made.donate)(*made.arguments(arrays, x, 0))
    one = mlir_fp8.compile(made.module, donate=True)
    for at in range(3):
        x, *_ = one(*made.arguments(alone, x, at))
    np.testing.assert_allclose(last, x, rtol=1e-5, atol=1e-6)
    for name in names.values():
        assert arrays[name].tobytes() == alone[name].tobytes()
