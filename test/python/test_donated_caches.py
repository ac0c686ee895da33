"""Decode steps of JAX on a donated f8 KV cache [layers, heads, tokens, 64], of which only the pages
with new rows can be written: a copy of more ends the process."""

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

jax: Any = pytest.importorskip("jax")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or mmap.PAGESIZE != 4096, reason="protects pages of 4096 bytes"
)
jnp, lax = jax.numpy, jax.lax
LAYERS, HEADS, TOKENS, SIZE = 2, 4, 256, 64
F8 = jnp.float8_e4m3fn
HEAD_BYTES = TOKENS * SIZE
"""Four pages: the first 64 rows of each head are on the first."""

Step = Callable[..., Any]


def attended(q: Any, k: Any, v: Any, scales: Any, at: Any) -> Any:
    scores = jnp.einsum("hd,htd->ht", q, k.astype(jnp.float32) * scales[0][:, None, None]) / 8
    scores = jnp.where(jnp.arange(TOKENS)[None] <= at, scores, -1e30)
    wide = v.astype(jnp.float32) * scales[1][:, None, None]
    return jnp.einsum("ht,htd->hd", jax.nn.softmax(scores, -1), wide).reshape(-1)


def rows(p: Any, scales: Any, x: Any) -> tuple[Any, Any, Any]:
    q, k, v = ((x @ p[name]).reshape(HEADS, SIZE) for name in "qkv")
    made = [jnp.clip(each / s[:, None], -448, 448) for each, s in ((k, scales[0]), (v, scales[1]))]
    return q, *(each.astype(F8)[:, None] for each in made)


def step_of_lists(p: Any, k: Any, v: Any, scales: Any, x: Any, at: Any) -> Any:
    k, v = list(k), list(v)
    for layer in range(LAYERS):
        own, of = {name: each[layer] for name, each in p.items()}, scales[:, layer]
        q, new_k, new_v = rows(own, of, x)
        k[layer] = lax.dynamic_update_slice(k[layer], new_k, (0, at, 0))
        v[layer] = lax.dynamic_update_slice(v[layer], new_v, (0, at, 0))
        x = x + attended(q, k[layer], v[layer], of, at) @ own["o"]
    return x, k, v


def step_of_scan(p: Any, k: Any, v: Any, scales: Any, x: Any, at: Any) -> Any:
    def layer(carry: Any, per_layer: Any) -> Any:
        x, k, v = carry
        own, of, number = per_layer
        q, new_k, new_v = rows(own, of, x)
        k = lax.dynamic_update_slice(k, new_k[None], (number, 0, at, 0))
        v = lax.dynamic_update_slice(v, new_v[None], (number, 0, at, 0))
        read = attended(q, k[number], v[number], of, at)
        return (x + read @ own["o"], k, v), None

    of_layers = (p, jnp.swapaxes(scales, 0, 1), jnp.arange(LAYERS))
    return lax.scan(layer, (x, k, v), of_layers)[0]


def step_of_slices(p: Any, k: Any, v: Any, scales: Any, x: Any, at: Any) -> Any:
    """The caches of layers are what the scan takes slices of, and what it stacks."""

    def layer(x: Any, per_layer: Any) -> Any:
        own, of, k, v = per_layer
        q, new_k, new_v = rows(own, of, x)
        k = lax.dynamic_update_slice(k, new_k, (0, at, 0))
        v = lax.dynamic_update_slice(v, new_v, (0, at, 0))
        return x + attended(q, k, v, of, at) @ own["o"], (k, v)

    x, (k, v) = lax.scan(layer, x, (p, jnp.swapaxes(scales, 0, 1), k, v))
    return x, k, v


def many(step: Step) -> Step:
    def steps(p: Any, k: Any, v: Any, scales: Any, x: Any, at: Any) -> Any:
        def body(number: Any, carry: Any) -> Any:
            x, k, v = carry
            return step(p, k, v, scales, x, at + number)

        return lax.fori_loop(0, 20, body, (x, k, v))

    return steps


@pytest.fixture
def protected() -> Iterator[Callable[[np.ndarray], np.ndarray]]:
    """Copies of caches in memory of which one page in four can be written."""
    libc: Any = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    made: list[tuple[Any, Any]] = []

    def copy(cache: np.ndarray) -> np.ndarray:
        size = ctypes.c_size_t(cache.nbytes)
        address = libc.mmap(None, size, 3, 0x22, -1, ctypes.c_long(0))
        made.append((ctypes.c_void_p(address), size))
        memory: Any = (ctypes.c_char * cache.nbytes).from_address(address)
        array = np.frombuffer(memory, np.uint8)
        array[:] = cache.view(np.uint8).reshape(-1)
        for head in range(0, cache.nbytes, HEAD_BYTES):
            start = ctypes.c_void_p(address + head + 4096)
            assert libc.mprotect(start, ctypes.c_size_t(HEAD_BYTES - 4096), 1) == 0
        return array.view(cache.dtype).reshape(cache.shape)

    yield copy
    for address, size in made:
        libc.munmap(address, size)


STEPS = {
    "scan": step_of_scan,
    "slices": step_of_slices,
    "loop-of-slices": many(step_of_slices),
    "loop-of-scans": many(step_of_scan),
    "lists": step_of_lists,
    "loop-of-lists": many(step_of_lists),
}


@pytest.mark.parametrize(
    "form",
    [
        "loop-of-scans",
        "loop-of-slices",
        *(pytest.param(n, marks=pytest.mark.exhaustive) for n in STEPS),
    ],
)
def test_only_new_rows_are_written(form: str, protected: Callable[..., np.ndarray]) -> None:
    random = np.random.default_rng(0)
    width = HEADS * SIZE
    p = {n: random.standard_normal((LAYERS, width, width)).astype(np.float32) / 16 for n in "qkvo"}
    caches = [np.zeros((LAYERS, HEADS, TOKENS, SIZE), ml_dtypes.float8_e4m3fn) for _ in range(2)]
    scales = np.stack([np.full((LAYERS, HEADS), s, np.float32) for s in (0.01, 0.02)])
    x = np.linspace(-1, 1, width, dtype=np.float32)
    given = [[*each] for each in caches] if "lists" in form else caches
    arguments = (p, *given, scales, x, np.int32(3))
    text = jax.jit(STEPS[form], donate_argnums=(1, 2)).lower(*arguments).as_text()
    plain, step = mlir_fp8.compile(text), mlir_fp8.compile(text, donate=True)
    flat = jax.tree.leaves(arguments)
    wanted = plain(*flat)
    assert len(step.donated) == (4 if "lists" in form else 2)
    for number, _ in step.donated:
        flat[number] = protected(flat[number])
    got = step(*flat)
    for argument, result in step.donated:
        assert got[result] is flat[argument]
        assert np.count_nonzero(got[result].view(np.uint8))
    for mine, other in zip(got, wanted, strict=True):
        assert mine.tobytes() == other.tobytes()
