"""Training steps of Hugging Face models by `torch.compile`, from their configurations."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
pytest.importorskip("transformers", reason="pip install transformers")

import torch
import transformers

pytestmark = pytest.mark.exhaustive  # each compiles for some ten seconds


def _llama() -> Any:
    config = transformers.LlamaConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=256,
    )
    return transformers.LlamaForCausalLM(config)


def _gpt2() -> Any:
    config = transformers.GPT2Config(
        n_embd=64,
        n_layer=2,
        n_head=4,
        vocab_size=256,
        n_positions=64,
        bos_token_id=0,
        eos_token_id=0,
    )
    return transformers.GPT2LMHeadModel(config)


@pytest.mark.parametrize("make", [_llama, _gpt2])
def test_training_steps_are_eagers(make: Callable[[], Any]) -> None:
    """GPT-2's has dropout, whose numbers are eager's."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, ids = make(), torch.randint(0, 256, (2, 12))

    def step(forward: Any) -> list[torch.Tensor]:
        torch.manual_seed(1)
        model.zero_grad()
        logits = forward(input_ids=ids, use_cache=False).logits
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()).backward()
        return [logits.detach(), *(each.grad.clone() for each in model.parameters())]

    compiled = torch.compile(model.train(), backend="mlir_fp8", fullgraph=True)
    names = ["logits", *(name for name, _ in model.named_parameters())]
    for name, got, expected in zip(names, step(compiled), step(model), strict=True):
        error = (got - expected).norm() / expected.norm()
        assert error <= 1e-6, name
