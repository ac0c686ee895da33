"""Loops that branch in every iteration between tensors that are kept, swapped and updated."""

from pathlib import Path

import numpy as np
import pytest
from switch_programs import evaluated, switch_program, text
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.lowering.buffers import one_shot_bufferize_or_copy

# Of 51, a branch before an inner loop gives what that carries; of 213, analysis gives up early.
SEEDS = [*range(12), 51, 213]

CONFLICT = """func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, f32) {
  %0 = bufferization.materialize_in_destination %b in %a
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %a[] : tensor<f32>
  return %0, %1 : tensor<f32>, f32
}"""


def _check(seed: int) -> None:
    carried, body = switch_program(seed)
    inputs = [np.arange(4, dtype=np.int32) * (k + 2) + k for k in range(len(carried))]
    got = mlir_fp8.compile(text(carried, body), cache=False)(*inputs)
    for each, want in zip(got, evaluated(carried, body, inputs), strict=True):
        np.testing.assert_array_equal(each, want)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_switches(seed: int) -> None:
    _check(seed)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_way_back_is_as_right(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if one-shot analysis had given up."""
    bufferize = one_shot_bufferize_or_copy._bufferize
    attempts: list[bool] = []

    def give_up_once(module: ir.Operation, *, may_return_allocations: bool) -> None:
        attempts.append(may_return_allocations)
        if not may_return_allocations:
            module = ir.Module.parse(CONFLICT, module.context).operation
        bufferize(module, may_return_allocations=may_return_allocations)

    monkeypatch.setattr(one_shot_bufferize_or_copy, "_bufferize", give_up_once)
    _check(seed)
    assert attempts == [False, True]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("start", "swapped"), [(0, False), (1, True), (2, False), (5, False)])
def test_two_switches_over_swapped_tensors(start: int, swapped: bool) -> None:
    """By JAX; one-shot analysis gives up. The values are XLA's."""
    source = Path(__file__).parents[1] / "Inputs" / "switches_over_swapped.mlir"
    x = np.arange(9, dtype=np.int32).reshape(3, 3)
    plain, changed = np.full((3, 3), 4), np.array([[5] * 3, [4] * 3, [4] * 3])
    want = (changed, plain) if swapped else (plain, changed)
    got = mlir_fp8.compile(source, cache=False)(np.int32(start), x, x[::-1] * 3 + 1)
    for each, expected in zip(got, want, strict=True):
        np.testing.assert_array_equal(each, expected)
