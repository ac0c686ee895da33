"""JAX arrays, and anything with DLPack, as arguments and results."""

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.tensors.dlpack import from_dlpack

FLOATS = {
    "bf16": (4, 16),
    "f8E3M4": (7, 8),
    "f8E4M3": (8, 8),
    "f8E4M3B11FNUZ": (9, 8),
    "f8E4M3FN": (10, 8),
    "f8E4M3FNUZ": (11, 8),
    "f8E5M2": (12, 8),
    "f8E5M2FNUZ": (13, 8),
    "f8E8M0FNU": (14, 8),
}
"""Codes and bits of DLPack (dlpack.h)."""


def identity(shape: str, element: str) -> mlir_fp8.CompiledModule:
    type_ = f"tensor<{shape}{element}>"
    return mlir_fp8.compile(f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}")


class Exporter:
    """An array of some library: numpy's capsule, its type renamed to what numpy lacks."""

    def __init__(self, array: np.ndarray, code: int, bits: int, lanes: int = 1) -> None:
        self.array, self.dtype, self.device = array, (code, bits, lanes), (1, 0)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, max_version: Any = None) -> Any:
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        dtype = (get(capsule, b"dltensor") or 0) + 20  # after data, device and ndim
        code, bits, lanes = self.dtype
        ctypes.memmove(dtype, bytes([code, bits, lanes, 0]), 4)
        return capsule


class OldExporter(Exporter):
    """Of DLPack before 1.0, which takes no version."""

    def __dlpack__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().__dlpack__()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("element", "kind"), FLOATS.items())
@pytest.mark.parametrize("exporter", [Exporter, OldExporter])
def test_types_that_numpy_does_not_know(element: str, kind: tuple[int, int], exporter: Any) -> None:
    codes = np.arange(6, dtype=f"u{kind[1] // 8}").reshape(2, 3)[:, ::-1]
    value = exporter(codes, *kind)
    array = from_dlpack("x", value)
    assert array.ctypes.data == codes.ctypes.data
    assert array.view(codes.dtype).tolist() == [[2, 1, 0], [5, 4, 3]]
    (result,) = identity("2x3x", element)(value)
    assert isinstance(result, np.ndarray)
    assert result.view(codes.dtype).tolist() == [[2, 1, 0], [5, 4, 3]]


def test_types_that_numpy_knows() -> None:
    for code, bits, dtype, element in (
        (0, 16, np.int16, "i16"),
        (1, 32, np.uint32, "ui32"),
        (2, 64, np.float64, "f64"),
        (5, 64, np.complex64, "complex<f32>"),
        (6, 8, np.bool_, "i1"),
    ):
        array = np.array([1, 0, 1], dtype)
        (result,) = identity("3x", element)(Exporter(array, code, bits))
        assert (result.dtype, result.tolist()) == (array.dtype, array.tolist())


def test_pairs_of_f4() -> None:
    value = Exporter(np.array([[0x21, 0x7F]], np.uint8), 17, 4, 2)
    assert from_dlpack("x", value).astype(float).tolist() == [[0.5, 1, -6, 6]]
    scalar = Exporter(np.array(0x21, np.uint8), 17, 4, 2)
    with pytest.raises(mlir_fp8.Fp8Error, match="x is a pair of f4 without a dimension"):
        from_dlpack("x", scalar)


class Failing(Exporter):
    def __dlpack__(self, *, max_version: Any = None) -> Any:
        raise BufferError("locked\nby someone")


def _on(device: tuple[int, int]) -> Exporter:
    value = Exporter(np.zeros(2, np.float32), 2, 32)
    value.device = device
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (_on((2, 1)), "is on cuda:1, this runs on the CPU"),
        (_on((10, 0)), "is on rocm:0"),
        (_on((99, 0)), "is on DLPack device 99:0"),
        (Failing(np.zeros(2), 2, 32), "is a Failing that DLPack does not give: locked$"),
        (Exporter(np.zeros(2, np.uint8), 15, 6), "is a Exporter of 1 f6E2M3FN in 6 bits each"),
        (Exporter(np.zeros(2, np.uint16), 10, 8, 2), "is a Exporter of 2 f8E4M3FN in 8 bits each"),
        (Exporter(np.zeros(2, np.float32), 2, 32, 4), "is a Exporter that DLPack does not give"),
        ([1.0, 2.0], "is a list, not an array of tensor<2xf32>"),
    ],
)
def test_refused_in_one_line(value: Any, reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^argument 0 {reason}") as caught:
        identity("2x", "f32")(value)
    assert "\n" not in str(caught.value)


def test_casts_and_outputs() -> None:
    array = np.array([1.0, 300.0], np.float32)
    got = mlir_fp8.cast(Exporter(array, 2, 32), "f8E4M3FN")
    assert isinstance(got, np.ndarray) and got.astype(float).tolist() == [1, 288]
    # A capsule of before DLPack 1.0 does not say that it may be written to.
    with pytest.raises(mlir_fp8.Fp8Error, match="out is read-only"):
        identity("2x", "f32")(array, out=Exporter(array.copy(), 2, 32))


def test_out_of_numpy() -> None:
    module = identity("2x2x", "f8E4M3FN")
    array = np.arange(4, dtype=np.uint8).reshape(2, 2).view(ml_dtypes.float8_e4m3fn)
    for out in (np.zeros((2, 2), array.dtype), np.zeros((4, 4), array.dtype)[::2, ::-2]):
        assert module(array, out=out)[0] is out
        assert out.view(np.uint8).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(mlir_fp8.Fp8Error, match="out is a MaskedArray"):
        module(array, out=np.ma.masked_array(np.zeros((2, 2), array.dtype)))


def test_jax_arrays() -> None:
    jax = pytest.importorskip("jax", reason="pip install 'mlir-fp8[xla]'")
    jnp = jax.numpy
    for name, element in (
        ("float8_e4m3fn", "f8E4M3FN"),
        ("float8_e3m4", "f8E3M4"),
        ("float8_e8m0fnu", "f8E8M0FNU"),
        ("float4_e2m1fn", "f4E2M1FN"),
        ("bfloat16", "bf16"),
        ("int4", "i4"),
        ("uint2", "ui2"),
        ("float32", "f32"),
        ("bool", "i1"),
        ("complex64", "complex<f32>"),
    ):
        array = jnp.array([1, 0, 1], getattr(jnp, name.replace("bool", "bool_")))
        (result,) = identity("3x", element)(array)
        assert isinstance(result, jax.Array) and result.dtype == array.dtype
        assert np.asarray(result).tobytes() == np.asarray(array).tobytes()
    (result,) = identity("", "f32")(jnp.float32(2))
    assert isinstance(result, jax.Array) and result.shape == ()
    got = mlir_fp8.cast(jnp.ones(2), jnp.float8_e5m2)
    assert isinstance(got, jax.Array) and got.dtype == jnp.float8_e5m2


def test_a_jax_array_is_read_in_place() -> None:
    jax = pytest.importorskip("jax")
    from mlir_fp8.tensors.foreign import as_array

    array = jax.numpy.arange(4).astype(jax.numpy.float8_e4m3fn)
    assert as_array("x", array).ctypes.data == array.unsafe_buffer_pointer()


def test_jax_makes_no_narrower_type_in_silence() -> None:
    jax = pytest.importorskip("jax")
    module, array = identity("2x", "f64"), np.array([1.0, 1e-300])
    with pytest.raises(mlir_fp8.Fp8Error, match=r"result 0 is float64.*which JAX makes float32"):
        module(array, as_="jax")
    with jax.enable_x64(True):
        (result,) = module(array, as_="jax")
    assert result.dtype == np.float64 and np.asarray(result).tolist() == array.tolist()
    with pytest.raises(mlir_fp8.Fp8Error, match=r"result 0 is float6_e2m3fn.*JAX has not"):
        identity("2x", "f6E2M3FN")(np.zeros(2, ml_dtypes.float6_e2m3fn), as_="jax")


def test_jax_arrays_without_values() -> None:
    jax = pytest.importorskip("jax")
    module = identity("2x", "f32")
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is traced by JAX"):
        jax.jit(lambda x: module(x)[0])(jax.numpy.ones(2))
    deleted = jax.numpy.ones(2)
    deleted.delete()
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is a JAX array that was deleted"):
        module(deleted)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 0 is of key<fry>"):
        module(jax.random.split(jax.random.key(0)))
    with pytest.raises(mlir_fp8.Fp8Error, match="out is a JAX array, which nobody writes to"):
        module(np.zeros(2, np.float32), out=jax.numpy.zeros(2))


def test_tensors_beside_jax_arrays() -> None:
    jax = pytest.importorskip("jax")
    pytest.importorskip("torch.nn")
    import torch  # pyright: ignore[reportMissingImports]

    module = mlir_fp8.compile(
        "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> "
        "{ return %b : tensor<2xf32> }"
    )
    arguments: tuple[Any, ...] = (torch.ones(2), jax.numpy.ones(2))
    with pytest.raises(mlir_fp8.Fp8Error, match="torch tensors and JAX arrays: say which"):
        module(*arguments)
    assert module(*arguments, as_="numpy")[0].tolist() == [1, 1]
    got = module(torch.ones(2), np.ones(2, np.float32), as_="jax")
    assert isinstance(got[0], jax.Array)


def test_nothing_is_imported_for_arrays_of_numpy() -> None:
    import subprocess
    import sys

    program = """import sys, numpy as np, mlir_fp8, mlir_fp8.torch.tensors
mlir_fp8.cast(np.ones(2), "f8E5M2")
mlir_fp8.compile("func.func @main() { return }\\n")()
text = "func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }"
mlir_fp8.compile(text)(np.float32(1), out=np.zeros((), np.float32))
mlir_fp8.compile(text)(1.0)
assert not {"torch", "jax", "safetensors"} & set(sys.modules)"""
    subprocess.run([sys.executable, "-c", program], check=True)
