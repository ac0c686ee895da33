"""`quantize(cache=)` of caches that are stacked by layers, in loops over these."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8

jax: Any = pytest.importorskip("jax")

from cached_attention import (  # noqa: E402
    F8,
    HEADS,
    SIZE,
    WIDTH,
    Write,
    by_scatter,
    by_update,
    copies_of,
    step,
)

LAYERS = 2


def by_slices(x: Any, at: Any, k: Any, v: Any, write: Write) -> Any:
    """Each layer's cache is a slice of what the scan takes, and of what it gives."""

    def layer(x: Any, own: Any) -> Any:
        x, cache = step(x, at, dict(zip("kv", own, strict=True)), write)
        return x, (cache["k"], cache["v"])

    x, caches = jax.lax.scan(layer, x, (k, v))
    return x, *caches


def by_carry(x: Any, at: Any, k: Any, v: Any, write: Write) -> Any:
    """The scan carries the caches of all layers, of which each updates its own."""

    def layer(carry: Any, number: Any) -> Any:
        x, k, v = carry
        x, cache = step(x, at, {"k": k[number], "v": v[number]}, write)
        put = jax.lax.dynamic_update_index_in_dim
        return (x, put(k, cache["k"], number, 0), put(v, cache["v"], number, 0)), None

    return jax.lax.scan(layer, (x, k, v), jax.numpy.arange(LAYERS))[0]


FORMS = {"slices": by_slices, "carry": by_carry}


def text_of(form: str, tokens: int, write: Write) -> str:
    def main(x: Any, at: Any, k: Any, v: Any) -> Any:
        return FORMS[form](x, at, k, v, write)

    cache = jax.ShapeDtypeStruct((LAYERS, HEADS, tokens, SIZE), np.float32)
    x, at = jax.ShapeDtypeStruct((1, WIDTH), np.float32), jax.ShapeDtypeStruct((), np.int32)
    lowered = jax.jit(main, donate_argnums=(2, 3)).lower(x, at, cache, cache)
    return lowered.as_text(debug_info=True)


def hand(x: np.ndarray, at: int, caches: list[dict[str, Any]]) -> np.ndarray:
    """By JAX, layer by layer, each with its f8 cache; `caches` change."""
    for number, cache in enumerate(caches):
        x, caches[number] = jax.jit(step)(x, np.int32(at), cache)
    return np.asarray(x)


@pytest.mark.parametrize("write", [by_update, by_scatter])
@pytest.mark.parametrize("form", FORMS)
def test_layers_in_a_loop_are_those_one_by_one(form: str, write: Write) -> None:
    tokens = 6
    made = mlir_fp8.quantize(text_of(form, tokens, write), cache=["k", "v"])
    assert made.caches[0].blocks == (1, 1, 1, 0)
    arrays = made.empty_caches()
    call = mlir_fp8.compile(made.module, donate=True)
    shape = (HEADS, tokens, SIZE)
    one = {name: np.zeros(shape, F8) for name in "kv"}
    one |= {f"{name}_scale": np.ones((*shape[:2], 1), np.float32) for name in "kv"}
    apart = [dict(one) for _ in range(LAYERS)]
    for at in range(3):
        x = np.random.default_rng(at).standard_normal((1, WIDTH), dtype=np.float32)
        got, *_ = call(*made.arguments(arrays, x, at))
        # A code may round otherwise where XLA's exponential differs in the last bit.
        np.testing.assert_allclose(got, hand(x, at, apart), rtol=0.02, atol=0.002)
    for number, cache in enumerate(apart):
        for name in "kv":
            mine, scale = arrays[name][number], arrays[f"{name}_scale"][number]
            other = np.asarray(cache[name])
            assert np.mean(mine.view(np.uint8) != other.view(np.uint8)) < 0.01
            np.testing.assert_allclose(scale, cache[f"{name}_scale"], rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_the_size_of_a_cache_is_copied(form: str) -> None:
    made = mlir_fp8.quantize(text_of(form, 96, by_update), cache=["k", "v"])
    for shape in ((LAYERS, HEADS, 96, SIZE), (HEADS, 96, SIZE)):
        assert copies_of(made.module, shape, made.donate) == []


def test_scales_of_heads_are_by_layer() -> None:
    made = mlir_fp8.quantize(text_of("slices", 6, by_update), cache=["k"], cache_scales="head")
    assert made.caches[0].scale_shape == (LAYERS, HEADS, 1, 1)
    scale = np.array([[1, 2], [4, 8]], np.float32).reshape(LAYERS, HEADS, 1, 1) / 448
    arrays = {**made.empty_caches(), "k_scale": scale}
    kept = np.zeros((LAYERS, HEADS, 6, SIZE), np.float32)
    x = np.random.default_rng(0).standard_normal((1, WIDTH), dtype=np.float32)
    mlir_fp8.compile(made.module, donate=made.donate)(*made.arguments(arrays, x, 2, kept))
    wide = mlir_fp8.compile(text_of("slices", 6, by_update))
    _, k, _ = wide(x, 2, kept, kept)
    first = arrays["k"][0, :, 2].astype(np.float32) * scale[0, :, 0]
    np.testing.assert_allclose(first, k[0, :, 2], rtol=0.07, atol=1e-3)
    assert np.abs(arrays["k"][1, :, 2].astype(np.float32)).max() <= 448 / 4 + 16
