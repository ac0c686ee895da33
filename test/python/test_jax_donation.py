"""Donated JAX arrays: deleted as by jax.jit, the result in their memory."""

from typing import Any

import numpy as np
import pytest

import mlir_fp8

jax: Any = pytest.importorskip("jax")
jnp = jax.numpy
F8 = jnp.float8_e4m3fn

STEP = """
func.func @main(%cache: tensor<32x4xTYPE>, %row: tensor<1x4xTYPE>, %at: tensor<i32>)
    -> (tensor<4xTYPE>, tensor<32x4xTYPE>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %cache, %row, %at, %zero
    : (tensor<32x4xTYPE>, tensor<1x4xTYPE>, tensor<i32>, tensor<i32>) -> tensor<32x4xTYPE>
  %1 = stablehlo.reshape %row : (tensor<1x4xTYPE>) -> tensor<4xTYPE>
  return %1, %0 : tensor<4xTYPE>, tensor<32x4xTYPE>
}"""


def step(type_: str = "f8E4M3FN", donate: Any = (0,)) -> mlir_fp8.CompiledModule:
    return mlir_fp8.compile(STEP.replace("TYPE", type_), donate=donate)


@pytest.mark.parametrize(
    ("type_", "dtype"), [("f8E4M3FN", F8), ("f32", jnp.float32), ("i1", jnp.bool_)]
)
def test_the_array_is_deleted_and_the_result_has_its_memory(type_: str, dtype: Any) -> None:
    compiled = step(type_)
    cache = jnp.zeros((32, 4), dtype)
    for at in (3, 4):
        place = cache.block_until_ready().unsafe_buffer_pointer()
        results: tuple[Any, ...] = compiled(cache, jnp.ones((1, 4), dtype), at)
        row, updated = results
        assert cache.is_deleted() and updated.unsafe_buffer_pointer() == place
        assert isinstance(updated, jax.Array) and isinstance(row, jax.Array)
        cache = updated
    filled = np.asarray(cache.astype(jnp.float32))
    assert np.flatnonzero(filled.any(1)).tolist() == [3, 4]


def test_results_feed_jax() -> None:
    _, updated = step("f32")(jnp.zeros((32, 4)), np.ones((1, 4), np.float32), 2)
    assert float(jax.jit(jnp.sum)(updated)) == 4


def test_an_array_that_numpy_sees_stays_what_it_was() -> None:
    cache = jnp.zeros((32, 4))
    seen = np.asarray(cache)
    _, updated = step("f32")(cache, np.ones((1, 4), np.float32), 2)
    assert not cache.is_deleted() and not seen.any() and float(updated.sum()) == 4


def test_an_array_given_twice_is_refused() -> None:
    text = """
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
    x = jnp.arange(8.0)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 1 is the same array: give a copy"):
        mlir_fp8.compile(text, donate=[0])(x, x)
    assert not x.is_deleted()


def test_out_has_the_other_results() -> None:
    out = np.zeros(4, np.float32)
    row, updated = step("f32")(jnp.zeros((32, 4)), np.ones((1, 4), np.float32), 2, out=[out])
    assert row is out and out.all() and float(updated.sum()) == 4


def test_nothing_is_deleted_where_a_call_is_refused() -> None:
    cache = jnp.zeros((32, 4))
    for row, message in (
        (np.ones((1, 5), np.float32), "argument 1 is"),
        (jnp.ones((1, 4), jnp.int32), "argument 1 is"),
    ):
        with pytest.raises(mlir_fp8.Fp8Error, match=message):
            step("f32")(cache, row, 2)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"argument 0 is float32\[32, 4\], declared"):
        step()(cache, np.ones((1, 4), F8), 2)
    assert not cache.is_deleted()


def test_traced_and_deleted_arrays_are_refused() -> None:
    compiled, row = step("f32"), np.ones((1, 4), np.float32)
    with pytest.raises(mlir_fp8.Fp8Error, match="is traced by JAX"):
        jax.jit(lambda cache: compiled(cache, row, 1))(jnp.zeros((32, 4)))
    gone = jnp.zeros((32, 4))
    gone.delete()
    with pytest.raises(mlir_fp8.Fp8Error, match="was deleted or donated"):
        compiled(gone, row, 1)
