"""What is in scaled FP8 already is not quantized again, be it as ops or as composites."""

from itertools import product

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.passes.pass_pipeline import run_pipeline

PROGRAM = """
func.func @main(%x: tensor<3x4xELEMENT>, %w: tensor<4x5xELEMENT>) -> tensor<3x5xELEMENT> {
  %0 = stablehlo.tanh %x : tensor<3x4xELEMENT>
  %1 = stablehlo.dot %0, %w
    : (tensor<3x4xELEMENT>, tensor<4x5xELEMENT>) -> tensor<3x5xELEMENT>
  return %1 : tensor<3x5xELEMENT>
}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("recipe", ["delayed", "transformer_engine", "current"])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_a_second_pass_changes_nothing(recipe: str, element: str) -> None:
    first = mlir_fp8.quantize(PROGRAM.replace("ELEMENT", element), recipe, ops="all")
    artifact = mlir_fp8.serialize(first.module, "1.0.0")
    for module, ops in product((first.module, artifact), ("all", "stablehlo.dot", ())):
        second = mlir_fp8.quantize(module, recipe, ops=ops)
        assert all(each.left for each in second.decisions), list(map(str, second.decisions))
        assert list(second.state) == list(first.state)
        kinds = ("fp8.quantize", "fp8.dequantize", "fp8.update_scale", "fp8.scaled_dot")
        text, before = str(second.module), str(first.module)
        assert [text.count(kind) for kind in kinds] == [before.count(kind) for kind in kinds]


def test_a_scale_is_made_of_what_the_tensor_is() -> None:
    """Ops that find an amax are no ops to quantize: an f8 amax makes another scale."""
    text = PROGRAM.replace("ELEMENT", "f32")
    dots = mlir_fp8.quantize(text, mlir_fp8.DelayedScaling(history=2))
    both = mlir_fp8.quantize(dots.module, mlir_fp8.DelayedScaling(history=2), ops="all")
    assert list(both.state) == [*dots.state, "op2.operand0.scale", "op2.operand0.amax_history"]
    rng = np.random.default_rng(3)
    x, w = (rng.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4, 5)))
    _, state = both.split(mlir_fp8.compile(both.module)(x, w, *both.state.values()))
    assert state["dot0.rhs.amax_history"][0] == np.max(np.abs(w))


def test_quantizers_in_an_artifact_are_removed() -> None:
    text = PROGRAM.replace("ELEMENT", "f32")
    first = mlir_fp8.quantize(text, "current", ops="all")
    module = mlir_fp8.deserialize(mlir_fp8.serialize(first.module, "1.0.0"))
    run_pipeline(module, ["fp8-remove-quantizers"])
    assert "fp8." not in str(module)
    assert "f8E" not in str(module)
