"""Attention with a KV cache in JAX, wide and f8 by hand, and what becomes of its buffers."""

import re
from collections.abc import Callable
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.compiling.execution import copy_of
from mlir_fp8.passes.pass_pipeline import run_pipeline

F8, F8_MAX = jnp.float8_e4m3fn, 448.0
HEADS, GROUP, SIZE = 2, 3, 64
WIDTH = HEADS * GROUP * SIZE
Cache = dict[str, Any]
Write = Callable[[Any, Any, Any], Any]
"""Of a cache [heads, tokens, size], rows [heads, n, size] and the place of the first of them."""


def by_update(cache: Any, rows: Any, at: Any) -> Any:
    return lax.dynamic_update_slice(cache, rows.astype(cache.dtype), (0, at, 0))


def by_scatter(cache: Any, rows: Any, at: Any) -> Any:
    places = at + jnp.arange(rows.shape[1])
    return cache.at[:, places].set(rows.astype(cache.dtype))


def by_select(cache: Any, rows: Any, at: Any) -> Any:
    """Of one row."""
    is_here = jnp.arange(cache.shape[1]) == at
    return jnp.where(is_here[None, :, None], rows.astype(cache.dtype), cache)


WRITES: dict[str, Write] = {"update": by_update, "scatter": by_scatter, "select": by_select}


def rows_of(x: Any) -> tuple[Any, Any, Any]:
    """q [n, heads, group, size], k and v [heads, n, size] of x [n, width]."""
    q = x.reshape(x.shape[0], HEADS, GROUP, SIZE)
    k, v = (jnp.swapaxes(f(q)[:, :, 0], 0, 1) for f in (jnp.sin, jnp.cos))
    return q, k, v


def step(x: Any, at: Any, cache: Cache, write: Write = by_update) -> tuple[Any, Cache]:
    """What x [n, width] attends to, and the cache; where it has scales, it is f8."""
    q, *rows = rows_of(x)
    kept, scales = dict(cache), {}
    for name, new in zip(("k", "v"), rows, strict=True):
        if f"{name}_scale" in cache:
            scale = jnp.max(jnp.abs(new), -1, keepdims=True) / F8_MAX
            new = jnp.clip(new / scale, -F8_MAX, F8_MAX).astype(F8)
            kept[f"{name}_scale"] = write(kept[f"{name}_scale"], scale, at)
            scales[name] = kept[f"{name}_scale"][:, None, None, :, 0]
        kept[name] = write(kept[name], new, at)
    scores = jnp.einsum("nhgd,htd->hgnt", q, kept["k"].astype(jnp.float32)) * scales.get("k", 1)
    tokens = kept["k"].shape[1]
    seen = jnp.arange(tokens)[None] <= at + jnp.arange(x.shape[0])[:, None]
    shares = jax.nn.softmax(jnp.where(seen, scores, np.float32(-1e30)), -1) * scales.get("v", 1)
    read = jnp.einsum("hgnt,htd->nhgd", shares, kept["v"].astype(jnp.float32))
    return read.reshape(x.shape[0], -1), kept


def text_of(
    count: int,
    tokens: int,
    *,
    is_f8: bool = False,
    write: Write = by_update,
    dtype: Any = np.float32,
) -> str:
    """`step` of `count` tokens: x, at, and the arrays of the cache, donated."""
    shape = (HEADS, tokens, SIZE)
    cache = {name: jax.ShapeDtypeStruct(shape, F8 if is_f8 else dtype) for name in "kv"}
    if is_f8:
        one = jax.ShapeDtypeStruct((HEADS, tokens, 1), np.float32)
        cache |= {"k_scale": one, "v_scale": one}
    x, at = jax.ShapeDtypeStruct((count, WIDTH), np.float32), jax.ShapeDtypeStruct((), np.int32)

    def main(x: Any, at: Any, cache: Cache) -> Any:
        return step(x, at, cache, write)

    return jax.jit(main, donate_argnums=2).lower(x, at, cache).as_text(debug_info=True)


def copies_of(module: Any, shape: tuple[int, ...], donate: Any) -> list[str]:
    """Allocations and copies of buffers of `shape`, leading ones aside, once kernels are made."""
    road = pipelines.to_llvm()
    end = next(i for i, each in enumerate(road) if each.startswith("linalg-contract-to-kernels"))
    found: list[str] = []

    def see(stage: str, _: float, now: Any) -> None:
        if stage == "to linalg":
            buffers = copy_of(now)
            run_pipeline(buffers, road[: end + 1])
            found.extend(str(buffers).splitlines())

    mlir_fp8.compile(module, donate=donate, on_stage=see)
    sizes = "x".join(map(str, shape))
    pattern = re.compile(rf"memref\.(alloc|copy).*memref<(1x)*{sizes}x(i8|f8|f32)")
    assert found
    return [line for line in found if pattern.search(line)]
