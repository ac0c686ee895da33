"""`arith.constant` of tensors, as PyTorch's exporters leave it, wherever StableHLO is taken."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error

DOUBLED = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.multiply %a, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
SCALED = """
func.func @main(%x: tensor<32x32xf8E4M3FN>, %y: tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32> {
  %s = NAME.constant dense<2.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32x32xf32>
  %0 = stablehlo.convert %x : (tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
  %1 = stablehlo.convert %y : (tensor<32x32xf8E4M3FN>) -> tensor<32x32xf32>
  %2 = stablehlo.multiply %0, %b : tensor<32x32xf32>
  %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0]
    : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}"""
VALUES = np.array([0, 1, -2, 3.5], np.float32)


def test_artifacts_hold_it() -> None:
    module = mlir_fp8.load(DOUBLED)
    before = str(module)
    assert mlir_fp8.minimum_version(module) == "0.9.0"
    read = mlir_fp8.load(mlir_fp8.serialize(module, "0.9.0"))
    assert "stablehlo.constant dense<2.000000e+00>" in str(read)
    assert mlir_fp8.compile(read)(VALUES)[0].tolist() == [0, 2, -4, 7]
    assert str(module) == before


def test_both_engines_run_it() -> None:
    module = mlir_fp8.load(DOUBLED)
    assert mlir_fp8.compile(module)(VALUES)[0].tolist() == [0, 2, -4, 7]
    assert mlir_fp8.interpret(module, VALUES)[0].tolist() == [0, 2, -4, 7]
    assert "arith.constant" in str(module)


def test_explain_sees_through_it() -> None:
    """The scale is a constant factor, as in StableHLO's own form."""
    ours, theirs = (
        mlir_fp8.explain(mlir_fp8.load(SCALED.replace("NAME", name)), "all")
        for name in ("arith", "stablehlo")
    )
    assert len(ours.rows) == 1
    assert ours == theirs


def test_quantize_gives_plain_stablehlo() -> None:
    quantized = mlir_fp8.quantize(
        """func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %w = arith.constant dense<0.5> : tensor<16x16xf32>
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      return %0 : tensor<16x16xf32>
    }""",
        "current",
    )
    assert "arith." not in str(quantized.module)
    assert mlir_fp8.minimum_version(quantized.module)


def test_the_interpreter_refuses_sparse_constants() -> None:
    """Their memory, which it would read as numbers, is not that of their elements."""
    text = """func.func @main() -> tensor<2xf32> {
      %c = stablehlo.constant sparse<[[0]], [1.0]> : tensor<2xf32>
      return %c : tensor<2xf32>
    }"""
    assert mlir_fp8.compile(text)()[0].tolist() == [1, 0]
    with pytest.raises(Fp8Error, match=r"'stablehlo.constant' is sparse, .*: make it dense$"):
        mlir_fp8.interpret(mlir_fp8.load(text))
