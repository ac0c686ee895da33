"""What XLA's backend takes: signatures of all kinds, and what jax.export writes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.xla import artifact
from mlir_fp8.xla.exported_file import read_exported_file

jax = pytest.importorskip("jax")
jnp = jax.numpy


def run(source: Any, *arrays: Any, **options: Any) -> list[np.ndarray]:
    module = mlir_fp8.compile(source, backend="xla", **options)
    return list(module(*arrays, as_="numpy"))


def identity(type_: str) -> str:
    return f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}"


@pytest.mark.parametrize(
    ("type_", "array"),
    [
        ("tensor<2xi4>", np.array([-8, 7], ml_dtypes.int4)),
        ("tensor<2xui4>", np.array([0, 15], ml_dtypes.uint4)),
        ("tensor<2xi1>", np.array([True, False])),
        ("tensor<2xui64>", np.array([2**64 - 1, 0], np.uint64)),
        ("tensor<2xcomplex<f64>>", np.array([1j, 1e300])),
        ("tensor<0x3xf32>", np.zeros((0, 3), np.float32)),
        ("tensor<bf16>", np.array(1.5, ml_dtypes.bfloat16)),
    ],
)
def test_types(type_: str, array: np.ndarray) -> None:
    (result,) = run(identity(type_), array)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_tuples_tokens_and_quantized_types() -> None:
    tuples = """\
func.func @main(%a: tuple<tensor<2xf32>, tensor<3xi32>>, %t: !stablehlo.token)
    -> tuple<tensor<3xi32>> {
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  %1 = stablehlo.tuple %0 : tuple<tensor<3xi32>>
  return %1 : tuple<tensor<3xi32>>
}
"""
    (result,) = run(tuples, np.ones(2, np.float32), np.arange(3, dtype=np.int32))
    assert result.tolist() == [0, 1, 2]
    codes = """\
func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
    assert run(codes, np.array([2, -4], np.int8))[0].tolist() == [1.0, -2.0]


def test_open_sizes_other_entries_and_no_arguments() -> None:
    open_size = identity("tensor<?xf32>").replace("@main", "@other")
    array = np.arange(3, dtype=np.float32)
    assert run(open_size, array, entry="other", shapes=[(3,)])[0].tolist() == [0, 1, 2]
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor<\?xf32>: give every dimension a size"):
        run(open_size, array, entry="other")
    assert run("func.func @main() { return }") == []


def test_an_argument_may_be_a_result_twice() -> None:
    twice = """\
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  return %a, %a : tensor<2xf32>, tensor<2xf32>
}
"""
    given = np.ones(2, np.float32)
    for result in run(twice, given, donate=[0]):
        assert result.tolist() == [1, 1]
        assert not np.shares_memory(result, given)


def branches(x: Any) -> Any:
    return jax.lax.platform_dependent(
        x, cpu=lambda x: x + 1, cuda=lambda x: x + 2, default=lambda x: x + 3
    )


@pytest.mark.parametrize("platforms", [["cpu"], ["cuda", "cpu"], ["cpu", "tpu", "cuda"]])
def test_files_of_jax_export_run_the_branch_of_their_platform(platforms: list[str]) -> None:
    def step(x: Any, unused: Any) -> Any:
        return branches(x)

    exported = jax.export.export(jax.jit(step), platforms=platforms)(jnp.ones(2), jnp.ones(3))
    file = bytes(exported.serialize())
    assert run(file, np.ones(2, np.float32), np.ones(3, np.float32))[0].tolist() == [2, 2]


def test_files_for_other_platforms_are_refused() -> None:
    exported = jax.export.export(jax.jit(branches), platforms=["cuda", "tpu"])(jnp.ones(2))
    with pytest.raises(mlir_fp8.Fp8Error, match="the module is for cuda, tpu, not for cpu"):
        run(bytes(exported.serialize()), np.ones(2, np.float32))
    exported = jax.export.export(jax.jit(branches), platforms=["cuda", "cpu"])(jnp.ones(2))
    with pytest.raises(mlir_fp8.Fp8Error, match="'main' takes the number of a platform"):
        run(exported.mlir_module_serialized, np.ones(2, np.float32))


def test_keys_of_random_numbers() -> None:
    """JAX marks them by shardings, which jaxlib has to know to read the artifact."""

    def draw(key: Any) -> Any:
        return jax.random.normal(key, (3,))

    key = jax.random.key(0)
    exported = jax.export.export(jax.jit(draw))(key)
    data = np.asarray(jax.random.key_data(key))
    for source in (exported.mlir_module_serialized, bytes(exported.serialize())):
        np.testing.assert_array_equal(run(source, data)[0], draw(key))


def test_damaged_files() -> None:
    exported = jax.export.export(jax.jit(branches))(jnp.ones(2))
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^x: not what jax.export's serialize writes: "):
        read_exported_file(bytes(exported.serialize())[:300], "x")


def test_what_crashes_jaxlib_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxlib.mlir.dialects import stablehlo

    monkeypatch.setattr(
        stablehlo, "deserialize_portable_artifact", lambda *_: __import__("os").abort()
    )
    data = mlir_fp8.serialize(mlir_fp8.load(identity("tensor<f32>")), "1.0.0")
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^x: damaged: the library crashed \(SIGABRT\)"):
        artifact.read_artifact(data, "x")
