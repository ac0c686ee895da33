"""The graph of flax's FP8 products (`flax.linen.fp8_ops.q_dot_dq`), written out: a peer to trace.

Delayed scaling with a history of 1024: each product has scales and histories of its operands and of
its gradient, whose new values leave as their cotangents (flax's `OVERWRITE_WITH_GRADIENT`).
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

from benchmarks.gpu import programs
from benchmarks.gpu.programs import Program, Sizes, layer, mean_square

NAME = "flax's q_dot_dq, traced here"
HISTORY = 1024
_E4M3, _E5M2 = jnp.float8_e4m3fn, jnp.float8_e5m2
_NUMBERS = (((1,), (0,)), ((), ()))


def _updated(x: Any, kind: Any, scale: Any, history: Any) -> tuple[Any, Any]:
    """`update_fp8_meta`: the scale of the steps before, and the history with this step's amax."""
    largest = jnp.max(history)
    wanted = largest / jnp.finfo(kind).max.astype(jnp.float32)
    is_good = jnp.isfinite(largest) & (largest > 0)
    new = jnp.where(is_good, wanted, scale)
    return new, jnp.roll(history, -1).at[0].set(jnp.max(jnp.abs(x)).astype(jnp.float32))


def _quantized(x: Any, kind: Any, scale: Any) -> Any:
    limit = jnp.finfo(kind).max.astype(x.dtype)
    return jnp.clip(x / scale.astype(x.dtype), -limit, limit).astype(kind)


def _product(a: Any, b: Any, numbers: Any, scale: Any, precision: Any) -> Any:
    out = jax.lax.dot_general(
        a, b, numbers, precision=precision, preferred_element_type=jnp.bfloat16
    )
    return out * scale.astype(jnp.bfloat16)


@jax.custom_vjp
def dot(x: Any, w: Any, state: Sequence[Any]) -> Any:
    """`x @ w` of bf16 matrices; `state` are scale and history of x, of w and of the gradient."""
    return _forward(x, w, state)[0]


def _forward(x: Any, w: Any, state: Sequence[Any]) -> tuple[Any, Any]:
    x_scale, x_history = _updated(x, _E4M3, *state[:2])
    w_scale, w_history = _updated(w, _E4M3, *state[2:4])
    qx, qw = _quantized(x, _E4M3, x_scale), _quantized(w, _E4M3, w_scale)
    y = _product(qx, qw, _NUMBERS, x_scale * w_scale, jax.lax.Precision.DEFAULT)
    return y, (qx, qw, (x_scale, x_history, w_scale, w_history), state[4:])


def _backward(kept: Any, g: Any) -> tuple[Any, Any, Any]:
    qx, qw, forward, state = kept
    scale, history = _updated(g, _E5M2, *state)
    q = _quantized(g, _E5M2, scale)
    precision = jax.lax.Precision.HIGHEST
    dx = _product(q, qw, (((1,), (1,)), ((), ())), scale * forward[2], precision)
    dw = _product(qx, q, (((0,), (0,)), ((), ())), scale * forward[0], precision)
    return dx, dw, [*forward, scale, history]


dot.defvjp(_forward, _backward)


State = list[tuple[int, ...]]
"""The shapes of a step's state, f32, which follows its other arguments."""


def mlp_step(tokens: int, width: int, inner: int) -> tuple[Program, State]:
    """As `programs.mlp_step`."""

    def loss(up: Any, down: Any, x: Any, state: Sequence[Any], target: Any) -> Any:
        y = dot(jax.nn.gelu(dot(x, up, state[:6])), down, state[6:])
        return mean_square(y, target)

    def step(up: Any, down: Any, x: Any, target: Any, *state: Any) -> Any:
        made: Callable[..., Any] = jax.value_and_grad(loss, argnums=(0, 1, 2, 3))
        value, (d_up, d_down, dx, new) = made(up, down, x, list(state), target)
        return value, d_up, d_down, dx, new

    plain = programs.mlp_step(tokens, width, inner)
    return replace(plain, function=step), _STATE * 2


def layer_step(sizes: Sizes) -> tuple[Program, State]:
    """As `programs.layer_step`."""

    def loss(weights: Sequence[Any], x: Any, state: Sequence[Any], target: Any) -> Any:
        dots = [functools.partial(_rows_dot, state[6 * i : 6 * i + 6]) for i in range(4)]
        return mean_square(layer(x, weights, sizes, dots), target)

    def step(*arrays: Any) -> Any:
        weights, (x, target), state = arrays[:4], arrays[4:6], arrays[6:]
        made: Callable[..., Any] = jax.value_and_grad(loss, argnums=(0, 1, 2))
        value, (d_weights, dx, new) = made(weights, x, list(state), target)
        return value, d_weights, dx, new

    return replace(programs.layer_step(sizes), function=step), _STATE * 4


_STATE: State = [(), (HISTORY,)] * 3


def _rows_dot(state: Sequence[Any], x: Any, w: Any) -> Any:
    return dot(x.reshape(-1, x.shape[-1]), w, state).reshape(*x.shape[:-1], w.shape[-1])
