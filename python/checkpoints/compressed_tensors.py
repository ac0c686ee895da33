"""The `quantization_config` of compressed-tensors that describes a checkpoint.

Its fields: https://github.com/vllm-project/compressed-tensors, quantization/quant_config.py.
"""

from typing import Any

from mlir_fp8.arrays.tensor_specs import element_name
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Activation, Checkpoint, F8Weight
from mlir_fp8.checkpoints.scale_layout import TILE, channel_block, group_block, tensor_block

_SUFFIX = ".weight"
_ELSE = "save_arrays(path, checkpoint.arrays) writes what load_checkpoint reads"
_F8 = {"num_bits": 8, "type": "float", "symmetric": True}


def quantization_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """For `config.json`; raises `Fp8Error` for a weight that the form cannot describe."""
    modules: dict[str, list[str]] = {}  # by their scheme as text, which dictionaries have not
    schemes: dict[str, dict[str, Any]] = {}
    for name, weight in checkpoint.weights.items():
        scheme = _scheme(name, weight)
        schemes[repr(scheme)] = scheme
        modules.setdefault(repr(scheme), []).append(name.removesuffix(_SUFFIX))
    groups = {
        f"group_{index}": {"targets": ["Linear"] if len(schemes) == 1 else modules[key], **scheme}
        for index, (key, scheme) in enumerate(schemes.items())
    }
    formats = {scheme["format"] for scheme in schemes.values()}
    wide = [name for name, array in checkpoint.others.items() if array.ndim == 2]
    config: dict[str, Any] = {
        "quant_method": "compressed-tensors",
        "quantization_status": "compressed",
        "format": formats.pop() if len(formats) == 1 else "mixed-precision",
        "config_groups": groups,
        "ignore": [each.removesuffix(_SUFFIX) for each in wide if each.endswith(_SUFFIX)],
    }
    if checkpoint.cache_scales:
        config["kv_cache_scheme"] = {**_F8, "strategy": "tensor", "dynamic": False}
    return config


def _scheme(name: str, weight: F8Weight) -> dict[str, Any]:
    element = element_name(weight.codes.dtype)
    if element != "f8E4M3FN":
        raise Fp8Error(f"'{name}' is {element}: compressed-tensors has f8E4M3FN alone, {_ELSE}")
    if weight.codes.ndim > 2:
        shape = list(weight.codes.shape)
        way_out = f"give a matrix of each expert a name of its own, or {_ELSE}"
        raise Fp8Error(f"'{name}' {shape} is no weight of a linear module: {way_out}")
    if weight.codes.ndim != 2 or not name.endswith(_SUFFIX):
        shape = list(weight.codes.shape)
        way_out = "give it a name that ends in '.weight'"
        raise Fp8Error(f"'{name}' {shape} is no weight of a linear module: {way_out}")
    inputs = _activations(weight.activation, weight.block)
    if weight.activation == "static" and weight.input_scale is None:
        raise Fp8Error(f"'{name}' has static activations, and no input_scale")
    return {
        "weights": {**_F8, "dynamic": False, **_strategy(name, weight)},
        "input_activations": inputs,
        "output_activations": None,
        "format": "float-quantized" if inputs else "naive-quantized",
    }


def _strategy(name: str, weight: F8Weight) -> dict[str, Any]:
    rows, columns = weight.block
    if weight.block == tensor_block(2):
        return {"strategy": "tensor"}
    if weight.block == channel_block(2):
        return {"strategy": "channel"}
    if weight.block == group_block(2, columns) and weight.codes.shape[1] % columns == 0:
        return {"strategy": "group", "group_size": columns}
    if rows > 1 and columns > 1:
        return {"strategy": "block", "block_structure": [rows, columns]}
    what = f"'{name}' {list(weight.codes.shape)} has scales of blocks {list(weight.block)}"
    raise Fp8Error(
        f"{what}, which compressed-tensors has not: per row, or in blocks that divide it"
    )


def _activations(activation: Activation | None, block: tuple[int, ...]) -> dict[str, Any] | None:
    if activation in (None, "wide"):
        return None
    if activation == "static":
        return {**_F8, "strategy": "tensor", "dynamic": False}
    if activation == "group":
        return {**_F8, "strategy": "group", "group_size": block[-1] or TILE, "dynamic": True}
    return {**_F8, "strategy": activation, "dynamic": True}
