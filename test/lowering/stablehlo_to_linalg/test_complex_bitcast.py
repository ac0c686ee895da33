"""`bitcast_convert` of complex numbers: memory seen as the other type, lowest word first."""

import numpy as np
import pytest

import mlir_fp8

RNG = np.random.default_rng(0)


def bitcast(array: np.ndarray, source: str, target: str) -> np.ndarray:
    compiled = mlir_fp8.compile(f"""func.func @main(%a: tensor<{source}>) -> tensor<{target}> {{
      %0 = stablehlo.bitcast_convert %a : (tensor<{source}>) -> tensor<{target}>
      return %0 : tensor<{target}>
    }}""")
    (result,) = compiled(array)
    return result


def random_bits(*shape: int, dtype: type) -> np.ndarray:
    """Any numbers, NaNs that signal among them."""
    return np.frombuffer(RNG.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(
        shape
    )


def test_words_of_a_number() -> None:
    """1.0 is 0x3FF00000_00000000, whose high word is 1.875 in f32; -2.0 has -2.0 there."""
    words = bitcast(np.array(1 - 2j), "complex<f64>", "2xcomplex<f32>")
    assert words.dtype == np.complex64
    assert words.tolist() == [1.875j, -2j]
    whole = bitcast(words, "2xcomplex<f32>", "complex<f64>")
    assert whole.dtype == np.complex128
    assert whole.tolist() == 1 - 2j


@pytest.mark.parametrize(
    ("source", "target", "shape", "dtype", "result_shape"),
    [
        ("3x5xcomplex<f32>", "3x5xcomplex<f32>", (3, 5), np.complex64, (3, 5)),
        ("7xcomplex<f64>", "7xcomplex<f64>", (7,), np.complex128, (7,)),
        ("3x4xcomplex<f64>", "3x4x2xcomplex<f32>", (3, 4), np.complex128, (3, 4, 2)),
        ("3x4x2xcomplex<f32>", "3x4xcomplex<f64>", (3, 4, 2), np.complex64, (3, 4)),
        ("0x2xcomplex<f32>", "0xcomplex<f64>", (0, 2), np.complex64, (0,)),
    ],
)
def test_bits_stay(source, target, shape, dtype, result_shape) -> None:
    array = random_bits(*shape, dtype=dtype)
    result = bitcast(array, source, target)
    assert result.shape == result_shape
    assert result.tobytes() == array.tobytes()
