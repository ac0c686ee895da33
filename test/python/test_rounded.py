"""Modules that round as asked for by any engine."""

import numpy as np

import mlir_fp8
from mlir_fp8.judging.rounded import rounded_copy

FUNCTIONS = """func.func @main(%x: tensor<16xf32>) -> tensor<16xf8E5M2> {
  %0 = stablehlo.logistic %x : tensor<16xf32>
  %1 = chlo.tan %0 : tensor<16xf32> -> tensor<16xf32>
  %2 = func.call @halve(%1) : (tensor<16xf32>) -> tensor<16xf8E5M2>
  return %2 : tensor<16xf8E5M2>
}
func.func @halve(%x: tensor<16xf32>) -> tensor<16xf8E5M2> {
  %0 = stablehlo.convert %x : (tensor<16xf32>) -> tensor<16xf8E5M2>
  %1 = stablehlo.add %0, %0 : tensor<16xf8E5M2>
  return %1 : tensor<16xf8E5M2>
}
func.func @unused(%x: tensor<?xf32>) -> tensor<?xf8E5M2> {
  %0 = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xf8E5M2>
  return %0 : tensor<?xf8E5M2>
}"""


def test_functions_stay_what_every_engine_knows() -> None:
    module = mlir_fp8.load(FUNCTIONS)
    before = str(module)
    copy = rounded_copy(module, "main", rounding="stochastic", seed=2, saturate=True)
    assert str(module) == before
    assert "math." not in str(copy)
    x = np.linspace(-4, 4, 16, dtype=np.float32)
    compiled = mlir_fp8.compile(module, rounding="stochastic", seed=2, saturate=True)
    for results in (mlir_fp8.interpret(copy, x), mlir_fp8.compile(copy)(x)):
        np.testing.assert_array_equal(results[0], compiled(x)[0])
