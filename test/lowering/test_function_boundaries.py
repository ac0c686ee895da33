"""What functions can return: the same value twice, an argument, constants, an empty sum."""

import ml_dtypes
import numpy as np

import mlir_fp8


def run(text: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    return mlir_fp8.compile(text)(*arrays)


def test_a_value_twice() -> None:
    x = np.arange(4, dtype=np.float32)
    first, second, third = run(
        """func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
          %0 = stablehlo.add %x, %x : tensor<4xf32>
          %1 = stablehlo.add %x, %x : tensor<4xf32>
          %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<2x2xf32>
          return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
        }""",
        x,
    )
    np.testing.assert_array_equal(first, 2 * x)
    np.testing.assert_array_equal(second, 2 * x)
    np.testing.assert_array_equal(third, 2 * x.reshape(2, 2))
    assert not np.shares_memory(first, second)


def test_an_argument_twice_and_an_update_of_it() -> None:
    x = np.array([1, 2, 3, 4], ml_dtypes.float8_e4m3fn)
    before = x.copy()
    first, second, updated = run(
        """func.func @main(%x: tensor<4xf8E4M3FN>)
            -> (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) {
          %i = stablehlo.constant dense<1> : tensor<i32>
          %u = stablehlo.constant dense<-0.0> : tensor<2xf8E4M3FN>
          %0 = stablehlo.dynamic_update_slice %x, %u, %i
              : (tensor<4xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<i32>) -> tensor<4xf8E4M3FN>
          return %x, %x, %0 : tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>
        }""",
        x,
    )
    codes = before.view(np.uint8)
    for result in (x, first, second):
        np.testing.assert_array_equal(result.view(np.uint8), codes)
    np.testing.assert_array_equal(updated.view(np.uint8), [codes[0], 0x80, 0x80, codes[3]])
    first[0] = 0
    assert second[0] == x[0] == 1


def test_constants() -> None:
    same, also, other = run(
        """func.func @main() -> (tensor<2xf8E5M2>, tensor<2xf8E5M2>, tensor<2x0xf8E5M2>) {
          %0 = stablehlo.constant dense<[1.0, 0xFD]> : tensor<2xf8E5M2>
          %1 = stablehlo.constant dense<> : tensor<2x0xf8E5M2>
          return %0, %0, %1 : tensor<2xf8E5M2>, tensor<2xf8E5M2>, tensor<2x0xf8E5M2>
        }"""
    )
    np.testing.assert_array_equal(same.view(np.uint8), [0x3C, 0xFD])
    np.testing.assert_array_equal(also.view(np.uint8), [0x3C, 0xFD])
    assert other.shape == (2, 0) and other.dtype == ml_dtypes.float8_e5m2


def test_products_without_a_sum() -> None:
    x = np.array([1, -2, 448], ml_dtypes.float8_e4m3fn)
    outer, batched = run(
        """func.func @main(%x: tensor<3xf8E4M3FN>) -> (tensor<3x3xf32>, tensor<3xf32>) {
          %0 = stablehlo.dot_general %x, %x, contracting_dims = [] x []
              : (tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>) -> tensor<3x3xf32>
          %1 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [] x []
              : (tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>) -> tensor<3xf32>
          return %0, %1 : tensor<3x3xf32>, tensor<3xf32>
        }""",
        x,
    )
    numbers = x.astype(np.float32)
    np.testing.assert_array_equal(outer, np.outer(numbers, numbers))
    np.testing.assert_array_equal(batched, numbers * numbers)
