"""What moves between a layer's dots: parts, to the same bits, and codes by kernels."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.xla_gpu_pipeline import MOVED

# q, k and v of one product, heads first, and back as their gradients come.
PARTS = """
func.func @main(%x: tensor<2x3x5x2x4x{t}>) -> tensor<2x3x5x2x4x{t}> {{
  %zero = stablehlo.constant dense<0.0> : tensor<{t}>
  %all = stablehlo.transpose %x, dims = [2, 0, 3, 1, 4] : (tensor<2x3x5x2x4x{t}>)
    -> tensor<5x2x2x3x4x{t}>
  %q = stablehlo.slice %all [0:1, 0:2, 0:2, 0:3, 0:4] : (tensor<5x2x2x3x4x{t}>)
    -> tensor<1x2x2x3x4x{t}>
  %k = stablehlo.slice %all [1:3, 0:2, 0:2, 0:3, 0:4] : (tensor<5x2x2x3x4x{t}>)
    -> tensor<2x2x2x3x4x{t}>
  %v = stablehlo.slice %all [3:5, 0:2, 0:2, 0:3, 0:4] : (tensor<5x2x2x3x4x{t}>)
    -> tensor<2x2x2x3x4x{t}>
  %0 = stablehlo.pad %k, %zero, low = [1, 0, 0, 0, 0], high = [2, 0, 0, 0, 0],
    interior = [0, 0, 0, 0, 0] : (tensor<2x2x2x3x4x{t}>, tensor<{t}>) -> tensor<5x2x2x3x4x{t}>
  %1 = stablehlo.pad %v, %zero, low = [3, 0, 0, 0, 0], high = [0, 0, 0, 0, 0],
    interior = [0, 0, 0, 0, 0] : (tensor<2x2x2x3x4x{t}>, tensor<{t}>) -> tensor<5x2x2x3x4x{t}>
  %2 = stablehlo.pad %q, %zero, low = [0, 0, 0, 0, 0], high = [4, 0, 0, 0, 0],
    interior = [0, 0, 0, 0, 0] : (tensor<1x2x2x3x4x{t}>, tensor<{t}>) -> tensor<5x2x2x3x4x{t}>
  %3 = stablehlo.add %1, %0 : tensor<5x2x2x3x4x{t}>
  %4 = stablehlo.add %2, %3 : tensor<5x2x2x3x4x{t}>
  %y = stablehlo.transpose %4, dims = [1, 3, 0, 2, 4] : (tensor<5x2x2x3x4x{t}>)
    -> tensor<2x3x5x2x4x{t}>
  return %y : tensor<2x3x5x2x4x{t}>
}}"""


@pytest.mark.parametrize(("element", "dtype"), [("bf16", ml_dtypes.bfloat16), ("f32", np.float32)])
def test_parts_are_moved_to_the_same_bits(element: str, dtype: type) -> None:
    module = mlir_fp8.load(PARTS.format(t=element))
    before = mlir_fp8.compile(mlir_fp8.load(PARTS.format(t=element)))
    run_pipeline(module, MOVED)
    assert not operations(module.operation, "stablehlo.pad")
    assert len(operations(module.operation, "stablehlo.concatenate")) == 1
    slices = operations(module.operation, "stablehlo.slice")
    assert len(slices) == 3
    assert all(each.operands[0] == slices[0].operands[0] for each in slices)
    x = np.random.default_rng(1).normal(size=(2, 3, 5, 2, 4)).astype(dtype)
    x.flat[:40:2] = [-0.0, np.inf, -np.inf, np.nan] * 5
    (got,), (want,) = mlir_fp8.compile(module)(x), before(x)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("attention", ["", " attention"])
def test_a_layer_quantizes_by_kernels_alone(attention: str) -> None:
    pytest.importorskip("jax")
    from benchmarks.gpu.programs import Sizes, layer_step

    text = layer_step(Sizes(2, 32, 64, 2, 128)).text()
    module = mlir_fp8.load(text)
    form = f"recipe=delayed skip-batched kernels=h200{attention}"
    run_pipeline(module, [f"quantize-for-xla-gpu-pipeline{{{form}}}"])
    calls = operations(module.operation, "stablehlo.custom_call")
    kernels = [str(each.attributes["backend_config"]) for each in calls]
    # Of four products, forward and backward: 3 operands each.
    assert sum('name = "quantize_transpose"' in each for each in kernels) == 12
