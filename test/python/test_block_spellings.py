"""Ways to dequantize by blocks in plain StableHLO, as JAX users write them: all are fused."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jax import numpy as jnp  # noqa: E402

import mlir_fp8  # noqa: E402
from mlir_fp8.passes.pass_pipeline import run_pipeline  # noqa: E402

M, K, N, BLOCK = 8, 128, 4, 32
F32 = jnp.float32


def exponents(scale: Any) -> Any:
    return jax.lax.bitcast_convert_type(scale, jnp.uint8).astype(jnp.uint32) << 23


SPELLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "blocks apart": lambda q, s: (
        q.reshape(-1, K // BLOCK, BLOCK).astype(F32) * s.astype(F32)[..., None]
    ).reshape(q.shape),
    "repeat": lambda q, s: q.astype(F32) * jnp.repeat(s.astype(F32), BLOCK, axis=1),
    "repeat in bf16": lambda q, s: q.astype("bfloat16") * jnp.repeat(s.astype("bfloat16"), 32, 1),
    "tile": lambda q, s: (
        q.astype(F32) * jnp.tile(s.astype(F32)[..., None], (1, 1, BLOCK)).reshape(q.shape)
    ),
    "index": lambda q, s: q.astype(F32) * s.astype(F32)[:, jnp.arange(K) // BLOCK],
    "take": lambda q, s: q.astype(F32) * jnp.take(s.astype(F32), np.arange(K) // BLOCK, axis=1),
    "take and convert": lambda q, s: (
        q.astype(F32) * jnp.take(s, jnp.arange(K) // BLOCK, axis=1, mode="clip").astype(F32)
    ),
    "bits": lambda q, s: (
        q.astype(F32) * jnp.repeat(jax.lax.bitcast_convert_type(exponents(s), F32), BLOCK, axis=1)
    ),
}


def lowered(dequantize: Callable[[Any, Any], Any], given: list[np.ndarray]) -> str:
    def product(a: Any, s: Any, b: Any, t: Any) -> Any:
        numbers = (((1,), (1,)), ((), ()))
        return jax.lax.dot_general(
            dequantize(a, s), dequantize(b, t), numbers, preferred_element_type=F32
        )

    shapes = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in given]
    return jax.jit(product).trace(*shapes).lower(lowering_platforms=("cuda",)).as_text()


def arguments() -> list[np.ndarray]:
    random = np.random.default_rng(0)
    found: list[np.ndarray] = []
    for rows in (M, N):
        found.append(random.standard_normal((rows, K)).astype(ml_dtypes.float8_e4m3fn))
        scales = np.exp2(random.integers(-9, 9, (rows, K // BLOCK)))
        found.append(scales.astype(ml_dtypes.float8_e8m0fnu))
    return found


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=list(SPELLINGS))
def test_it_is_fused(spelling: Callable[[Any, Any], Any]) -> None:
    given = arguments()
    text = lowered(spelling, given)
    fused = mlir_fp8.load(text)
    run_pipeline(fused, ["fp8-fuse-scaled-dot"])
    assert str(fused).count('"fp8.scaled_dot"') == 1 and "gather" not in str(fused)
    (plain,) = mlir_fp8.compile(text)(*given)
    np.testing.assert_array_equal(mlir_fp8.compile(fused)(*given)[0], plain)


@pytest.mark.parametrize("indices", ["jnp.arange(K) % 4", "(jnp.arange(K) + 1) // 33", "i"])
def test_other_gathers_stay(indices: str) -> None:
    """Those whose scales are tiled, of other blocks, or looked up at run time."""
    given = arguments()

    def spelling(q: Any, s: Any) -> Any:
        found = jax.lax.bitcast_convert_type(q[0], jnp.uint8).astype(jnp.int32) % 4
        places = {"i": found}.get(indices)
        places = eval(indices) if places is None else places
        return q.astype(F32) * s.astype(F32)[:, places]

    fused = mlir_fp8.load(lowered(spelling, given))
    run_pipeline(fused, ["fp8-fuse-scaled-dot"])
    assert "fp8.scaled_dot" not in str(fused) and str(fused).count("gather") == 4
