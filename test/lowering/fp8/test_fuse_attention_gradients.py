"""What `fp8-fuse-attention-gradients` finds in JAX's training steps, its values, what it leaves."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.passes.pass_pipeline import run_pipeline

pytest.importorskip("jax")
from attention_gradient_programs import BF16, FOUND, LEFT, WHOLE, Training, einsum

FUSE = "fp8-fuse-attention-gradients{remarks=true}"


@pytest.mark.parametrize("name", list(FOUND))
def test_gradients_are_those_of_jax(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = FOUND[name]
    module = mlir_fp8.load(case.text())
    run_pipeline(module, [FUSE])
    assert module.operation.verify()
    assert "attention with gradients is two ops" in capsys.readouterr().err
    text = str(module)
    assert text.count('"fp8.attention"') == text.count('"fp8.attention_backward"') == 1
    if name == "computed_twice":  # the forward pass has a softmax of its own
        assert text.count("stablehlo.exponential") == 1
        run_pipeline(module, ["fp8-fuse-attention"])
        text = str(module)
    assert "stablehlo.exponential" not in text and "stablehlo.dot_general" not in text
    found = mlir_fp8.compile(module)(*case.arrays())
    last = 2e-2 if case.element == BF16 else 1e-5
    for got, want in zip(found, case.wanted(), strict=True):
        size = np.abs(want).max()
        np.testing.assert_allclose(got.astype(np.float32) / size, want / size, atol=last)


@pytest.mark.parametrize("name", list(LEFT))
def test_what_is_left_stays_as_it_is_and_a_remark_says_why(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reason, attention = LEFT[name]
    module = mlir_fp8.load(Training(attention, WHOLE).text())
    run_pipeline(module, [FUSE])
    assert '"fp8.' not in str(module)
    said = capsys.readouterr().err
    assert "attention with gradients stays as it is" in said and reason in said
    assert said.count("\n") == 1


def test_a_softmax_without_gradients_is_no_matter_of_the_pass(
    capsys: pytest.CaptureFixture[str],
) -> None:
    import jax  # pyright: ignore[reportMissingImports]

    case = FOUND["einsum"]
    text = jax.jit(case.attention).lower(*case.types(case.element)[:3]).as_text()
    module = mlir_fp8.load(text)
    run_pipeline(module, [FUSE])
    assert '"fp8.' not in str(module) and not capsys.readouterr().err


def test_the_pipeline_puts_kernels_in_and_says_so_of_both() -> None:
    case = Training(einsum(causal=True), tuple((1, 64, 2, 64) for _ in WHOLE), BF16)  # pyright: ignore[reportArgumentType]
    module = mlir_fp8.load(case.text())
    run_pipeline(module, ["quantize-for-xla-gpu-pipeline{recipe=current kernels=h200 attention}"])
    calls = list(operations(module.operation, "stablehlo.custom_call"))
    names = [str(each.attributes["backend_config"]) for each in calls]
    for name in ('"attention"', '"attention_backward_keys"', '"attention_backward_queries"'):
        assert sum(f"name = {name}" in each for each in names) == 1
    assert "stablehlo.dot_general" not in str(module)


def test_in_f8_gradients_are_near_those_of_jax() -> None:
    """Of q, k, v and probabilities in f8 in the forward pass, as without kernels."""
    case = FOUND["causal_bf16"]
    module = mlir_fp8.load(case.text())
    passes = ["fp8-fuse-attention-gradients", "fp8-quantize-attention", "fp8-legalize-to-stablehlo"]
    run_pipeline(module, passes)
    found = mlir_fp8.compile(module)(*case.arrays())
    for got, want in zip(found, case.wanted(), strict=True):
        distance = np.linalg.norm(got.astype(np.float32) - want) / np.linalg.norm(want)
        assert distance < 0.1
