"""`fp8-remove-quantizers`: what is left computes as the wide program does."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from bf16_transformer import ARGUMENTS, RESULTS, sample

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.lowering.fp8.fp8_remove_quantizers import remove_quantizers
from mlir_fp8.passes.pass_pipeline import run_pipeline

MODELS = Path(__file__).parents[2] / "models"
RNG = np.random.default_rng(0)

DOT = """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %s: tensor<2xf32>) -> tensor<8x4xbf16> {
  %low = stablehlo.constant dense<-4.480000e+02> : tensor<f32>
  %high = stablehlo.constant dense<4.480000e+02> : tensor<f32>
  %0 = stablehlo.slice %s [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
  %2 = stablehlo.slice %s [1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
  %4 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
  %5 = stablehlo.divide %x, %4 : tensor<8x16xf32>
  %6 = stablehlo.clamp %low, %5, %high : (tensor<f32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %7 = stablehlo.convert %6 : (tensor<8x16xf32>) -> tensor<8x16xf8E4M3FN>
  %8 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
  %9 = stablehlo.divide %w, %8 : tensor<4x16xf32>
  %10 = stablehlo.clamp %low, %9, %high : (tensor<f32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %11 = stablehlo.convert %10 : (tensor<4x16xf32>) -> tensor<4x16xf8E4M3FN>
  %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<4x16xf8E4M3FN>) -> tensor<16x4xf8E4M3FN>
  %13 = stablehlo.convert %7 : (tensor<8x16xf8E4M3FN>) -> tensor<8x16xbf16>
  %14 = stablehlo.convert %1 : (tensor<f32>) -> tensor<bf16>
  %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<bf16>) -> tensor<8x16xbf16>
  %16 = stablehlo.multiply %13, %15 : tensor<8x16xbf16>
  %17 = stablehlo.convert %12 : (tensor<16x4xf8E4M3FN>) -> tensor<16x4xbf16>
  %18 = stablehlo.convert %3 : (tensor<f32>) -> tensor<bf16>
  %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<bf16>) -> tensor<16x4xbf16>
  %20 = stablehlo.multiply %17, %19 : tensor<16x4xbf16>
  %21 = stablehlo.dot_general %16, %20, contracting_dims = [1] x [0]
    : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xbf16>
  return %21 : tensor<8x4xbf16>
}
"""  # noqa: E501


def test_one_dot_is_that_of_bf16_operands() -> None:
    module = mlir_fp8.load(DOT)
    assert remove_quantizers(module.operation) == []
    assert "f8" not in str(module)
    # Beyond what scales and clamps leave of it.
    x, w = (1000 * RNG.standard_normal(shape, np.float32) for shape in ((8, 16), (4, 16)))
    (got,) = mlir_fp8.compile(module)(x, w, np.array([0.1, 0.3], np.float32))
    exact = [array.astype(ml_dtypes.bfloat16).astype(np.float64) for array in (x, w.T)]
    summed = exact[0] @ exact[1]
    # The f32 sum may round the other way just where the exact one lies between two of bf16.
    np.testing.assert_allclose(got.astype(np.float64), summed, rtol=2**-8, atol=4)
    assert np.mean(got == summed.astype(ml_dtypes.bfloat16)) > 0.9


def test_what_f8_holds_exactly_stays_the_same() -> None:
    quantized, module = mlir_fp8.load(DOT), mlir_fp8.load(DOT)
    remove_quantizers(module.operation)
    x, w = (RNG.integers(-15, 16, shape).astype(np.float32) for shape in ((8, 16), (4, 16)))
    arguments = (x, w / 16, np.array([0.5, 0.125], np.float32))
    before, after = (mlir_fp8.compile(each)(*arguments)[0] for each in (quantized, module))
    np.testing.assert_array_equal(before, after)


@pytest.mark.exhaustive
def test_the_transformer_trains_as_jax_trains_it_in_bf16() -> None:
    module = mlir_fp8.load(MODELS / "transformer_train_step.mlirbc")
    assert remove_quantizers(module.operation) == []
    assert "f8" not in str(module)
    arguments = [array for _, array in restored(np.load(ARGUMENTS))]
    loss, *parameters = mlir_fp8.compile(module)(*arguments)
    wanted = dict(np.load(RESULTS))
    np.testing.assert_allclose(loss, wanted["loss"], rtol=1e-6)
    for i, (new, old) in enumerate(zip(parameters, arguments[:-1], strict=True)):
        norm = wanted[f"arg{i}"][-1]
        np.testing.assert_allclose(sample(new - old), wanted[f"arg{i}"], atol=1e-4 * norm)


def test_remarks_say_what_stays(capfd: pytest.CaptureFixture[str]) -> None:
    module = mlir_fp8.load(MODELS / "mlp_delayed_scaling.mlir")
    run_pipeline(module, ["fp8-remove-quantizers{remarks=true}"])
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.endswith(": remark: 'stablehlo.dot_general' takes f8E4M3FN") for line in lines)
