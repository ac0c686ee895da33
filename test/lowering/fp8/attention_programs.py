"""Attention as JAX programs write it: what is traced, on which shapes, and what the op records."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np

F8, BF16, F32 = jnp.float8_e4m3fn, jnp.bfloat16, jnp.float32
Q, K, FULL = (2, 5, 6, 8), (2, 9, 2, 8), (2, 9, 6, 8)


@dataclass(frozen=True)
class Case:
    """`expected` are pieces of the fused op's text, `heads` how many K has."""

    program: Callable[..., Any]
    arguments: tuple[tuple[tuple[int, ...], Any], ...]
    expected: tuple[str, ...]
    heads: int

    def text(self) -> str:
        types = [jax.ShapeDtypeStruct(*each) for each in self.arguments]
        return jax.jit(self.program).lower(*types).as_text()

    def arrays(self, seed: int) -> list[np.ndarray]:
        """Normal numbers, small integers and flags; odd seeds have NaN and infinity in them."""
        random = np.random.default_rng(seed)
        made = []
        for shape, dtype in self.arguments:
            if np.dtype(dtype).kind in "ib":
                made.append(
                    np.asarray(random.integers(0, 1 + 3 * (dtype != np.bool_), shape)).astype(dtype)
                )
                continue
            array = np.asarray(random.normal(size=shape)).astype(dtype)
            if seed % 2 and array.ndim == 4:
                array.flat[3], array.flat[-2] = np.nan, np.inf
            made.append(array)
        return made


def _jax(**options: Any) -> Callable[..., Any]:
    return lambda q, k, v, *more: jax.nn.dot_product_attention(q, k, v, *more, **options)


def _lengths(q: Any, k: Any, v: Any, lengths: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=lengths)


def _all_f8(q: Any, k: Any, v: Any, qs: Any, ks: Any, vs: Any, at: Any) -> Any:
    """Sums scaled, P in f8, and the place of the first query an argument."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32) * (qs * ks * 0.125)
    shown = jnp.arange(9)[None] <= at + jnp.arange(5)[:, None]
    p = jax.nn.softmax(jnp.where(shown, x, -jnp.inf), axis=-1)
    p = jnp.clip(p * 448.0, -448.0, 448.0).astype(F8)
    out = jnp.einsum("bhqk,bkhd->bqhd", p, v, preferred_element_type=F32)
    return (out * (vs / 448)).astype(BF16)


def _dequantized(q: Any, k: Any, v: Any, qs: Any, ks: Any, vs: Any) -> Any:
    """Operands dequantized to f32; P by a quotient, and back by the same number."""
    q, k, v = q.astype(F32) * qs, k.astype(F32) * ks, v.astype(F32) * vs
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4
    p = jax.nn.softmax(x, axis=-1)
    p = jnp.clip(p / np.float32(1 / 448), -448.0, 448.0).astype(F8)
    return jnp.einsum("bhqk,bkhd->bqhd", p.astype(F32) * np.float32(1 / 448), v)


def _cache_per_token(q: Any, k: Any, v: Any, ks: Any, vs: Any) -> Any:
    """An f8 cache with a scale for each token and head, whose heads are repeated."""
    k = jnp.repeat(k.astype(BF16) * ks.astype(BF16)[..., None], 3, axis=2)
    v = jnp.repeat(v.astype(BF16) * vs.astype(BF16)[..., None], 3, axis=2)
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32) / 8
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(x, axis=-1).astype(BF16), v)


def _grouped(q: Any, k: Any, v: Any, bias: Any) -> Any:
    q = q.reshape(2, 5, 2, 3, 8)
    x = jnp.einsum("bqhgd,bkhd->bhgqk", q, k) * 0.25 + bias[:, None, None, None, :]
    p = jax.nn.softmax(x, axis=-1)
    return jnp.einsum("bhgqk,bkhd->bqhgd", p, v).reshape(2, 5, 48)


def _language_model(q: Any, k: Any, v: Any, at: Any) -> Any:
    """As examples/language_models.py: a cache, and the place of the first token."""
    q = q.reshape(5, 2, 3, 8) / np.float32(np.sqrt(8))
    scores = jnp.einsum("nhgd,htd->hgnt", q, k)
    seen = jnp.arange(9)[None] <= at + jnp.arange(5)[:, None]
    shares = jax.nn.softmax(jnp.where(seen, scores, np.float32(-1e30)), axis=-1)
    return jnp.einsum("hgnt,htd->nhgd", shares, v).reshape(5, -1)


def _sliding(q: Any, k: Any, v: Any, at: Any) -> Any:
    """A window of 4 keys before the place of each query, which an argument says."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    place, key = at + jnp.arange(5)[:, None], jnp.arange(9)[None]
    shown = (key <= place) & (key > place - 4)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(shown, x, -1e9), axis=-1), v)


def _hidden(q: Any, k: Any, v: Any, hidden: Any) -> Any:
    """Keys that are hidden, where a flag is set, in the first place of the select."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    x = jnp.where(hidden[:, None, None, :], -jnp.inf, x)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(x, axis=-1), v)


def of(*types: Any) -> tuple[tuple[tuple[int, ...], Any], ...]:
    return types


def _divided(q: Any, k: Any, v: Any, ks: Any, vs: Any) -> Any:
    """Scales that are reciprocals: k and v come in wide."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k.astype(F32) / ks)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(x, axis=-1), v.astype(F32) / vs)


def rounded_sum(q: Any, k: Any, v: Any, s: Any) -> Any:
    """A sum of f8 products that is bf16 before it is scaled: which the op cannot say."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=BF16).astype(F32) * s
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(x, axis=-1), v)


def _ahead(q: Any, k: Any, v: Any, at: Any) -> Any:
    """Keys from the place after the next on: a mask, since a window has no such form."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    shown = jnp.arange(9)[None] > at + jnp.arange(5)[:, None] + 1
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(shown, x, -1e9), axis=-1), v)


def _padded(q: Any, k: Any, v: Any, at: Any) -> Any:
    """Keys up to a place that is the same for all queries."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    p = jax.nn.softmax(jnp.where(jnp.arange(9) <= at, x, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", p, v)


I32 = ((), np.int32)
S = ((), F32)
PROGRAMS = {
    "causal": Case(_jax(is_causal=True), of((Q, BF16), (K, BF16), (K, BF16)),
                   ("causal, mask_value", "pv_type = bf16, qk_type = bf16"), 2),
    "window": Case(_jax(is_causal=True, local_window_size=(2, 0)),
                   of((Q, BF16), (K, BF16), (K, BF16)),
                   ("causal, mask_value", "window = 3 : i64"), 2),
    "local": Case(_jax(local_window_size=(2, 1)), of((Q, F32), (K, F32), (K, F32)),
                  ("causal", "0, 0, 0, 1>", "window = 4 : i64"), 2),
    "decode": Case(_jax(), of(((2, 1, 6, 8), F32), (K, F32), (K, F32)), ("0, 0, 0, 0>",), 2),
    "bias-mask": Case(_jax(scale=0.3),
                      of((Q, BF16), (FULL, BF16), (FULL, BF16), ((1, 6, 5, 9), BF16),
                          ((2, 1, 5, 9), np.bool_)), ("0, 0, 0, 1, 1, 0>", "scale = 3.0"), 6),
    "lengths": Case(_lengths, of((Q, BF16), (K, BF16), (K, BF16), ((2,), np.int32)),
                    ("0, 0, 0, 0, 1, 0>",), 2),
    "all-f8": Case(_all_f8, of((Q, F8), (FULL, F8), (FULL, F8), S, S, S, I32),
                   ("causal, fast_accum", "1, 1, 1, 1, 0, 1, 0, 0, 1>", "-> tensor<2x6x5x8xbf16",
                    "p_inverse, p_saturate, p_scale = 4.480000e+02 : f32, p_type = f8E4M3FN"), 6),
    "dequantized": Case(_dequantized, of((Q, F8), (FULL, F8), (FULL, F8), S, S, S),
                        ("p_factor = 0.00223214296", "p_saturate, p_scale = 0.00223214296",
                         "pv_type = f32, qk_type = f32, scale = 2.5", "1, 1, 1, 1, 1, 1, 0"), 6),
    "cache": Case(_cache_per_token,
                  of((Q, BF16), (K, F8), (K, F8), ((2, 9, 2), F32), ((1, 9, 2), F32)),
                  ("pv_type = bf16, qk_type = bf16, scale = 1.25", "tensor<2x2x9x1xf32>",
                   "tensor<1x2x9x1xf32>"), 2),
    "grouped": Case(_grouped, of((Q, F32), (K, F32), (K, F32), ((2, 9), F32)),
                    ("tensor<2x1x1x9xf32>", "scale = 2.5"), 2),
    "language-model": Case(_language_model,
                           of(((5, 48), F32), ((2, 9, 8), F32), ((2, 9, 8), F32), I32),
                           ("causal", "mask_value = -1.0", "0, 0, 0, 1>"), 2),
    "sliding": Case(_sliding, of((Q, F32), (FULL, F32), (FULL, F32), I32),
                    ("causal", "0, 0, 0, 1>", "window = 4"), 6),
    "divided": Case(_divided, of((Q, F32), (FULL, F8), (FULL, F8), S, S),
                    ("tensor<2x6x9x8xf32>", "1, 1, 1, 0, 0, 0, 0"), 6),
    "ahead": Case(_ahead, of((Q, F32), (FULL, F32), (FULL, F32), I32), ("0, 0, 0, 0, 1, 0>",), 6),
    "padded": Case(_padded, of((Q, F32), (FULL, F32), (FULL, F32), I32), ("{causal",), 6),
    "hidden": Case(_hidden, of((Q, F32), (FULL, F32), (FULL, F32), ((2, 9), np.bool_)),
                   ("0, 0, 0, 0, 1, 0>", "tensor<2x1x1x9xi1>"), 6),
}  # fmt: skip
