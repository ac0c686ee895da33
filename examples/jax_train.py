"""Train a JAX model in FP8: `mlir_fp8.jax.jit` in the place of `jax.jit`, and a state to carry.

On a GPU add target="xla-gpu", and XLA runs the dots by cuBLASLt in FP8.
"""

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

import mlir_fp8
import mlir_fp8.jax


def loss(params, x, y):
    hidden = jax.nn.gelu(x @ params["up"])
    return jnp.mean((hidden @ params["down"] - y) ** 2)


def train_step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)


keys = jax.random.split(jax.random.key(0), 4)
params = {
    "up": jax.random.normal(keys[0], (64, 256)) / 8,
    "down": jax.random.normal(keys[1], (256, 16)) / 16,
}
x = jax.random.normal(keys[2], (128, 64))
y = x @ jax.random.normal(keys[3], (64, 16)) / 8

wide = jax.jit(train_step)
step = mlir_fp8.jax.jit(train_step, quantize=mlir_fp8.DelayedScaling(history=16))
print(mlir_fp8.jax.explain(step, params, x, y).counts("xla-gpu"))

in_fp8, state = params, step.init_state(params, x, y)
for number in range(41):
    value, params = wide(params, x, y)
    (fp8_value, in_fp8), state = step(state, in_fp8, x, y)
    if number % 10 == 0:
        print(f"step {number:2}: loss {value:.4f} in f32, {fp8_value:.4f} in FP8")
