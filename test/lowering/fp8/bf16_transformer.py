"""The transformer of test/models in JAX, with bf16 dots where that has FP8 ones: one training step.

`python test/lowering/fp8/bf16_transformer.py` writes what XLA:CPU makes of it on that model's
arguments to `../Inputs/bf16_transformer.npz`: the loss, and of each parameter's update its norm and
64 elements, which `sample` takes. The test reads that file, and needs no JAX.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parents[1] / "Inputs" / "bf16_transformer.npz"
ARGUMENTS = Path(__file__).parents[2] / "models" / "transformer_train_step.in.npz"
LEARNING_RATE = 0.1


def sample(update: np.ndarray) -> np.ndarray:
    """The norm and 64 evenly spread elements of `update`."""
    flat = update.astype(np.float64).ravel()
    return np.append(flat[np.linspace(0, flat.size - 1, 64).astype(int)], np.linalg.norm(flat))


def main() -> None:
    # Before jax reads it: bf16 is rounded to wherever the program says so.
    os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"
    import jax  # pyright: ignore[reportMissingImports]
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

    def dot(x: Any, w: Any) -> Any:
        return jnp.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)).astype(jnp.float32)

    def norm(x: Any, gain: Any, bias: Any) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias

    def loss(parameters: Any, tokens: Any) -> Any:
        bias1, bias2, embedding, gain1, gain2, _, up, down, out, qkv = parameters
        x = embedding[tokens[:, :-1]]
        heads = dot(norm(x, gain1, bias1), qkv).reshape(2, 16, 3, 4, 16)
        q, k, v = (heads[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 4.0
        scores = jnp.where(jnp.tril(jnp.ones((16, 16), bool)), scores, -1e9)
        attended = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)
        x = x + dot(attended.transpose(0, 2, 1, 3).reshape(2, 16, 64), out)
        x = x + dot(jax.nn.gelu(dot(norm(x, gain2, bias2), up)), down)
        likelihoods = jax.nn.log_softmax(dot(x, embedding.T))
        return -jnp.take_along_axis(likelihoods, tokens[:, 1:, None], axis=2).mean()

    *parameters, tokens = np.load(ARGUMENTS).values()
    value, gradients = jax.jit(jax.value_and_grad(loss))(parameters, tokens)
    results: dict[str, Any] = {"loss": np.asarray(value)}
    for i, gradient in enumerate(gradients):
        results[f"arg{i}"] = sample(-LEARNING_RATE * np.asarray(gradient))
    np.savez_compressed(RESULTS, **results)


if __name__ == "__main__":
    main()
