"""GPT-2 with a KV cache in PyTorch, as one writes there what examples/language_models.py does."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.peers import module


def step_of(sizes: Any, weights: Mapping[str, np.ndarray], context: int) -> Callable[..., Any]:
    """A function of tokens and the place of the first: the last one's logits, f32 [1, vocabulary].

    Its cache, of `context` tokens, is written in place; it attends to those that are there.
    """
    torch = module("torch")
    functional = torch.nn.functional
    w = {name: torch.from_numpy(array) for name, array in weights.items()}
    shape = (sizes.heads, context, sizes.head)
    caches = [[torch.zeros(shape) for _ in range(2)] for _ in range(sizes.layers)]

    def norm(x: Any, name: str) -> Any:
        of = (w[f"{name}.weight"], w[f"{name}.bias"])
        return functional.layer_norm(x, (sizes.width,), *of, sizes.epsilon)

    def linear(x: Any, name: str) -> Any:
        return torch.addmm(w[f"{name}.bias"], x, w[f"{name}.weight"])

    def step(tokens: Any, at: int) -> Any:
        count = tokens.shape[0]
        x = w["wte.weight"][tokens] + w["wpe.weight"][at : at + count]
        for layer, (keys, values) in enumerate(caches):
            own = f"h.{layer}"
            qkv = linear(norm(x, f"{own}.ln_1"), f"{own}.attn.c_attn")
            q, k, v = (
                each.view(count, sizes.heads, sizes.head).transpose(0, 1)
                for each in qkv.split(sizes.width, -1)
            )
            keys[:, at : at + count], values[:, at : at + count] = k, v
            read = functional.scaled_dot_product_attention(
                q[None],
                keys[None, :, : at + count],
                values[None, :, : at + count],
                is_causal=count > 1,
            )
            joined = read[0].transpose(0, 1).reshape(count, sizes.width)
            x = x + linear(joined, f"{own}.attn.c_proj")
            inner = linear(norm(x, f"{own}.ln_2"), f"{own}.mlp.c_fc")
            inner = functional.gelu(inner, approximate="tanh")
            x = x + linear(inner, f"{own}.mlp.c_proj")
        return functional.linear(norm(x[-1:], "ln_f"), w["wte.weight"])

    return step
