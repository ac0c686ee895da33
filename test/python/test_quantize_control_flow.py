"""State through nested loops and branches: quantizers that do not run keep their state."""

import numpy as np
import pytest

import mlir_fp8

NESTED = """
func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %k: tensor<i32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %h = %x) : tensor<i32>, tensor<2x2xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %5:2 = stablehlo.while(%j = %c0, %g = %h) : tensor<i32>, tensor<2x2xf32>
        cond {
          %1 = stablehlo.compare LT, %j, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %p = "stablehlo.case"(%k) ({
            %q = stablehlo.tanh %g : tensor<2x2xf32>
            %r = stablehlo.dot %q, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
            stablehlo.return %r : tensor<2x2xf32>
          }, {
            %q = stablehlo.negate %g : tensor<2x2xf32>
            %r = stablehlo.dot %q, %q : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
            stablehlo.return %r : tensor<2x2xf32>
          }, {
            stablehlo.return %g : tensor<2x2xf32>
          }) : (tensor<i32>) -> tensor<2x2xf32>
          %2 = stablehlo.add %j, %c1 : tensor<i32>
          stablehlo.return %2, %p : tensor<i32>, tensor<2x2xf32>
        }
      %z = stablehlo.dot %5#1, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      %2 = stablehlo.add %i, %c1 : tensor<i32>
      stablehlo.return %2, %z : tensor<i32>, tensor<2x2xf32>
    }
  %3 = stablehlo.dot %0#1, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0#1, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}
"""
X = np.array([[0.5, 0.25], [-0.3, 1]], np.float32)
W = np.array([[0.9, 0.1], [0.2, 0.8]], np.float32)
TURNS = 4  # of the inner loop, in a step


@pytest.fixture(scope="module")
def module() -> mlir_fp8.CompiledModule:
    return mlir_fp8.compile(NESTED)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("recipe", ["flax", "transformer_engine", "current"])
@pytest.mark.parametrize("ops", [[], ["all"]])
def test_loops_and_branches(recipe: str, ops: list[str], module: mlir_fp8.CompiledModule) -> None:
    made = mlir_fp8.quantize(NESTED, recipe, ops=ops)
    step = mlir_fp8.compile(made.module)
    for branch in range(3):
        state = made.state
        results = ()
        for _ in range(2):
            results, state = made.split(step(X, W, np.int32(branch), *state.values()))
        for ours, reference in zip(results, module(X, W, np.int32(branch)), strict=True):
            np.testing.assert_allclose(ours, reference, atol=0.1)
        if recipe != "current" and not ops:
            seen = {name: np.count_nonzero(array) for name, array in state.items()}
            assert seen["dot0.lhs.amax_history"] == (2 * TURNS if branch == 0 else 0)
            assert seen["dot1.lhs.amax_history"] == (2 * TURNS if branch == 1 else 0)
            # The weight does not change in a step, and is quantized before all loops.
            assert seen["dot0.rhs.amax_history"] == 2
            assert seen["dot2.lhs.amax_history"] == 2 * 2
            assert seen["dot3.lhs.amax_history"] == 2
            assert (state["dot0.lhs.scale"] == 1) == (branch != 0)
