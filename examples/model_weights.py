"""Weights of examples/language_models.py: random, or of a checkpoint's folder."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from language_models import MODELS, ROPE, Sizes, shapes_of

import mlir_fp8

DEVIATION = 0.02
"""Of random weights, as both models start their training with."""

KNOWN = {
    "activation_function": "gelu_new",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
}
"""What a `config.json` may say of these."""


class _Weights(Mapping[str, np.ndarray]):
    """The weights of a model by name; which there are is known without making or reading one."""

    def __init__(self, sizes: Sizes) -> None:
        self._shapes = shapes_of(sizes)

    def __contains__(self, name: object) -> bool:
        return name in self._shapes

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)


class RandomWeights(_Weights):
    """Normal numbers, norms of one and biases of zero: made when asked for, the same each time."""

    def __getitem__(self, name: str) -> np.ndarray:
        shape = self._shapes[name]
        if len(shape) == 1:
            return np.full(shape, 0 if name.endswith("bias") else 1, np.float32)
        random = np.random.default_rng(zlib.crc32(name.encode()))
        return random.standard_normal(shape, np.float32) * np.float32(DEVIATION)


class CheckpointWeights(_Weights):
    """Those of a checkpoint in f32, f8 ones dequantized: read when asked for.

    `Fp8Error` names a tensor that is missing, or of another shape.
    """

    def __init__(self, sizes: Sizes, checkpoint: mlir_fp8.Checkpoint) -> None:
        super().__init__(sizes)
        self._names = {model_name(name): name for name in [*checkpoint.others, *checkpoint.weights]}
        self._checkpoint = checkpoint
        for name in self._shapes:
            if name not in self._names:
                raise mlir_fp8.Fp8Error(f"'{checkpoint.path}': tensor '{name}' is missing")

    def __getitem__(self, name: str) -> np.ndarray:
        held = self._names[name]
        weight = self._checkpoint.weights.get(held)
        array = self._checkpoint.others[held] if weight is None else weight.dequantized()
        if array.shape != self._shapes[name]:
            shapes = f"{list(array.shape)}, not {list(self._shapes[name])}"
            raise mlir_fp8.Fp8Error(f"'{self._checkpoint.path}': tensor '{held}' is {shapes}")
        return np.ascontiguousarray(array, np.float32)


def read_checkpoint(folder: Path) -> mlir_fp8.Checkpoint:
    """The tensors of a checkpoint in FP8, or in wide types alone."""
    files = sorted(folder.glob("*.safetensors.index.json")) or sorted(folder.glob("*.safetensors"))
    if len(files) == 1:
        arrays = mlir_fp8.load_arrays(files[0])
        if not any("float8" in each.dtype.name for each in arrays.values()):
            return mlir_fp8.Checkpoint(str(files[0]), {}, arrays)
    return mlir_fp8.load_checkpoint(folder)


def model_name(name: str) -> str:
    """The name in a checkpoint of GPT-2, which has a prefix or not, as it is here."""
    return name.removeprefix("transformer.")


def ignored(sizes: Sizes, checkpoint: mlir_fp8.Checkpoint) -> Sequence[str]:
    """Tensors that no argument takes: tied heads, masks, buffers."""
    shapes = shapes_of(sizes)
    names = [*checkpoint.others, *checkpoint.weights]
    return [name for name in names if model_name(name) not in shapes]


def sizes_in(folder: Path) -> Sizes:
    """What the `config.json` of a checkpoint says; `Fp8Error` for what is no such model."""
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        kind = config["model_type"]
        for key, value in KNOWN.items():
            if config.get(key, value) != value:
                reason = f"its {key} is {config[key]!r}: give {value!r}"
                raise mlir_fp8.Fp8Error(f"'{folder}': {reason}")
        if kind == "gpt2":
            return _gpt2(config)
        if kind == "llama":
            return _llama(folder, config)
    except (OSError, KeyError, TypeError, ValueError) as error:
        reason = f"its config.json is none of GPT-2 or Llama: {error!r}"
        raise mlir_fp8.Fp8Error(f"'{folder}': {reason}") from None
    raise mlir_fp8.Fp8Error(f"'{folder}': it is a model of type '{kind}': give gpt2 or llama")


def _gpt2(config: Mapping[str, Any]) -> Sizes:
    width, heads = config["n_embd"], config["n_head"]
    return replace(
        MODELS["gpt2"],
        layers=config["n_layer"],
        width=width,
        heads=heads,
        kv_heads=heads,
        inner=config.get("n_inner") or 4 * width,
        vocabulary=config["vocab_size"],
        positions=config["n_positions"],
        head=width // heads,
        epsilon=config.get("layer_norm_epsilon", 1e-5),
    )


def _llama(folder: Path, config: Mapping[str, Any]) -> Sizes:
    width, heads = config["hidden_size"], config["num_attention_heads"]
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", "default")
    if kind not in ("default", "llama3"):
        raise mlir_fp8.Fp8Error(f"'{folder}': its rope_type is '{kind}': give default or llama3")
    scaling = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    return replace(
        MODELS["llama-1b"],
        layers=config["num_hidden_layers"],
        width=width,
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        inner=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        head=config.get("head_dim") or width // heads,
        epsilon=config["rms_norm_eps"],
        theta=rope.get("rope_theta") or config.get("rope_theta", 10000.0),
        rope=dict(zip(ROPE, (rope[name] for name in scaling), strict=True))
        if kind == "llama3"
        else None,
        is_tied=config.get("tie_word_embeddings", False),
    )
