"""Emulated gathers and scatters with batching dimensions, older forms at targets before 1.1.0."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec

GATHER = """
func.func @main(%a: tensor<3x5x4xf8E3M4>, %i: tensor<3x2xi32>) -> tensor<3x2x4xf8E3M4> {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<
    offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0],
    start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 1, 4>}>
    : (tensor<3x5x4xf8E3M4>, tensor<3x2xi32>) -> tensor<3x2x4xf8E3M4>
  return %0 : tensor<3x2x4xf8E3M4>
}"""
SCATTER = """
func.func @main(%a: tensor<3x5x4xf8E3M4>, %i: tensor<3x2xi32>, %u: tensor<3x2x4xf8E3M4>)
    -> tensor<3x5x4xf8E3M4> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0],
    scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
    index_vector_dim = 2>}> ({
  ^bb0(%x: tensor<f8E3M4>, %y: tensor<f8E3M4>):
    BODY
  }) : (tensor<3x5x4xf8E3M4>, tensor<3x2xi32>, tensor<3x2x4xf8E3M4>) -> tensor<3x5x4xf8E3M4>
  return %0 : tensor<3x5x4xf8E3M4>
}"""
REPLACE = SCATTER.replace("BODY", "stablehlo.return %y : tensor<f8E3M4>")
ADD = SCATTER.replace(
    "BODY",
    "%s = stablehlo.add %x, %y : tensor<f8E3M4>\n    stablehlo.return %s : tensor<f8E3M4>",
)
# Its older form is a quotient: in f8E3M4 that would round three times.
TAN = GATHER.replace("  return %0", "  %1 = stablehlo.tan %0 : tensor<3x2x4xf8E3M4>\n  return %1")


def arrays_for(specs: tuple[TensorSpec, ...]) -> list[np.ndarray]:
    """f8E3M4 numbers of every size; distinct indices within each batch."""
    rng = np.random.default_rng(7)
    indices = np.array([[4, 0], [1, 3], [2, 1]], np.int32)
    return [
        indices
        if spec.element == "i32"
        else rng.integers(0, 0x70, spec.shape, np.uint8).view(spec.dtype)
        for spec in specs
    ]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("version", ["0.9.0", "1.0.0", "1.1.0"])
@pytest.mark.parametrize("text", [GATHER, REPLACE, ADD, TAN], ids=["gather", "set", "add", "tan"])
def test_raised(text: str, version: str) -> None:
    module = mlir_fp8.load(text.encode())
    artifact = mlir_fp8.serialize(module, version, emulate=True)
    raised = mlir_fp8.deserialize(artifact, raise_emulation=True)
    expected = mlir_fp8.compile(module)
    actual = mlir_fp8.compile(raised)
    assert actual.arguments == expected.arguments
    arrays = arrays_for(expected.arguments)
    (wanted,), (found,) = expected(*arrays), actual(*arrays)
    assert found.dtype == wanted.dtype
    assert found.tobytes() == wanted.tobytes()
