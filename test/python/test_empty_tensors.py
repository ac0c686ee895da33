"""Tensors without elements, at the boundary and inside; constants that the bindings cannot read."""

import numpy as np

import mlir_fp8


def test_arguments_and_results_without_elements() -> None:
    program = mlir_fp8.compile("""
      func.func @main(%a: tensor<2x0xf32>, %b: tensor<3xf32>)
          -> (tensor<2x0xf32>, tensor<3xf32>, tensor<0xf8E4M3FN>) {
        %0 = stablehlo.add %a, %a : tensor<2x0xf32>
        %1 = stablehlo.add %b, %b : tensor<3xf32>
        %2 = stablehlo.constant dense<> : tensor<0xf8E4M3FN>
        return %0, %1, %2 : tensor<2x0xf32>, tensor<3xf32>, tensor<0xf8E4M3FN>
      }""")
    empty, doubled, f8 = program(np.zeros((2, 0), np.float32), np.ones(3, np.float32))
    assert empty.shape == (2, 0)
    assert f8.shape == (0,)
    np.testing.assert_array_equal(doubled, [2, 2, 2])


def test_reductions_and_products_over_nothing() -> None:
    program = mlir_fp8.compile("""
      func.func @main(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>)
          -> (tensor<2x3xf32>, tensor<3xbf16>) {
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
        %c = stablehlo.constant dense<1.5> : tensor<bf16>
        %1 = stablehlo.convert %b : (tensor<0x3xf32>) -> tensor<0x3xbf16>
        %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0]
          : (tensor<0x3xbf16>, tensor<bf16>) -> tensor<3xbf16>
        return %0, %2 : tensor<2x3xf32>, tensor<3xbf16>
      }""")
    product, total = program(np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))
    np.testing.assert_array_equal(product, np.zeros((2, 3)))
    np.testing.assert_array_equal(total.astype(np.float32), [1.5, 1.5, 1.5])


def test_concatenation_with_nothing() -> None:
    program = mlir_fp8.compile("""
      func.func @main(%a: tensor<2x0xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %0 = stablehlo.concatenate %a, %b, dim = 1
          : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
      }""")
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    (result,) = program(np.zeros((2, 0), np.float32), given)
    np.testing.assert_array_equal(result, given)


def test_a_constant_of_complex_numbers() -> None:
    program = mlir_fp8.compile("""
      func.func @main() -> tensor<2xcomplex<f32>> {
        %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
        %1 = stablehlo.multiply %0, %0 : tensor<2xcomplex<f32>>
        return %1 : tensor<2xcomplex<f32>>
      }""")
    np.testing.assert_array_equal(program()[0], [(1 + 2j) ** 2, (3 - 4j) ** 2])
