"""`quantization_config` of a checkpoint's config.json: what it says of the scales of a weight."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Activation
from mlir_fp8.checkpoints.scale_layout import (
    Block,
    channel_block,
    group_block,
    tensor_block,
    tile_block,
)
from mlir_fp8.tensors.file_entry import guarded

CONFIG = "config.json"
_MODELOPT_CONFIG = "hf_quant_config.json"


@dataclass(frozen=True)
class Scheme:
    """How weights are scaled, by their rank (None: as their shapes say), and activations."""

    block: Callable[[int], Block] | None = None
    activation: Activation | None = None


Schemes = Callable[[str], Scheme]
"""The scheme of a weight in f8, by its name."""


def read_schemes(folder: Path) -> Schemes:
    """What the files beside the weights say; nothing where there are none.

    Known are compressed-tensors, modelopt, fp8 (DeepSeek's and AutoFP8's), fbgemm_fp8 and quark.
    Whether a weight is quantized at all is what the weight itself shows. Raises `Fp8Error` for
    methods that are not FP8.
    """
    path = folder / CONFIG
    config = read_config(path) if path.is_file() else {}
    text_config = config.get("text_config")
    for held in (config, text_config if isinstance(text_config, Mapping) else {}):
        for key in ("quantization_config", "compression_config"):
            if held.get(key):
                return _schemes(str(path), held[key])
    path = folder / _MODELOPT_CONFIG
    if path.is_file():
        return _modelopt(str(path), read_config(path).get("quantization", {}))
    return lambda _: Scheme()


def read_config(path: Path) -> dict[str, Any]:
    """The object in a JSON file."""
    config = guarded(str(path), lambda: json.loads(path.read_bytes()))
    if not isinstance(config, dict):
        raise Fp8Error(f"'{path}' is no configuration: it holds no object")
    return config


def _schemes(path: str, config: Mapping[str, Any]) -> Schemes:
    if not isinstance(config, Mapping):
        raise Fp8Error(f"'{path}': its quantization_config is no object")
    # What modelopt wrote first says no method.
    method = config.get("quant_method") or ("modelopt" if "quant_algo" in config else None)
    method = str(method).replace("_", "-")
    if method not in _METHODS:
        known = ", ".join(_METHODS)
        raise Fp8Error(f"'{path}': quant_method is '{method}', FP8 is read of {known}")
    return guarded(path, lambda: _METHODS[method](path, config))


def _compressed_tensors(path: str, config: Mapping[str, Any]) -> Schemes:
    groups = list(config["config_groups"].values())

    def scheme(name: str) -> Scheme:
        module = name.rpartition(".")[0]
        group = _group_of(module, groups)
        if group is None:
            raise Fp8Error(f"'{path}': no config group targets '{module}', whose weight is f8")
        return _scheme_of_group(path, group)

    return scheme


def _group_of(module: str, groups: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """That with the closest target: a name, a pattern, a class."""
    tests: list[Callable[[str], Any]] = [
        lambda target: target == module,
        lambda target: target.startswith("re:") and re.match(target[3:], module),
        lambda target: "." not in target and not target.startswith("re:"),
    ]
    for test in tests:
        for group in groups:
            if any(test(target) for target in group["targets"]):
                return group
    return None


def _scheme_of_group(path: str, group: Mapping[str, Any]) -> Scheme:
    weights, inputs = group["weights"], group.get("input_activations")
    if weights.get("type") != "float" or weights.get("num_bits") != 8:
        what = f"{weights.get('num_bits')}-bit {weights.get('type')}"
        raise Fp8Error(f"'{path}': config group of {group['targets']} is {what}, not FP8")
    strategy = weights.get("strategy") or ("group" if weights.get("group_size") else "tensor")
    block: Callable[[int], Block] | None = _BLOCKS.get(strategy)
    if strategy == "block":
        sizes = tuple(weights["block_structure"])
        block = lambda rank: tile_block(rank, sizes)  # noqa: E731
    if strategy == "group":
        size = int(weights["group_size"])
        block = channel_block if size < 0 else lambda rank: group_block(rank, size)
    if block is None:
        raise Fp8Error(f"'{path}': weights of strategy '{strategy}' are not read here")
    return Scheme(block, _activation(path, inputs))


def _activation(path: str, inputs: Mapping[str, Any] | None) -> Activation:
    if inputs is None:
        return "wide"
    if inputs.get("type") != "float" or inputs.get("num_bits") != 8:
        what = f"{inputs.get('num_bits')}-bit {inputs.get('type')}"
        raise Fp8Error(f"'{path}': input_activations are {what}, not FP8")
    if not inputs.get("dynamic"):
        return "static"
    strategy = inputs.get("strategy") or "tensor"
    if strategy not in ("tensor", "token", "group"):
        raise Fp8Error(f"'{path}': input_activations of strategy '{strategy}' are not read here")
    return strategy


def _fp8(_path: str, config: Mapping[str, Any]) -> Schemes:
    sizes = config.get("weight_block_size")
    block = tensor_block if sizes is None else lambda rank: tile_block(rank, tuple(sizes))
    is_static = config.get("activation_scheme", "dynamic") == "static"
    dynamic: Activation = "tensor" if sizes is None else "group"
    return lambda _: Scheme(block, "static" if is_static else dynamic)


def _modelopt(path: str, config: Mapping[str, Any]) -> Schemes:
    layers = config.get("quantized_layers") or {}

    def scheme(name: str) -> Scheme:
        layer = layers.get(name.rpartition(".")[0], config)
        algorithm = str(layer.get("quant_algo")).upper()
        if algorithm not in _MODELOPT_ALGORITHMS:
            raise Fp8Error(f"'{path}': quant_algo of '{name}' is {algorithm}, which is not FP8")
        return _MODELOPT_ALGORITHMS[algorithm]

    return scheme


_BLOCKS: dict[str, Callable[[int], Block]] = {"tensor": tensor_block, "channel": channel_block}
_MODELOPT_ALGORITHMS = {
    "FP8": Scheme(tensor_block),
    "FP8_PER_CHANNEL_PER_TOKEN": Scheme(channel_block, "token"),
    "FP8_PB_WO": Scheme(None, "wide"),
    "FP8_BLOCK_SCALES": Scheme(None, "group"),
    "MXFP8": Scheme(lambda rank: group_block(rank, 32), "group"),
}
_METHODS: dict[str, Callable[[str, Mapping[str, Any]], Schemes]] = {
    "compressed-tensors": _compressed_tensors,
    "fp8": _fp8,
    "modelopt": _modelopt,
    "fbgemm-fp8": lambda _path, _config: lambda _: Scheme(channel_block, "token"),
    "quark": lambda _path, _config: lambda _: Scheme(),
}
