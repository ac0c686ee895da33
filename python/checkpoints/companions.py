"""What the tensors beside a weight are called.

`model.layers.0.mlp.up_proj.weight` has `model.layers.0.mlp.up_proj.weight_scale` beside it; the
stacked experts of transformers, `experts.gate_up_proj`, have `experts.gate_up_proj_scale`.
"""

_WEIGHT = "weight"

_WEIGHT_SCALES = (
    "weight_scale",  # compressed-tensors, modelopt, AutoFP8, fbgemm, quark
    "weight_scale_inv",  # DeepSeek, transformers: multiplied by, as the others
    "scale",  # DeepSeek-V4
    "qscale_weight",  # Mistral
)
_INPUT_SCALES = (
    "input_scale",  # compressed-tensors, modelopt, AutoFP8, quark
    "activation_scale",  # transformers
    "act_scale",  # the first AutoFP8
    "qscale_act",  # Mistral
)
CACHE_SCALES = (".k_scale", ".v_scale", ".kv_scale")
ZERO_POINT = "_zero_point"
PACKED = (".weight_packed", ".qweight", ".weight_global_scale", ".weight_scale_2")
"""Of integers and f4: the last two are of NVFP4, a scale of scales."""


def weight_scale_names(weight: str) -> list[str]:
    """Names that the scale of `weight` may have."""
    return _beside(weight, _WEIGHT_SCALES, ("_scale", "_scale_inv"))


def input_scale_names(weight: str) -> list[str]:
    """Names that the scale of the activations that meet `weight` may have."""
    return _beside(weight, _INPUT_SCALES, ("_input_scale", "_activation_scale"))


def _beside(weight: str, names: tuple[str, ...], endings: tuple[str, ...]) -> list[str]:
    stem, dot, last = weight.rpartition(".")
    if last == _WEIGHT:
        return [f"{stem}{dot}{name}" for name in names]
    return [f"{weight}{ending}" for ending in endings]
