"""What JAX makes of loops, branches and sorts: `python test/lowering/jax_programs.py` writes it.

Each program as its StableHLO text, and its arguments and results (XLA:CPU's) as an `.npz`, in
`Inputs/jax`. The tests read those, and need no JAX.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

# As the strict evaluation that the other expected results were made by.
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import ml_dtypes
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]

from mlir_fp8.arrays.tensor_specs import stored

FOLDER = Path(__file__).parent / "Inputs" / "jax"
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {}
RNG = np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def special() -> np.ndarray:
    """Rounded, hence with equal ones, and NaNs, infinities and both zeros."""
    array = np.round(floats(9, 13) * 2)
    array[4] = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0], 13)
    return array


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = function, tuple(map(np.asarray, arguments))
        return function

    return add


@program(floats(5, 7), np.int32(6))
def fori_loop(x: Any, n: Any) -> Any:
    return lax.fori_loop(0, n, lambda i, a: (jnp.tanh(a) * 1.5).at[i % 5].set(a[0] + i), x)


@program(floats(4, 4), floats(4), floats(11, 4))
def scan(w: Any, h: Any, xs: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = jnp.tanh(w @ h + x)
        return h, (h, h.sum())

    return lax.scan(step, h, xs)


@program(np.float32(200.0))
def while_loop(x: Any) -> Any:
    return lax.while_loop(
        lambda c: c[0] > 1.0, lambda c: (c[0] / 1.5, c[1] + 1), (x, jnp.uint32(0))
    )


@program(floats(3, 5), np.bool_(True), np.bool_(False))
def cond(x: Any, p: Any, q: Any) -> Any:
    def branch(p: Any) -> Any:
        return lax.cond(p, lambda a: (a * 2, a.sum()), lambda a: (jnp.flip(a), a.max()), x)

    return branch(p), branch(q)


@program(floats(6), np.array([7, -3, 1, 0], np.int32))
def switch(x: Any, indices: Any) -> Any:
    branches = [lambda a: a + 1, lambda a: a * a, lambda a: jnp.flip(a)]
    return [lax.switch(indices[k], branches, x) for k in range(4)]


@program(np.int32(12), floats(6))
def nested(n: Any, x: Any) -> Any:
    def halved(a: Any) -> Any:
        return lax.while_loop(lambda b: jnp.sum(jnp.abs(b)) > 3.0, lambda b: b * 0.5, a)

    def rolled(a: Any) -> Any:
        return lax.fori_loop(0, 3, lambda k, d: d + jnp.roll(d, 1), a)

    def step(carry: Any) -> Any:
        i, a = carry
        other = lambda a: lax.switch(i % 2, [lambda b: b + 1.0, rolled], a)  # noqa: E731
        return i + 1, lax.cond(i % 3 == 0, halved, other, a)

    return lax.while_loop(lambda carry: carry[0] < n, step, (jnp.int32(0), x))


@program(floats(8, 3), floats(3), floats(8))
def gradient_of_scan(xs: Any, w: Any, y: Any) -> Any:
    def loss(w: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            c = jnp.sin(c * 0.5 + x @ w)
            return c, c

        _, ys = lax.scan(step, jnp.float32(0), xs)
        return jnp.mean((ys - y) ** 2)

    return jax.value_and_grad(loss)(w)


@program(floats(6, 6) + 6 * np.eye(6, dtype=np.float32), floats(6))
def power_iteration(a: Any, v: Any) -> Any:
    def step(carry: Any) -> Any:
        v, _, k = carry
        w = a @ v
        norm = jnp.linalg.norm(w)
        return w / norm, norm, k + 1

    return lax.while_loop(lambda carry: carry[2] < 20, step, (v, jnp.float32(0), 0))


@program(floats(5, 4).astype(ml_dtypes.float8_e5m2), floats(4, 4).astype(ml_dtypes.float8_e4m3fn))
def fp8_loop(x: Any, w: Any) -> Any:
    def step(i: Any, carry: Any) -> Any:
        a, w = carry
        product = a.astype(jnp.float32) @ w.astype(jnp.float32)
        return product.astype(x.dtype), w * w

    return lax.fori_loop(0, 4, step, (x, w))


@program(floats(3, 8) + 1j * floats(3, 8))
def complex_loop(z: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, c: c * c / (1 + jnp.abs(c)), z), jnp.sort(z, axis=1)


@program(special())
def sort(x: Any) -> Any:
    return jnp.sort(x, axis=0), jnp.sort(x, axis=1), jnp.sort(x, axis=1, descending=True)


@program(special())
def argsort(x: Any) -> Any:
    return jnp.argsort(x, axis=1), jnp.argsort(x, axis=0, descending=True)


@program(
    np.round(floats(50)), np.round(floats(50)).astype(np.int32), RNG.integers(0, 3, 50, np.uint8)
)
def lexsort(a: Any, b: Any, c: Any) -> Any:
    return jnp.lexsort((a, b, c))


@program(
    special(), floats(3, 40).astype(ml_dtypes.float8_e4m3fn), floats(17).astype(ml_dtypes.bfloat16)
)
def top_k(a: Any, b: Any, c: Any) -> Any:
    return lax.top_k(a, 5), lax.top_k(b, 7), lax.top_k(c, 17)


@program(floats(4, 33), RNG.integers(-5, 5, 21, np.int32))
def cumulative(x: Any, i: Any) -> Any:
    sums = jnp.cumsum(x, axis=1), jnp.cumsum(i), lax.cumlogsumexp(x, axis=1)
    return *sums, jnp.cumprod(x, axis=0), lax.cummax(x, axis=1)


@program(np.sort(floats(40)), floats(3, 9))
def searchsorted(a: Any, v: Any) -> Any:
    return jnp.searchsorted(a, v), jnp.searchsorted(a, v, side="right", method="sort")


@program(RNG.integers(0, 9, 30, np.int32))
def unique(x: Any) -> Any:
    return jnp.unique(x, size=12, fill_value=-1, return_counts=True, return_inverse=True)


@program(floats(7, 5))
def quantiles(x: Any) -> Any:
    return jnp.median(x, axis=0), jnp.quantile(x, 0.3, axis=1), jnp.percentile(x, 90.0)


@program(floats(4, 9))
def associative_scan(x: Any) -> Any:
    signed = lax.map(lambda row: jnp.where(row.sum() > 0, row, -row), x)
    return lax.associative_scan(jnp.maximum, x, axis=1), signed


@program(np.array([3, 1], np.uint32), floats(10))
def permutation(data: Any, x: Any) -> Any:
    key = jax.random.wrap_key_data(data)
    return jax.random.permutation(key, x), jax.random.randint(key, (5,), 0, 10)


@program(
    np.array([0.5, 2, 3], np.float32),
    np.array([1, 2, 0.7], np.float32),
    np.array([0.2, 0.5, 0.9], np.float32),
)
def incomplete_beta(a: Any, b: Any, x: Any) -> Any:
    return jax.scipy.special.betainc(a, b, x)


@program(np.array([2.0, 9.0, 30.0], np.float32))
def newton(x: Any) -> Any:
    """What was before is carried for the condition alone."""

    def is_far(state: Any) -> Any:
        return jnp.any(jnp.abs(state[0] - state[1]) > 1e-4)

    return lax.while_loop(
        is_far, lambda state: ((state[0] + x / state[0]) / 2, state[0]), (x, x + 1)
    )[0]


@program(np.array([0.5, 1.5, -0.25], np.float32))
def bfgs(x: Any) -> Any:
    def squares(x: Any) -> Any:
        return jnp.sum((x - jnp.arange(3.0)) ** 2 * jnp.arange(1.0, 4.0))

    from jax.scipy.optimize import minimize  # pyright: ignore[reportMissingImports]

    found = minimize(squares, x, method="BFGS", options={"maxiter": 3})
    return found.x, found.nit


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (function, arguments) in PROGRAMS.items():
        jitted = jax.jit(function, keep_unused=True)
        results = map(np.asarray, jax.tree.leaves(jitted(*arguments)))
        named = [(f"arg{k}", array) for k, array in enumerate(arguments)]
        named += [(f"res{k}", array) for k, array in enumerate(results)]
        (FOLDER / f"{name}.mlir").write_text(jitted.lower(*arguments).as_text())
        arrays: dict[str, Any] = dict(stored(*each) for each in named)
        np.savez(FOLDER / f"{name}.npz", **arrays)


if __name__ == "__main__":
    write()
