"""KV caches of PyTorch programs in f8: buffers of modules, the static cache of transformers."""

import copy
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("torch.nn")

import torch

import mlir_fp8.torch

HEADS, TOKENS, SIZE = 2, 12, 8


class Attention(torch.nn.Module):
    """Of one token, with a cache of which `write` writes a row."""

    def __init__(self, write: str) -> None:
        super().__init__()
        self.write = write
        self.register_buffer("k", torch.zeros(1, HEADS, TOKENS, SIZE))
        self.register_buffer("v", torch.zeros(1, HEADS, TOKENS, SIZE))

    def put(self, cache: Any, row: torch.Tensor, at: torch.Tensor) -> None:
        match self.write:
            case "index_copy":
                cache.index_copy_(2, at, row)
            case "index_put":
                cache[:, :, at] = row
            case "scatter":
                places = at[None, None, :, None].expand(1, HEADS, -1, SIZE)
                cache.scatter_(2, places, row)
            case _:
                here = (torch.arange(TOKENS) == at)[None, None, :, None]
                cache.copy_(torch.where(here, row, cache))

    def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        self.put(self.k, x.sin(), at)
        self.put(self.v, x.cos(), at)
        keys: Any = self.k
        scores = x @ keys.transpose(-1, -2)
        scores = torch.where(torch.arange(TOKENS)[None] <= at[:, None], scores, -1e30)
        return torch.softmax(scores, -1) @ self.v


def token(number: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(number)
    return torch.randn(1, HEADS, 1, SIZE), torch.tensor([number])


@pytest.mark.parametrize("write", ["index_copy", "index_put", "scatter", "where"])
def test_rows_of_buffers_are_quantized(write: str) -> None:
    model = Attention(write)
    exported = mlir_fp8.torch.export(copy.deepcopy(model), token(0))
    small = exported.quantize(weights=[], cache=["k", "v"])
    assert small.results[-2:] == ("k_scale (written)", "v_scale (written)")
    for number in range(4):
        x, at = token(number)
        got, wanted = small(x, at), model(x, at)
        assert (got - wanted).norm() / wanted.norm() < 0.05
        row = x.sin()[0, :, 0].numpy()
        scale = np.abs(row).max(-1) / np.float32(448)
        np.testing.assert_allclose(small.state["k_scale"][0, :, number, 0], scale, rtol=1e-6)
        codes = small.state["k"][0, :, number].float().numpy()
        np.testing.assert_allclose(codes * scale[:, None], row, rtol=0.07, atol=1e-3)
    assert small.state["k"].dtype == torch.float8_e4m3fn
    assert not small.state["k"][:, :, 4:].float().any()


def test_what_a_cache_holds_is_quantized_once() -> None:
    model = Attention("index_copy")
    model(*token(0))
    exported = mlir_fp8.torch.export(copy.deepcopy(model), token(0))
    small = exported.quantize(weights=[], cache=["k", "v"])
    wide: Any = model.k
    np.testing.assert_allclose(
        small.state["k"].float() * small.state["k_scale"], wide, rtol=0.07, atol=1e-3
    )
    got, wanted = small(*token(1)), model(*token(1))
    assert (got - wanted).norm() / wanted.norm() < 0.05


def test_a_call_of_mlir_updates_in_place() -> None:
    exported = mlir_fp8.torch.export(Attention("index_copy"), token(0))
    made = mlir_fp8.quantize(exported.mlir, cache=["k", "v"])
    call = mlir_fp8.compile(made.module, donate=made.donate)
    arrays = made.empty_caches()
    results = call(*made.arguments(arrays, *(each.numpy() for each in token(2))))
    assert results[0] is arrays["k"] and arrays["k"].dtype == ml_dtypes.float8_e4m3fn
    assert np.flatnonzero(arrays["k"].view(np.uint8).any((0, 1, 3))).tolist() == [2]


def test_a_cache_that_is_no_state_is_refused() -> None:
    class Given(torch.nn.Module):
        def forward(self, c: torch.Tensor, x: torch.Tensor) -> Any:
            c.index_copy_(1, torch.tensor([1]), x)
            return x @ c.transpose(-1, -2)

    arguments = (torch.zeros(2, 8, 4), torch.ones(2, 1, 4))
    exported = mlir_fp8.torch.export(Given(), arguments)
    with pytest.raises(mlir_fp8.Fp8Error, match="cache 'c' is no state of the model: quantize"):
        exported.quantize(weights=[], cache=["c"])


def test_a_llama_of_transformers() -> None:
    transformers: Any = pytest.importorskip("transformers")
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        num_hidden_layers=1, hidden_size=64, intermediate_size=96, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=128, max_position_embeddings=64,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval().requires_grad_(False)
    model.generation_config.cache_implementation = "static"
    held = TorchExportableModuleWithStaticCache(model, batch_size=1, max_cache_len=16, device="cpu")
    first = {"input_ids": torch.tensor([[5]]), "cache_position": torch.tensor([0])}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = mlir_fp8.torch.export(held, (), first, strict=True)
    small = exported.quantize(weights=[], cache=["key_cache_*", "value_cache_*"])
    assert small.state["key_cache_0"].dtype == torch.float8_e4m3fn
    assert small.state["key_cache_0_scale"].shape == (1, 2, 16, 1)
    ids = torch.tensor([[5, 77, 3, 12]])
    with torch.no_grad():
        wanted = model(ids, use_cache=False).logits
    for at in range(4):
        given = {"input_ids": ids[:, at : at + 1], "cache_position": torch.tensor([at])}
        error = small(**given) - wanted[:, at]
        assert 1e-5 < error.norm() / wanted[:, at].norm() < 0.05
