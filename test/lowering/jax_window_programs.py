"""What JAX makes of pooling, cumulative sums, updates at indices and their gradients.

`python test/lowering/jax_window_programs.py` writes these, and those of `jax_programs`.
"""

from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import ml_dtypes
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]
from jax_programs import RNG, floats, program, special, write

E5M2 = ml_dtypes.float8_e5m2
BF16 = ml_dtypes.bfloat16


def max_pool_of(x: Any, padding: str = "SAME") -> Any:
    low = np.array(-np.inf, x.dtype)
    return lax.reduce_window(x, low, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), padding)


def avg_pool_of(x: Any) -> Any:
    window = (1, 2, 3, 1), (1, 1, 2, 1), "SAME"
    zero = np.array(0, x.dtype)
    counts = lax.reduce_window(jnp.ones_like(x), zero, lax.add, *window)
    return lax.reduce_window(x, zero, lax.add, *window) / counts


def gradient(function: Any, *arrays: Any, weight: Any = 1.0) -> Any:
    return jax.grad(lambda *given: jnp.sum(function(*given) * weight), argnums=0)(*arrays)


@program(np.round(floats(2, 7, 8, 3) * 2), floats(2, 4, 4, 3))
def max_pool(x: Any, g: Any) -> Any:
    _, pullback = jax.vjp(max_pool_of, x)
    return max_pool_of(x), max_pool_of(x, "VALID"), *pullback(g)


@program(floats(2, 7, 8, 3), floats(2, 7, 4, 3))
def avg_pool(x: Any, g: Any) -> Any:
    y, pullback = jax.vjp(avg_pool_of, x)
    return y, *pullback(g)


@program(floats(1, 6, 6, 2).astype(E5M2), floats(1, 6, 6, 2).astype(BF16))
def narrow_pool(x: Any, y: Any) -> Any:
    return max_pool_of(x), gradient(max_pool_of, y), max_pool_of(y)


@program(floats(4, 19), RNG.integers(0, 200, 23, np.uint8))
def cumulative_reverse(x: Any, i: Any) -> Any:
    sums = lax.cumsum(x, axis=1, reverse=True), lax.cumsum(i, reverse=True)
    more = lax.cumlogsumexp(x, axis=0, reverse=True), lax.cumprod(x, axis=1, reverse=True)
    return *sums, *more, lax.cummax(i, reverse=True), lax.cummin(x, axis=0), lax.cummin(i)


@program(floats(6, 9))
def cumulative_gradients(x: Any) -> Any:
    functions = (
        lambda a: jnp.cumsum(a, axis=1),
        lambda a: jnp.cumprod(a, axis=0),
        lambda a: lax.cummax(a, axis=1),
        lambda a: lax.cumlogsumexp(a, axis=1),
    )
    weight = jnp.arange(9.0) - 3
    return [gradient(each, x, weight=weight) for each in functions]


@program(floats(20, 3), RNG.integers(-1, 8, 20, np.int32), RNG.integers(0, 9, 20, np.int32))
def segments(x: Any, ids: Any, values: Any) -> Any:
    sums = jax.ops.segment_sum(x, ids, 7), jax.ops.segment_max(x, ids, 7)
    ordered = jax.ops.segment_prod(values, jnp.sort(ids), 7, indices_are_sorted=True)
    gradients = gradient(lambda a: jax.ops.segment_sum(a, ids, 7) ** 2, x)
    return *sums, ordered, gradients, jnp.bincount(values, length=9)


@program(special(), RNG.integers(-4, 4, (5, 6, 2), np.int8))
def extremes(x: Any, i: Any) -> Any:
    places = [f(x, axis=a) for f in (jnp.argmax, jnp.argmin) for a in (0, 1, None)]
    return *places, jnp.argmax(i, axis=1), jnp.argmin(i), jnp.nanmax(x), jnp.any(x > 3, axis=0)


@program(floats(6, 5), np.array([[0, 7], [-1, 2], [5, 5], [0, -9]], np.int32), floats(4, 2, 5))
def updates(x: Any, i: Any, u: Any) -> Any:
    at = x.at[i]
    changed = at.add(u), at.max(u), at.mul(u), at.min(u, mode="clip"), at.set(1.5)
    flat = x.at[i[:, 0] % 6, i[:, 1] % 5].add(u[:, 0, 0], unique_indices=False)
    kept = x.at[jnp.array([1, 3])].set(u[0], unique_indices=True, indices_are_sorted=True)
    return *changed, flat, kept, x.at[2:5, ::2].divide(4.0), x.at[:, 1].apply(jnp.sin)


@program(floats(4, 7), RNG.integers(-7, 7, (4, 3), np.int32), floats(4, 3))
def take_along_axis(x: Any, i: Any, w: Any) -> Any:
    def taken(a: Any) -> Any:
        return jnp.take_along_axis(a, i, axis=1)

    clipped = jnp.take(x, i + 5, axis=1, mode="clip"), jnp.take(x, i + 5, axis=1, mode="fill")
    rows = jax.vmap(lambda row, k: row[k])(x, i)
    return taken(x), gradient(taken, x, weight=w), *clipped, rows, x[i[:, 0], i[:, 1]]


@program(floats(2, 6, 4).astype(ml_dtypes.float8_e4m3fn), RNG.integers(0, 6, (2, 3), np.int32))
def narrow_updates(x: Any, i: Any) -> Any:
    rows = jnp.take_along_axis(x, i[:, :, None], axis=1)
    return rows, jax.vmap(lambda a, k, r: a.at[k].add(r))(x, i, rows), jnp.max(x, axis=(0, 2))


if __name__ == "__main__":
    write()
