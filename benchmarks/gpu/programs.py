"""JAX programs that are measured: steps of an MLP and of a transformer's layers, and attention."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

Dot = Callable[[Any, Any], Any]
"""The product of activations, `[..., K]`, and a weight, `[K, N]`."""


@dataclass(frozen=True)
class Sizes:
    """Of a transformer; `inner` is the width between the two products of its MLP."""

    batch: int
    tokens: int
    width: int
    heads: int
    inner: int
    layers: int = 1

    @property
    def weights(self) -> list[tuple[int, int]]:
        """Of one layer: query, key and value as one, output, up, down."""
        return [
            (self.width, 3 * self.width),
            (self.width, self.width),
            (self.width, self.inner),
            (self.inner, self.width),
        ]

    @property
    def tensor(self) -> tuple[int, int, int]:
        return (self.batch, self.tokens, self.width)


@dataclass(frozen=True)
class Program:
    """A step: `function` of arrays of `shapes`, all bf16, random of standard deviation `scales`.

    `groups` are the rows of each expert, an i32 array that follows where there are any.
    """

    function: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    scales: Sequence[float]
    groups: Sequence[int] = ()

    def text(self, state: Sequence[tuple[int, ...]] = ()) -> str:
        """The StableHLO for a GPU; f32 arrays of the shapes `state` follow the arguments."""
        specs = [jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in self.shapes]
        specs += [jax.ShapeDtypeStruct((len(self.groups),), jnp.int32)] if self.groups else []
        specs += [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in state]
        traced = jax.jit(self.function).trace(*specs)
        # For a CPU JAX makes masked dots of ragged ones.
        return traced.lower(lowering_platforms=("cuda",)).as_text(debug_info=True)


def mlp_step(tokens: int, width: int, inner: int) -> Program:
    """Loss and gradients of two products with a GELU between, of the input too: six products."""

    def loss(up: Any, down: Any, x: Any, target: Any) -> Any:
        return mean_square(jax.nn.gelu(x @ up) @ down, target)

    step = jax.value_and_grad(loss, argnums=(0, 1, 2))
    shapes = [(width, inner), (inner, width), (tokens, width), (tokens, width)]
    return Program(step, shapes, [width**-0.5, inner**-0.5, 1.0, 1.0])


def lost_product(rows: int, columns: int, depth: int) -> str:
    """`a @ b.T` of f8 that is dequantized to bf16, the scales too, before the product."""

    def run(a: Any, b: Any, a_scale: Any, b_scale: Any) -> Any:
        x, y = (
            codes.astype(jnp.bfloat16) * scale.astype(jnp.bfloat16)
            for codes, scale in ((a, a_scale), (b, b_scale))
        )
        return x @ y.T

    e4m3, f32 = jnp.float8_e4m3fn, jnp.float32
    shapes = [((rows, depth), e4m3), ((columns, depth), e4m3), ((), f32), ((), f32)]
    specs = [jax.ShapeDtypeStruct(*each) for each in shapes]
    return jax.jit(run).lower(*specs).as_text(debug_info=True)


def causal_attention(batch: int, tokens: int, heads: int, depth: int) -> Program:
    """Forward alone."""

    def run(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    return Program(run, [(batch, tokens, heads, depth)] * 3, [1.0] * 3)


def moe_step(groups: Sequence[int], width: int, inner: int) -> Program:
    """Loss and gradients of experts' two products with a GELU between: six ragged products."""

    def loss(up: Any, down: Any, x: Any, target: Any, sizes: Any) -> Any:
        hidden = jax.nn.gelu(jax.lax.ragged_dot(x, up, sizes))
        return mean_square(jax.lax.ragged_dot(hidden, down, sizes), target)

    step = jax.value_and_grad(loss, argnums=(0, 1, 2))
    experts, rows = len(groups), sum(groups)
    shapes = [(experts, width, inner), (experts, inner, width), (rows, width), (rows, width)]
    return Program(step, shapes, [width**-0.5, inner**-0.5, 1.0, 1.0], groups)


def layer_step(sizes: Sizes) -> Program:
    """Loss and gradients of one transformer layer, attention in bf16: twelve other products."""

    def loss(weights: Sequence[Any], x: Any, target: Any) -> Any:
        return mean_square(layer(x, weights, sizes), target)

    def step(*arrays: Any) -> Any:
        *weights, x, target = arrays
        return jax.value_and_grad(loss, argnums=(0, 1))(weights, x, target)

    return Program(step, [*sizes.weights, sizes.tensor, sizes.tensor], deviations(sizes))


def training_step(sizes: Sizes) -> Program:
    """Loss and the weights after a step of SGD, of layers in one loop, each computed again behind.

    Else the probabilities of all layers would be kept: 39 GB of 12 layers of 4 x 2048 tokens.
    """

    def forward(weights: Sequence[Any], x: Any, target: Any) -> Any:
        def body(carry: Any, held: Sequence[Any]) -> Any:
            return layer(carry, held, sizes), None

        again = jax.checkpoint(body, prevent_cse=False)  # of which scan has no need
        return mean_square(jax.lax.scan(again, x, weights)[0], target)

    def step(*arrays: Any) -> Any:
        *weights, x, target = arrays
        loss, gradients = jax.value_and_grad(forward)(weights, x, target)
        rate = jnp.bfloat16(2.0**-7)
        return loss, [w - rate * g for w, g in zip(weights, gradients, strict=True)]

    shapes = [(sizes.layers, *shape) for shape in sizes.weights]
    return Program(step, [*shapes, sizes.tensor, sizes.tensor], deviations(sizes))


def deviations(sizes: Sizes) -> list[float]:
    """Of the weights of a layer, its input and the target."""
    return [*(rows**-0.5 for rows, _ in sizes.weights), 1.0, 1.0]


def mean_square(y: Any, target: Any) -> Any:
    """The loss, f32."""
    return jnp.mean(jnp.square((y - target).astype(jnp.float32)))


def layer(
    x: Any, weights: Sequence[Any], sizes: Sizes, dots: Sequence[Dot] = (jnp.matmul,) * 4
) -> Any:
    """`x` after one layer; `dots` are the products with each of the `weights`."""
    (qkv_dot, out_dot, up_dot, down_dot), (qkv, out, up, down) = dots, weights
    shape = (sizes.batch, sizes.tokens, 3, sizes.heads, sizes.width // sizes.heads)
    q, k, v = jnp.moveaxis(qkv_dot(_normalized(x), qkv).reshape(shape), 2, 0)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    shares = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(x.dtype)
    attended = jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(sizes.tensor)
    x = x + out_dot(attended, out)
    return x + down_dot(jax.nn.gelu(up_dot(_normalized(x), up)), down)


def _normalized(x: Any) -> Any:
    wide = x.astype(jnp.float32)
    square = jnp.mean(jnp.square(wide), axis=-1, keepdims=True)
    return (wide * jax.lax.rsqrt(square + 1e-6)).astype(x.dtype)
