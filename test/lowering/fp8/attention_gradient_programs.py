"""Attention and its gradients as JAX programs write them, and such as only look like it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np

BF16, F32 = jnp.bfloat16, jnp.float32
Attention = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Training:
    """`attention` of q, k and v in `shapes`, whose gradients are taken too."""

    attention: Attention
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    element: Any = F32
    seed: int = 0

    def step(self, q: Any, k: Any, v: Any, gradient: Any) -> Any:
        out, back = jax.vjp(self.attention, q, k, v)
        return out, *back(gradient)

    def types(self, element: Any) -> list[Any]:
        given = [jax.ShapeDtypeStruct(shape, element) for shape in self.shapes]
        out = jax.eval_shape(self.attention, *given)
        return [*given, out]

    def text(self) -> str:
        return jax.jit(self.step).lower(*self.types(self.element)).as_text()

    def arrays(self) -> list[np.ndarray]:
        random = np.random.default_rng(self.seed)
        return [
            random.standard_normal(each.shape, np.float32).astype(self.element)
            for each in self.types(self.element)
        ]

    def wanted(self) -> list[np.ndarray]:
        """By JAX in f32."""
        exact = Training(self.attention, self.shapes, F32)
        given = [jnp.asarray(each.astype(np.float32)) for each in self.arrays()]
        return [np.asarray(each) for each in jax.jit(exact.step)(*given)]


def _shown(rows: int, keys: int) -> Any:
    return jnp.arange(keys)[None] <= jnp.arange(rows)[:, None]


def _softmax(x: Any, element: Any) -> Any:
    return jax.nn.softmax(x.astype(F32), axis=-1).astype(element)


def einsum(*, causal: bool = False, scale: float = 0.35) -> Attention:
    def attention(q: Any, k: Any, v: Any) -> Any:
        x = jnp.einsum("bqhd,bkhd->bhqk", q, k) * scale
        if causal:
            x = jnp.where(_shown(*x.shape[2:]), x, -jnp.inf)
        return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)

    return attention


def heads_first(q: Any, k: Any, v: Any) -> Any:
    """Scores divided by a number, a finite mask, the keys' product first."""
    x = jnp.einsum("bhkd,bhqd->bhkq", k, q, preferred_element_type=F32).swapaxes(2, 3) / 2.5
    x = jnp.where(_shown(*x.shape[2:]), x, -1e30)
    return jnp.einsum("bhqk,bhkd->bhqd", _softmax(x, q.dtype), v)


def scaled_queries(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q * jnp.asarray(0.35, q.dtype), k)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def one_matrix(q: Any, k: Any, v: Any) -> Any:
    return _softmax(q @ k.T * 0.35, q.dtype) @ v


def shared_heads(q: Any, k: Any, v: Any) -> Any:
    batch, rows, heads, depth = q.shape
    q = q.reshape(batch, rows, k.shape[2], -1, depth)
    x = jnp.einsum("bqhgd,bkhd->bhgqk", q, k) * 0.35
    x = jnp.where(_shown(*x.shape[3:]), x, -jnp.inf)
    out = jnp.einsum("bhgqk,bkhd->bqhgd", _softmax(x, q.dtype), v)
    return out.reshape(batch, rows, heads, -1)


def repeated_heads(q: Any, k: Any, v: Any) -> Any:
    k, v = (jnp.repeat(each, q.shape[2] // each.shape[2], axis=2) for each in (k, v))
    return einsum(causal=True)(q, k, v)


@jax.custom_jvp
def _own_softmax(x: Any) -> Any:
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@_own_softmax.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (p,), (t,) = (_own_softmax(*primals),), tangents
    return p, p * (t - (p * t).sum(-1, keepdims=True))


def own_derivative(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * 0.35
    return jnp.einsum("bhqk,bkhd->bqhd", _own_softmax(x).astype(q.dtype), v)


def of_jax(**options: Any) -> Attention:
    return lambda q, k, v: jax.nn.dot_product_attention(q, k, v, **options)


def masked_before(scale: float, masked: float = -jnp.inf) -> Attention:
    """A mask whose number is scaled with the scores."""

    def attention(q: Any, k: Any, v: Any) -> Any:
        x = jnp.where(_shown(12, 12), jnp.einsum("bqhd,bkhd->bhqk", q, k), masked) * scale
        return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)

    return attention


WHOLE = ((2, 12, 3, 8), (2, 12, 3, 8), (2, 12, 3, 8))
OTHER = ((2, 9, 3, 8), (2, 12, 3, 8), (2, 12, 3, 6))
SHARED = ((2, 12, 6, 8), (2, 12, 2, 8), (2, 12, 2, 8))
FIRST = ((2, 3, 12, 8), (2, 3, 12, 8), (2, 3, 12, 8))
FOUND = {
    "masked_before_a_scale": Training(masked_before(0.35, -1e30), WHOLE),
    "einsum": Training(einsum(), WHOLE),
    "einsum_bf16": Training(einsum(), WHOLE, BF16),
    "causal": Training(einsum(causal=True), WHOLE),
    "causal_bf16": Training(einsum(causal=True), WHOLE, BF16),
    "negative_scale": Training(einsum(causal=True, scale=-0.35), WHOLE),
    "other_sizes": Training(einsum(), OTHER),
    "other_sizes_causal": Training(einsum(causal=True), OTHER, BF16),
    "one_of_a_batch": Training(einsum(causal=True), tuple((1, *each[1:]) for each in WHOLE)),  # pyright: ignore[reportArgumentType]
    "one_head": Training(einsum(), tuple((2, 12, 1, 8) for _ in WHOLE), BF16),  # pyright: ignore[reportArgumentType]
    "heads_first": Training(heads_first, FIRST, BF16),
    "scaled_queries": Training(scaled_queries, WHOLE),
    "one_matrix": Training(one_matrix, ((12, 8), (9, 8), (9, 6))),
    "shared_heads": Training(shared_heads, SHARED),
    "shared_heads_bf16": Training(shared_heads, SHARED, BF16),
    "repeated_heads": Training(repeated_heads, SHARED),
    "own_derivative": Training(own_derivative, WHOLE, BF16),
    "computed_twice": Training(jax.checkpoint(of_jax(is_causal=True)), WHOLE, BF16),  # pyright: ignore[reportArgumentType]
    "jax": Training(of_jax(), WHOLE, BF16),
    "jax_causal": Training(of_jax(is_causal=True), WHOLE, BF16),
    "jax_f32": Training(of_jax(is_causal=True, scale=0.2), WHOLE),
    "jax_shared": Training(of_jax(is_causal=True), SHARED, BF16),
}


def _biased(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k) + jnp.arange(12.0)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _capped(q: Any, k: Any, v: Any) -> Any:
    x = 5 * jnp.tanh(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 5)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _windowed(q: Any, k: Any, v: Any) -> Any:
    at = jnp.arange(12)
    shown = (at[None] <= at[:, None]) & (at[None] > at[:, None] - 4)
    x = jnp.where(shown, jnp.einsum("bqhd,bkhd->bhqk", q, k), -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _behind(q: Any, k: Any, v: Any) -> Any:
    """Causal by other positions."""
    shown = jnp.arange(12)[None] <= jnp.arange(12)[:, None] + 1
    x = jnp.where(shown, jnp.einsum("bqhd,bkhd->bhqk", q, k), -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _mildly_masked(q: Any, k: Any, v: Any) -> Any:
    x = jnp.where(_shown(12, 12), jnp.einsum("bqhd,bkhd->bhqk", q, k), -5.0)
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _stopped(q: Any, k: Any, v: Any) -> Any:
    """Whose gradients do not go to k."""
    return einsum()(q, jax.lax.stop_gradient(k), v)


def _regularized(q: Any, k: Any, v: Any) -> Any:
    """With a gradient of the probabilities themselves."""
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32)
    p = jax.nn.softmax(x, axis=-1)
    out = jnp.einsum("bhqk,bkhd->bqhd", p.astype(q.dtype), v)
    return out * (1 + jnp.mean(p**2)).astype(q.dtype)


def _by_zero(q: Any, k: Any, v: Any) -> Any:
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 0.0
    return jnp.einsum("bhqk,bkhd->bqhd", _softmax(x, q.dtype), v)


def _own_gradients(
    *,
    weight: float = 1.0,
    values: float = 1.0,
    times: float = 1.0,
    to: Any = F32,
    hidden: Callable[[Any, Any, Any], Any] | None = None,
) -> Attention:
    """Whose gradients are such as a user writes: scaled, straight through a conversion, masked."""

    @jax.custom_vjp
    def attention(q: Any, k: Any, v: Any) -> Any:
        return forward(q, k, v)[0]

    def forward(q: Any, k: Any, v: Any) -> Any:
        x = (jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.35).astype(to).astype(F32)
        p = jax.nn.softmax(jnp.where(_shown(12, 12), x, -jnp.inf), axis=-1)
        return jnp.einsum("bhqk,bkhd->bqhd", p * weight, v), (q, k, v, p)

    def backward(kept: Any, g: Any) -> Any:
        q, k, v, p = kept
        dp = jnp.einsum("bqhd,bkhd->bhqk", g, v)
        ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * 0.35
        if hidden is not None:
            batch, head, key = (
                jax.lax.broadcasted_iota("int32", p.shape, dim) for dim in (0, 1, 3)
            )
            ds = jnp.where(hidden(batch, head, key), ds, 0.0)
        dk = jnp.einsum("bhqk,bqhd->bkhd", ds, q)
        dv = jnp.einsum("bhqk,bqhd->bkhd", p * values, g)
        return jnp.einsum("bhqk,bkhd->bqhd", ds * times, k), dk, dv

    attention.defvjp(forward, backward)
    return attention


_MASK = "its mask puts other than a number of"
_STANDS = "stands between the scores and the softmax"
_NEITHER = "do not become those of q and of k"
_KEYS = "its mask is not that key j is behind query i"
LEFT = {
    "biased": (f"stablehlo.add {_STANDS}", _biased),
    "capped": (f"stablehlo.tanh {_STANDS}", _capped),
    "windowed": (_KEYS, _windowed),
    "behind": (_KEYS, _behind),
    "mildly masked": (_MASK, _mildly_masked),
    "stopped": (_NEITHER, _stopped),
    "regularized": (_NEITHER, _regularized),
    "masked before a negative scale": (_MASK, masked_before(-0.35)),
    "masked by a number before a negative scale": (_MASK, masked_before(-0.35, -1e30)),
    "masked by a number before a small scale": (_MASK, masked_before(1e-9, -1e9)),
    "scaled by 0": ("its scores are scaled by 0", einsum(scale=0.0)),
    "scaled by NaN": ("its scores are scaled by nan", einsum(scale=float("nan"))),
    "divided by 0": (f"stablehlo.divide {_STANDS}", _by_zero),
    "scores in f8": (f"stablehlo.convert {_STANDS}", _own_gradients(to=jnp.float8_e4m3fn)),
    "scores in integers": (f"stablehlo.convert {_STANDS}", _own_gradients(to=jnp.int32)),
    "probabilities scaled": ("are scaled by 2 before a product", _own_gradients(weight=2)),
    "gradients of v scaled": ("are scaled by 2 before a product", _own_gradients(values=2)),
    "gradients of q scaled": ("0.35, gradients by 0.35175", _own_gradients(times=1.005)),
    "gradients masked by batch": (_NEITHER, _own_gradients(hidden=lambda b, _, key: key <= b)),
    "gradients masked by head": (_NEITHER, _own_gradients(hidden=lambda _, h, key: key <= h)),
}
