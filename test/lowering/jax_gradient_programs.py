"""Derivatives that JAX makes, with the name stacks in their locations.

`python test/lowering/jax_gradient_programs.py` writes them into `Inputs/gradients`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
from jax import lax  # pyright: ignore[reportMissingImports]

FOLDER = Path(__file__).parent / "Inputs" / "gradients"
_ABSOLUTE = re.compile(r'"/[^"]*/([^"/]+\.py)"')


def ones(*shape: int) -> Any:
    return jnp.ones(shape, jnp.float32)


def mlp(w1: Any, w2: Any, x: Any) -> Any:
    return jnp.mean((jax.nn.relu(x @ w1) @ w2) ** 2)


def bf16_mlp(w1: Any, w2: Any, x: Any) -> Any:
    low = jnp.bfloat16
    hidden = jax.nn.relu(x.astype(low) @ w1.astype(low))
    return jnp.mean((hidden @ w2.astype(low)).astype(jnp.float32) ** 2)


def recurrent(w: Any, x: Any) -> Any:
    """One weight, which three forward dots share."""
    for _ in range(3):
        x = jnp.tanh(x @ w)
    return jnp.mean(x**2)


def attention(wq: Any, wk: Any, wv: Any, wo: Any, x: Any) -> Any:
    q, k, v = (jnp.einsum("btd,dhe->bthe", x, w) for w in (wq, wk, wv))
    scores = jax.nn.softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k))
    mixed = jnp.einsum("bhqk,bkhe->bqhe", scores, v)
    return jnp.mean(jnp.einsum("bqhe,hed->bqd", mixed, wo) ** 2)


def convolutions(k1: Any, k2: Any, x: Any) -> Any:
    numbers = ("NHWC", "HWIO", "NHWC")
    x = lax.conv_general_dilated(x, k1, (2, 2), "SAME", dimension_numbers=numbers)
    x = lax.conv_general_dilated(jax.nn.relu(x), k2, (1, 1), "VALID", dimension_numbers=numbers)
    return jnp.mean(x**2)


@jax.jit
def layer(w: Any, x: Any) -> Any:
    return jnp.tanh(x @ w)


def recomputed(w: Any, x: Any) -> Any:
    """The forward dot of a checkpointed layer comes again in the backward pass."""
    return jnp.mean(jax.checkpoint(layer)(w, layer(w, x)) ** 2)


def scanned(ws: Any, x: Any) -> Any:
    """Layers in a loop, whose derivative is another loop."""
    x, _ = lax.scan(lambda carry, w: (layer(w, carry), None), x, ws)
    return jnp.mean(x**2)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mlp": (jax.grad(mlp, (0, 1)), (ones(8, 16), ones(16, 4), ones(3, 8))),
    "bf16_mlp": (jax.grad(bf16_mlp, (0, 1)), (ones(8, 16), ones(16, 4), ones(3, 8))),
    "recurrent": (jax.grad(recurrent), (ones(8, 8), ones(3, 8))),
    "attention": (
        jax.grad(attention, (0, 1, 2, 3)),
        (*[ones(8, 2, 4)] * 3, ones(2, 4, 8), ones(2, 5, 8)),
    ),
    "convolutions": (
        jax.grad(convolutions, (0, 1)),
        (ones(3, 3, 2, 5), ones(3, 3, 5, 4), ones(1, 9, 9, 2)),
    ),
    "recomputed": (jax.grad(recomputed), (ones(8, 8), ones(3, 8))),
    "scanned": (jax.grad(scanned), (ones(4, 8, 8), ones(3, 8))),
}


def text_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    text = jax.jit(function).lower(*arguments).as_text(debug_info=True)
    return _ABSOLUTE.sub(r'"\1"', text)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (function, arguments) in PROGRAMS.items():
        (FOLDER / f"{name}.mlir").write_text(text_of(function, arguments))
