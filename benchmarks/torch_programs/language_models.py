"""Language models, from their published configurations cut to two layers."""

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.torch_programs.hugging_face import LAYERS, of_config, tokens
from benchmarks.torch_programs.program import Made, Program, seeded

VOCABULARY = 32000
"""Where the published one is larger, but for Llama."""
Sizes = dict[str, Any]


def _decoder(
    model: str, config: str, sizes: Sizes, tiny: Sizes, length: int = 64
) -> Callable[[bool], Made]:
    """A decoder that predicts the next token."""

    def make(is_tiny: bool) -> Made:
        values = {"use_cache": False, **sizes, **(tiny if is_tiny else {})}
        rows = tokens(1, 8 if is_tiny else length, values["vocab_size"])
        return Made(of_config(model, config, **values), {"input_ids": rows}, {"labels": rows})

    return seeded(make)


_TINY = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": 96,
}
LLAMA = {
    "vocab_size": 128256,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 32.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
    },
    "tie_word_embeddings": True,
}
QWEN3_MOE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "num_experts": 16,  # of 128
    "num_experts_per_tok": 8,
    "norm_topk_prob": True,
    "rope_theta": 1000000.0,
}
MIXTRAL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 1,  # 1.4 billion weights each
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 2,  # of 8
    "num_experts_per_tok": 2,
    "rope_theta": 1000000.0,
}
GEMMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 2048,
    "intermediate_size": 16384,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "num_key_value_heads": 1,
    "head_dim": 256,
}
PHI = {
    "vocab_size": VOCABULARY,
    "hidden_size": 2560,
    "intermediate_size": 10240,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 32,
    "partial_rotary_factor": 0.4,
}
GPT2 = {"vocab_size": 50257, "n_embd": 768, "n_layer": LAYERS, "n_head": 12, "n_positions": 1024}
BERT = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 12,
}
DISTILBERT = {
    "vocab_size": 30522,
    "dim": 768,
    "hidden_dim": 3072,
    "n_layers": LAYERS,
    "n_heads": 12,
}
T5 = {
    "vocab_size": 32128,
    "d_model": 512,
    "d_kv": 64,
    "d_ff": 2048,
    "num_layers": LAYERS,
    "num_decoder_layers": LAYERS,
    "num_heads": 8,
    "decoder_start_token_id": 0,
}
MAMBA = {
    "vocab_size": 50280,
    "hidden_size": 768,
    "state_size": 16,
    "num_hidden_layers": LAYERS,
    "expand": 2,
    "conv_kernel": 4,
    "time_step_rank": 48,
}


def _llama_decode(is_tiny: bool) -> Made:
    """One row, with keys and values of the rows before it."""
    values = {**LLAMA, **(_TINY if is_tiny else {})}
    past = 7 if is_tiny else 255
    model = of_config("LlamaForCausalLM", "LlamaConfig", **values)
    shape = (1, values["num_key_value_heads"], past, values["head_dim"])
    cache = [torch.randn(shape) for _ in range(2 * LAYERS)]
    return Made(
        Decoding(model),
        {"token": tokens(1, 1, values["vocab_size"]), "cache": cache},
    )


class Decoding(torch.nn.Module):
    """A decoder that takes and gives its cache: keys and values of the layers in turn."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, token: torch.Tensor, cache: list[torch.Tensor]) -> Any:
        """Logits of the next token, and the longer cache."""
        from transformers import DynamicCache

        pairs = list(zip(cache[::2], cache[1::2], strict=True))
        given = self.model(input_ids=token, past_key_values=DynamicCache(pairs), use_cache=True)
        layers = given.past_key_values.layers
        return given.logits, [each for layer in layers for each in (layer.keys, layer.values)]


def _t5(is_tiny: bool) -> Made:
    tiny = {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4}
    values = {"use_cache": False, **T5, **(tiny if is_tiny else {})}
    source, target = tokens(1, 16, values["vocab_size"]), tokens(1, 8, values["vocab_size"])
    model = of_config("T5ForConditionalGeneration", "T5Config", **values)
    inputs = {"input_ids": source, "decoder_input_ids": target}
    return Made(model, inputs, {"labels": target})


def _program(name: str, make: Callable[[bool], Made], *, trains: bool = False) -> Program:
    return Program(name, make, "transformers", trains)


_TINY_GPT2 = {"vocab_size": 96, "n_embd": 32, "n_head": 4}
_TINY_BERT = {key: each for key, each in _TINY.items() if "key" not in key and key != "head_dim"}
_TINY_DISTILBERT = {"vocab_size": 96, "dim": 32, "hidden_dim": 48, "n_heads": 4}
_TINY_MOE = {**_TINY, "moe_intermediate_size": 24, "num_experts": 4, "num_experts_per_tok": 2}
_TINY_MAMBA = {"vocab_size": 96, "hidden_size": 32, "time_step_rank": 4}
PROGRAMS = (
    _program(
        "Llama 3.2 1B", _decoder("LlamaForCausalLM", "LlamaConfig", LLAMA, _TINY), trains=True
    ),
    _program("Llama 3.2 1B, decoding", seeded(_llama_decode)),
    _program("GPT-2", _decoder("GPT2LMHeadModel", "GPT2Config", GPT2, _TINY_GPT2), trains=True),
    _program("BERT base", _decoder("BertForMaskedLM", "BertConfig", BERT, _TINY_BERT), trains=True),
    _program(
        "DistilBERT",
        _decoder("DistilBertForMaskedLM", "DistilBertConfig", DISTILBERT, _TINY_DISTILBERT),
        trains=True,
    ),
    _program(
        "Qwen3 30B A3B, 16 experts",
        _decoder("Qwen3MoeForCausalLM", "Qwen3MoeConfig", QWEN3_MOE, _TINY_MOE),
        trains=True,
    ),
    _program(
        "Mixtral 8x7B, 1 layer of 2 experts",
        _decoder("MixtralForCausalLM", "MixtralConfig", MIXTRAL, {**_TINY, "num_local_experts": 4}),
    ),
    _program("Gemma 2B", _decoder("GemmaForCausalLM", "GemmaConfig", GEMMA, _TINY)),
    _program(
        "Phi 2",
        _decoder("PhiForCausalLM", "PhiConfig", PHI, {**_TINY_BERT, "hidden_size": 40}),
        trains=True,
    ),
    _program("T5 small", seeded(_t5), trains=True),
    _program(
        "Mamba 130M",
        _decoder("MambaForCausalLM", "MambaConfig", MAMBA, _TINY_MAMBA, length=16),
        trains=True,
    ),
)
