"""GPT-2 and Llama in JAX, as steps that take a KV cache and give it back, one sequence at a time.

`step_of` is both the prefill (of many tokens) and the decode (of one). Tensors have the names and
shapes of their checkpoints on Hugging Face.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]
from torch_mlir import ir

import mlir_fp8

Tensors = Mapping[str, Any]
Attend = Callable[[int, Any, Any, Any], Any]
"""Of a layer's number and its q, k and v, [tokens, heads, head]: [tokens, width]."""
ROPE = {"factor": 32.0, "low": 1.0, "high": 4.0, "original": 8192}
"""Llama 3.2's `rope_scaling`."""


@dataclass(frozen=True)
class Sizes:
    """What a model is, but for its weights."""

    family: str
    """gpt2 or llama."""
    layers: int
    width: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int
    positions: int
    head: int = 64
    epsilon: float = 1e-5
    theta: float = 500000.0
    rope: Mapping[str, float] | None = None
    is_tied: bool = True
    """Whether the table of tokens is the last product's weight too; gpt2's always is."""
    is_plain: bool = False
    """A gpt2 without positions, biases and a last norm."""


GPT2 = Sizes("gpt2", 12, 768, 12, 12, 3072, 50257, 1024)
LLAMA = Sizes("llama", 16, 2048, 32, 8, 8192, 128256, 131072, rope=ROPE)
SMALL = Sizes("gpt2", 1, 64, 4, 4, 256, 128, 64, head=16, is_plain=True)
"""What examples/train_fp8.py trains."""
MODELS = {"gpt2": GPT2, "llama-1b": LLAMA}


def shapes_of(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor, by its name."""
    of = _llama_layer if sizes.family == "llama" else _gpt2_layer
    prefix = "model.layers" if sizes.family == "llama" else "h"
    layers = {
        f"{prefix}.{layer}.{name}": shape
        for layer in range(sizes.layers)
        for name, shape in of(sizes).items()
    }
    width, table = sizes.width, (sizes.vocabulary, sizes.width)
    if sizes.family == "llama":
        head = {} if sizes.is_tied else {"lm_head.weight": table}
        first = {"model.embed_tokens.weight": table}
        return {**first, **layers, "model.norm.weight": (width,), **head}
    if sizes.is_plain:
        return {"wte.weight": table, **layers}
    last = {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    return {"wte.weight": table, "wpe.weight": (sizes.positions, width), **layers, **last}


def _gpt2_layer(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    width, inner = sizes.width, sizes.inner
    matrices = {
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, inner),
        "mlp.c_proj": (inner, width),
    }
    found: dict[str, tuple[int, ...]] = {}
    for norm in ("ln_1", "ln_2"):
        found |= {f"{norm}.weight": (width,), f"{norm}.bias": (width,)}
    for name, shape in matrices.items():
        found[f"{name}.weight"] = shape
        if not sizes.is_plain:
            found[f"{name}.bias"] = shape[1:]
    return found


def _llama_layer(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    width, inner = sizes.width, sizes.inner
    own, shared = sizes.heads * sizes.head, sizes.kv_heads * sizes.head
    return {
        "input_layernorm.weight": (width,),
        "post_attention_layernorm.weight": (width,),
        "self_attn.q_proj.weight": (own, width),
        "self_attn.k_proj.weight": (shared, width),
        "self_attn.v_proj.weight": (shared, width),
        "self_attn.o_proj.weight": (width, own),
        "mlp.gate_proj.weight": (inner, width),
        "mlp.up_proj.weight": (inner, width),
        "mlp.down_proj.weight": (width, inner),
    }


def cache_of(sizes: Sizes, context: int) -> dict[str, jax.ShapeDtypeStruct]:
    """The arrays of a cache of `context` tokens: k and v of each layer."""
    shape = (sizes.kv_heads, context, sizes.head)
    names = [f"{which}.{layer}" for layer in range(sizes.layers) for which in "kv"]
    return {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name in names}


def text_of(
    sizes: Sizes, count: int, context: int, *, all_logits: bool = False, is_greedy: bool = False
) -> str:
    """`step_of` of `count` tokens as StableHLO, its cache donated.

    Arguments: weights in the order of their names, tokens i32 [count], at i32, the cache's arrays
    in the order of their names, which are results too, after the logits, and before the next token.
    """
    float32, int32 = jnp.float32, jnp.int32
    weights = {name: jax.ShapeDtypeStruct(of, float32) for name, of in shapes_of(sizes).items()}
    tokens, at = jax.ShapeDtypeStruct((count,), int32), jax.ShapeDtypeStruct((), int32)
    cache = cache_of(sizes, context)
    made = step_of(sizes, all_logits=all_logits, is_greedy=is_greedy)
    step = jax.jit(made, donate_argnums=3, keep_unused=True)
    return step.lower(weights, tokens, at, cache).as_text()


def module_of(sizes: Sizes, count: int, context: int, **options: bool) -> ir.Module:
    """`text_of` as a module whose arguments have the names of the tensors."""
    made = mlir_fp8.load(text_of(sizes, count, context, **options))
    entry: Any = made.body.operations[0]
    cache = cache_of(sizes, context)
    names = [*sorted(shapes_of(sizes)), "tokens", "at", *sorted(cache)]
    with made.context:
        entry.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [_named(*each) for each in zip(entry.attributes["arg_attrs"], names, strict=True)]
        )
    return made


def _named(attributes: Any, name: str) -> ir.Attribute:
    given = {each.name: each.attr for each in attributes}
    return ir.DictAttr.get({**given, "mlir_fp8.name": ir.StringAttr.get(name)})


def step_of(
    sizes: Sizes, *, all_logits: bool = False, is_greedy: bool = False
) -> Callable[..., Any]:
    """A function of weights, tokens [n], the place of the first one, and the cache.

    It gives the logits of the last token, f32 [1, vocabulary], or of all tokens, and the cache; if
    it is greedy, the likeliest next token too, i32 [1].
    """
    run = _llama if sizes.family == "llama" else _gpt2

    def step(weights: Tensors, tokens: Any, at: Any, cache: Tensors) -> Any:
        kept = dict(cache)

        def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
            return _attention(sizes, kept, layer, at, q, k, v)

        x, head = run(sizes, weights, tokens, at, attend)
        logits = (x if all_logits else x[-1:]) @ head.T
        if not is_greedy:
            return logits, kept
        return logits, kept, jnp.argmax(logits[-1:], axis=-1).astype(jnp.int32)

    return step


def _attention(
    sizes: Sizes, cache: dict[str, Any], layer: int, at: Any, q: Any, k: Any, v: Any
) -> Any:
    """Writes k and v into the cache, and attends to what it has up to each token."""
    count, context = q.shape[0], cache[f"k.{layer}"].shape[1]
    _write(cache, f"k.{layer}", jnp.swapaxes(k, 0, 1), at)
    _write(cache, f"v.{layer}", jnp.swapaxes(v, 0, 1), at)
    q = q.reshape(count, sizes.kv_heads, -1, sizes.head) / np.float32(np.sqrt(sizes.head))
    scores = jnp.einsum("nhgd,htd->hgnt", q, cache[f"k.{layer}"])
    seen = _count(context)[None] <= at + _count(count)[:, None]
    shares = jax.nn.softmax(jnp.where(seen, scores, np.float32(-1e30)), axis=-1)
    read = jnp.einsum("hgnt,htd->nhgd", shares, cache[f"v.{layer}"])
    return read.reshape(count, -1)


def _write(cache: dict[str, Any], name: str, rows: Any, at: Any) -> None:
    """`rows`, [heads, tokens, head], to their place."""
    zero = np.int32(0)
    cache[name] = lax.dynamic_update_slice(cache[name], rows, (zero, at, zero))


def _gpt2(sizes: Sizes, w: Tensors, tokens: Any, at: Any, attend: Attend) -> tuple[Any, Any]:
    def linear(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"] + w.get(f"{name}.bias", np.float32(0))

    def norm(x: Any, name: str) -> Any:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(centred * centred, axis=-1, keepdims=True)
        unit = centred * lax.rsqrt(variance + np.float32(sizes.epsilon))
        return unit * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = _rows(w["wte.weight"], tokens)
    if "wpe.weight" in w:
        x = x + _rows(w["wpe.weight"], at + _count(tokens.shape[0]))
    for layer in range(sizes.layers):
        own = f"h.{layer}"
        qkv = linear(norm(x, f"{own}.ln_1"), f"{own}.attn.c_attn")
        q, k, v = (each.reshape(-1, sizes.heads, sizes.head) for each in jnp.split(qkv, 3, axis=-1))
        x = x + linear(attend(layer, q, k, v), f"{own}.attn.c_proj")
        inner = jax.nn.gelu(linear(norm(x, f"{own}.ln_2"), f"{own}.mlp.c_fc"), approximate=True)
        x = x + linear(inner, f"{own}.mlp.c_proj")
    return norm(x, "ln_f") if "ln_f.weight" in w else x, w["wte.weight"]


def _llama(sizes: Sizes, w: Tensors, tokens: Any, at: Any, attend: Attend) -> tuple[Any, Any]:
    def linear(x: Any, name: str) -> Any:
        return x @ w[f"{name}.weight"].T

    def norm(x: Any, name: str) -> Any:
        square = jnp.mean(x * x, axis=-1, keepdims=True)
        return x * lax.rsqrt(square + np.float32(sizes.epsilon)) * w[f"{name}.weight"]

    table = w["model.embed_tokens.weight"]
    x = _rows(table, tokens)
    angles = (at + _count(tokens.shape[0])).astype(jnp.float32)[:, None] * frequencies(sizes)
    cosine, sine = (f(jnp.concatenate([angles, angles], -1))[:, None] for f in (jnp.cos, jnp.sin))

    def turned(x: Any) -> Any:
        first, second = jnp.split(x, 2, axis=-1)
        return x * cosine + jnp.concatenate([-second, first], -1) * sine

    for layer in range(sizes.layers):
        own = f"model.layers.{layer}"
        inputs = norm(x, f"{own}.input_layernorm")
        q, k, v = (
            linear(inputs, f"{own}.self_attn.{name}_proj").reshape(len(tokens), -1, sizes.head)
            for name in "qkv"
        )
        x = x + linear(attend(layer, turned(q), turned(k), v), f"{own}.self_attn.o_proj")
        inputs = norm(x, f"{own}.post_attention_layernorm")
        gate = jax.nn.silu(linear(inputs, f"{own}.mlp.gate_proj"))
        x = x + linear(gate * linear(inputs, f"{own}.mlp.up_proj"), f"{own}.mlp.down_proj")
    return norm(x, "model.norm"), w.get("lm_head.weight", table)


def frequencies(sizes: Sizes) -> np.ndarray:
    """RoPE's, f32 [head / 2]; low ones are scaled as "llama3" of transformers does."""
    base = 1 / sizes.theta ** (np.arange(0, sizes.head, 2) / sizes.head)
    if sizes.rope is None:
        return base.astype(np.float32)
    factor, low, high = (sizes.rope[name] for name in ("factor", "low", "high"))
    turns = sizes.rope["original"] * base / (2 * np.pi)
    smooth = np.clip((turns - low) / (high - low), 0, 1)
    return ((1 - smooth) * base / factor + smooth * base).astype(np.float32)


def _count(size: int) -> Any:
    return jnp.arange(size, dtype=jnp.int32)


def _rows(table: Any, index: Any) -> Any:
    return jnp.take(table, index, axis=0, mode="clip")
