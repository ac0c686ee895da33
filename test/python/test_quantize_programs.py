"""Programs that JAX derived, and a transformer, in scaled FP8: near what they were, anywhere."""

from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import restored
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.passes.pass_pipeline import run_pipeline
from mlir_fp8.quantized import initial_state

TESTS = Path(__file__).parent.parent
PROGRAMS = TESTS / "lowering" / "Inputs" / "gradients"
WEIGHTS = ("b1", "b2", "emb", "g1", "g2", "s", "w1", "w2", "wo", "wqkv")
TRAIN_STEP = TESTS / "models" / "transformer_train_step"


def distance(ours: np.ndarray, reference: np.ndarray) -> float:
    """Relative L2."""
    return float(np.linalg.norm(ours - reference) / np.linalg.norm(reference))


def after_steps(
    step: mlir_fp8.CompiledModule,
    made: mlir_fp8.Quantized,
    arguments: list[np.ndarray],
    steps: int = 3,
) -> tuple[np.ndarray, ...]:
    """What the same arguments give once the scales fit them."""
    state, results = made.state, ()
    for _ in range(steps):
        results, state = made.split(step(*arguments, *state.values()))
    return results


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "recipe", "ops"),
    [
        ("mlp", "delayed", []),
        pytest.param("bf16_mlp", "transformer_engine", [], marks=pytest.mark.exhaustive),
        ("recurrent", "current", []),
        pytest.param("attention", "delayed", [], marks=pytest.mark.exhaustive),
        ("convolutions", "delayed", []),
        pytest.param("recomputed", "delayed", [], marks=pytest.mark.exhaustive),
        pytest.param("scanned", "delayed", [], marks=pytest.mark.exhaustive),
        pytest.param("scanned", "current", ["all"], marks=pytest.mark.exhaustive),
        pytest.param("mlp", "transformer_engine", ["all"], marks=pytest.mark.exhaustive),
        pytest.param(
            "convolutions",
            "delayed",
            ["stablehlo.convolution", "stablehlo.maximum"],
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_derivatives(name: str, recipe: str, ops: list[str]) -> None:
    module = mlir_fp8.load(PROGRAMS / f"{name}.mlir")
    arguments, _ = entry_signature(module)
    rng = np.random.default_rng(0)
    values = [rng.normal(0, 0.5, each.shape).astype(each.dtype) for each in arguments]
    made = mlir_fp8.quantize(module, recipe, ops=ops)
    results = after_steps(mlir_fp8.compile(made.module), made, values)
    # A gradient in f8E5M2 is a few percent off at each layer.
    for ours, reference in zip(results, mlir_fp8.compile(module)(*values), strict=True):
        assert distance(ours, reference) < 0.3

    # Composites, and the state in attributes, cross to consumers that know nothing of this dialect.
    run_pipeline(made.module, ["fp8-to-composite"])
    received = mlir_fp8.deserialize(mlir_fp8.serialize(made.module, "1.0.0"))
    assert list(initial_state(received)) == list(made.state)
    again = after_steps(mlir_fp8.compile(received), made, values)
    for ours, reference in zip(again, results, strict=True):
        np.testing.assert_array_equal(ours, reference)


@pytest.mark.exhaustive
def test_a_transformer_in_training() -> None:
    """Its own quantizers are removed first: what they say of gradients, the rule finds again."""
    module = mlir_fp8.load(TRAIN_STEP.with_suffix(".mlir"))
    with np.load(TRAIN_STEP.with_suffix(".in.npz")) as archive:
        values = [array for _, array in restored(archive)]
    run_pipeline(module, ["fp8-remove-quantizers"])
    made = mlir_fp8.quantize(module, "delayed", skip_batched=True)
    # x and w of five layers in f8E4M3FN, of each layer one gradient in f8E5M2.
    assert len(made.state) == 2 * 15
    results = after_steps(mlir_fp8.compile(made.module), made, values, steps=2)
    reference = mlir_fp8.compile(module)(*values)
    assert abs(results[0] - reference[0]) < 0.01 * reference[0]
    for name, before, ours, wanted in zip(
        WEIGHTS, values, results[1:], reference[1:], strict=False
    ):
        if name != "s":  # scales of the program's own quantizers, which nothing reads
            assert distance(ours - before, wanted - before) < 0.2, name


def test_tensors_without_elements() -> None:
    module = mlir_fp8.load("""
    func.func @main(%a: tensor<3x0xf32>, %b: tensor<0x5xf32>, %c: tensor<0x3xf32>)
        -> (tensor<3x5xf32>, tensor<0x5xf32>) {
      %0 = stablehlo.dot %a, %b : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
      %1 = stablehlo.dot %c, %0 : (tensor<0x3xf32>, tensor<3x5xf32>) -> tensor<0x5xf32>
      return %0, %1 : tensor<3x5xf32>, tensor<0x5xf32>
    }""")
    arguments = [np.zeros(shape, np.float32) for shape in ((3, 0), (0, 5), (0, 3))]
    for recipe in ("delayed", "current"):
        made = mlir_fp8.quantize(module, recipe)
        results = after_steps(mlir_fp8.compile(made.module), made, arguments)
        np.testing.assert_array_equal(results[0], np.zeros((3, 5), np.float32))
        assert results[1].shape == (0, 5)
