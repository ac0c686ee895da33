"""Which of the outlined loops LLVM is told not to unroll, in the IR that it gets."""

import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.aot.llvm_ir import llvm_ir
from mlir_fp8.passes.pass_pipeline import run_pipeline

DISABLED = '!"llvm.loop.unroll.disable"'
ELEMENTWISE = "%0 = stablehlo.tanh %a : tensor<64x64xf32> return %0 : tensor<64x64xf32>"
TRANSPOSED = """%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>"""
COPIED = "%0 = stablehlo.negate %a : tensor<64xf32> return %0 : tensor<64xf32>"
MAXIMUM = """%z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0]
    : (tensor<99xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>"""


def _ir(body: str, argument: str, result: str) -> str:
    text = f"func.func @main(%a: tensor<{argument}>) -> tensor<{result}> {{ {body} }}"
    module = mlir_fp8.load(text)
    run_pipeline(module, [*pipelines.to_linalg(), *pipelines.to_llvm()])
    return llvm_ir(module)


@pytest.mark.parametrize(
    ("body", "argument", "result"),
    [(ELEMENTWISE, "64x64xf32", "64x64xf32"), (TRANSPOSED, "6x6xf32", "6x6xf32")],
)
def test_loops_of_much_work_and_nests_are_not(body: str, argument: str, result: str) -> None:
    text = _ir(body, argument, result)
    branches = text.count(", !llvm.loop !")
    assert branches and DISABLED in text


@pytest.mark.parametrize(
    ("body", "argument", "result"), [(COPIED, "64xf32", "64xf32"), (MAXIMUM, "99xf32", "f32")]
)
def test_short_ones_and_sums_are(body: str, argument: str, result: str) -> None:
    assert "!llvm.loop" not in _ir(body, argument, result)
