"""FP8 checkpoints by hand: what is read of each form, and what is refused."""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.checkpoints.scale_layout import spread

pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")

F8 = ml_dtypes.float8_e4m3fn
NAME = "layers.0.up.weight"


def codes(*shape: int, dtype: Any = F8) -> np.ndarray:
    """1, 2, 3, 4, 1, 2, ..."""
    return (np.arange(np.prod(shape)) % 4 + 1).reshape(shape).astype(dtype)


def f32(*numbers: float, shape: tuple[int, ...]) -> np.ndarray:
    return np.array(numbers, np.float32).reshape(shape)


def compressed(weights: dict[str, Any], inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    kind = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False}
    group = {
        "targets": ["Linear"],
        "weights": kind | weights,
        "input_activations": inputs and kind | inputs,
    }
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}}


def load(folder: Path, tensors: dict[str, np.ndarray], config: Any = None) -> mlir_fp8.Checkpoint:
    if config is not None:
        (folder / "config.json").write_text(json.dumps({"quantization_config": config}))
    mlir_fp8.save_arrays(folder / "model.safetensors", tensors)
    return mlir_fp8.load_checkpoint(folder)


BLOCKS = [[1, 2], [3, 4]]
"""Of a weight of 130 by 256: 128 and 2 rows, twice 128 columns."""

# Name of the scale, its array, the configuration; then the block, the activation, and the scales of
# the first and the last element of the first column and of the last row.
FORMS: dict[str, tuple[str, np.ndarray, Any, tuple[int, ...], str | None, list[float]]] = {
    "compressed-tensors-tensor": (
        "weight_scale",
        f32(0.5, shape=(1,)),
        compressed({"strategy": "tensor"}),
        (0, 0),
        "wide",
        [0.5, 0.5, 0.5],
    ),
    "compressed-tensors-channel": (
        "weight_scale",
        f32(*range(1, 131), shape=(130, 1)).astype(ml_dtypes.bfloat16),
        compressed({"strategy": "channel"}, {"dynamic": True, "strategy": "token"}),
        (1, 0),
        "token",
        [1, 130, 130],
    ),
    "compressed-tensors-block": (
        "weight_scale",
        f32(1, 2, 3, 4, shape=(2, 2)),
        compressed(
            {"strategy": "block", "block_structure": [128, 128]},
            {"dynamic": True, "strategy": "group", "group_size": 128},
        ),
        (128, 128),
        "group",
        [1, 3, 4],
    ),
    "compressed-tensors-group": (
        "weight_scale",
        f32(*range(520), shape=(130, 4)),
        compressed({"strategy": "group", "group_size": 64}),
        (1, 64),
        "wide",
        [0, 516, 519],
    ),
    "mxfp8": (
        "weight_scale",
        (np.arange(130 * 8) % 4 + 126).astype(np.uint8).reshape(130, 8),
        compressed({"strategy": "group", "group_size": 32}),
        (1, 32),
        "wide",
        [0.5, 0.5, 4],
    ),
    "deepseek": (
        "weight_scale_inv",
        f32(1, 2, 3, 4, shape=(2, 2)),
        {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"},
        (128, 128),
        "group",
        [1, 3, 4],
    ),
    "deepseek-ue8m0": (
        "weight_scale_inv",
        f32(1, 2, 4, 8, shape=(2, 2)).astype(ml_dtypes.float8_e8m0fnu),
        {"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"},
        (128, 128),
        "group",
        [1, 4, 8],
    ),
    "deepseek-without-config": (
        "weight_scale_inv",
        f32(1, 2, 3, 4, shape=(2, 2)),
        None,
        (128, 128),
        None,
        [1, 3, 4],
    ),
    "deepseek-v4": ("scale", f32(1, 2, 3, 4, shape=(2, 2)), None, (128, 128), None, [1, 3, 4]),
    "autofp8": (
        "weight_scale",
        f32(0.25, shape=()),
        {"quant_method": "fp8", "activation_scheme": "dynamic"},
        (0, 0),
        "tensor",
        [0.25] * 3,
    ),
    "modelopt": (
        "weight_scale",
        f32(2, shape=()),
        {"quant_method": "modelopt", "quant_algo": "FP8"},
        (0, 0),
        None,
        [2, 2, 2],
    ),
    "modelopt-channel": (
        "weight_scale",
        f32(*range(130), shape=(130,)),
        {"quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"},
        (1, 0),
        "token",
        [0, 129, 129],
    ),
    "modelopt-blocks": (
        "weight_scale",
        f32(1, 2, 3, 4, shape=(2, 1, 2, 1)),
        {"quant_method": "modelopt", "quant_algo": "fp8_pb_wo"},
        (128, 128),
        "wide",
        [1, 3, 4],
    ),
    "modelopt-mixed": (
        "weight_scale",
        f32(*range(130), shape=(130,)),
        {
            "quant_method": "modelopt",
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {"layers.0.up": {"quant_algo": "FP8_PER_CHANNEL_PER_TOKEN"}},
        },
        (1, 0),
        "token",
        [0, 129, 129],
    ),
    "fbgemm": (
        "weight_scale",
        f32(*range(130), shape=(130, 1)),
        {"quant_method": "fbgemm_fp8"},
        (1, 0),
        "token",
        [0, 129, 129],
    ),
    "quark": (
        "weight_scale",
        f32(2, shape=()),
        {"quant_method": "quark"},
        (0, 0),
        None,
        [2, 2, 2],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_of_each_form(tmp_path: Path, form: str) -> None:
    name, scale, config, block, activation, corners = FORMS[form]
    weight = codes(130, 256)
    tensors = {NAME: weight, f"layers.0.up.{name}": scale, "norm.weight": f32(1, 2, shape=(2,))}
    checkpoint = load(tmp_path, tensors, config)
    assert list(checkpoint.weights) == [NAME] and list(checkpoint.others) == ["norm.weight"]
    found = checkpoint.weights[NAME]
    assert (found.block, found.activation, found.input_scale) == (block, activation, None)
    assert found.codes.dtype == F8 and found.codes.tobytes() == weight.tobytes()
    assert found.scale.dtype == np.float32
    of_elements = spread(found.scale, found.block, (130, 256))
    assert of_elements[[0, -1, -1], [0, 0, -1]].tolist() == corners
    assert found.dequantized().tobytes() == (weight.astype(np.float32) * of_elements).tobytes()


@pytest.mark.parametrize("dtype", ["e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"])
def test_codes_stay_what_they_are(tmp_path: Path, dtype: str) -> None:
    weight = codes(2, 4, dtype=getattr(ml_dtypes, f"float8_{dtype}"))
    tensors = {NAME: weight, "layers.0.up.weight_scale": f32(0.5, shape=())}
    found = load(tmp_path, tensors).weights[NAME]
    assert found.codes.dtype == weight.dtype
    assert found.dequantized().tolist() == [[0.5, 1, 1.5, 2]] * 2


@pytest.mark.parametrize("name", ["input_scale", "activation_scale", "act_scale"])
@pytest.mark.parametrize("config", [None, {"quant_method": "fp8", "activation_scheme": "static"}])
def test_the_scale_of_static_activations(tmp_path: Path, name: str, config: Any) -> None:
    tensors = {
        NAME: codes(2, 4),
        "layers.0.up.weight_scale": f32(0.5, shape=()),
        f"layers.0.up.{name}": f32(0.125, shape=()).astype(ml_dtypes.bfloat16),
    }
    found = load(tmp_path, tensors, config).weights[NAME]
    assert (found.activation, found.input_scale) == ("static", np.float32(0.125))


def test_experts_have_scales_of_their_own(tmp_path: Path) -> None:
    tensors = {
        "experts.up_proj": codes(3, 2, 4),
        "experts.up_proj_scale": f32(1, 2, 3, shape=(3, 1, 1)),
        "experts.down_proj": codes(3, 2, 4),
        "experts.down_proj_scale_inv": f32(*range(6), shape=(3, 2, 1)),
    }
    found = load(tmp_path, tensors).weights
    assert found["experts.up_proj"].block == (1, 0, 0)
    assert found["experts.down_proj"].block == (1, 1, 0)
    assert found["experts.up_proj"].dequantized()[:, 1, 3].tolist() == [4, 8, 12]
    assert found["experts.down_proj"].dequantized()[:, 1, 3].tolist() == [4, 12, 20]


def test_scales_of_the_cache_are_apart(tmp_path: Path) -> None:
    tensors = {
        NAME: codes(2, 4),
        "layers.0.up.weight_scale": f32(1, shape=(1,)),
        "layers.0.attn.k_scale": f32(0.5, shape=(1,)),
        "layers.0.v_proj.v_scale": f32(0.25, shape=()),
    }
    found = load(tmp_path, tensors)
    assert found.cache_scales == {"layers.0.attn.k_scale": 0.5, "layers.0.v_proj.v_scale": 0.25}
    assert found.others == {}


def test_shards_are_read_by_their_index_and_mapped(tmp_path: Path) -> None:
    tensors = {
        "a.weight": codes(2, 4),
        "a.weight_scale": f32(2, shape=(1,)),
        "b.weight": codes(4, 4),
        "b.weight_scale": f32(3, shape=(1,)),
    }
    mlir_fp8.save_arrays(tmp_path / "model.safetensors.index.json", tensors, shard_bytes=12)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    found = mlir_fp8.load_checkpoint(tmp_path).weights
    assert {name: float(each.scale) for name, each in found.items()} == {
        "a.weight": 2,
        "b.weight": 3,
    }
    assert not found["a.weight"].codes.flags.owndata


def test_modelopt_has_a_file_of_its_own(tmp_path: Path) -> None:
    config = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8_PB_WO"}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(config))
    tensors = {NAME: codes(2, 4), "layers.0.up.weight_scale": f32(1, shape=(1, 1, 1, 1))}
    assert load(tmp_path, tensors).weights[NAME].activation == "wide"


@pytest.mark.parametrize("place", ["text_config", "compression_config", "underscores"])
def test_where_configurations_are(tmp_path: Path, place: str) -> None:
    inner: dict[str, Any] = compressed({"strategy": "channel"})
    config = {
        "text_config": {"quantization_config": {}, "text_config": {"quantization_config": inner}},
        "compression_config": {"compression_config": inner},
        "underscores": {"quantization_config": inner | {"quant_method": "compressed_tensors"}},
    }[place]
    (tmp_path / "config.json").write_text(json.dumps(config))
    tensors = {NAME: codes(1, 4), "layers.0.up.weight_scale": f32(1, shape=(1, 1))}
    assert load(tmp_path, tensors).weights[NAME].block == (1, 0)


@pytest.mark.parametrize("text", ["{", "[]", '{"quantization_config": 3}'])
def test_configurations_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"config\.json'"):
        load(tmp_path, {NAME: codes(2, 4), **SCALE})


def test_the_closest_target_decides(tmp_path: Path) -> None:
    config = compressed({"strategy": "tensor"})
    groups = config["config_groups"]
    channel = compressed({"strategy": "channel"})["config_groups"]["group_0"]
    groups["group_1"] = channel | {"targets": ["re:.*up$"]}
    groups["group_2"] = channel | {"targets": ["a.down"]}
    names = ("a.up", "a.down", "a.other")
    scales = (f32(1, 2, shape=(2, 1)), f32(1, 2, shape=(2, 1)), f32(1, shape=(1,)))
    tensors = {f"{name}.weight": codes(2, 4) for name in names}
    tensors |= {f"{name}.weight_scale": scale for name, scale in zip(names, scales, strict=True)}
    found = load(tmp_path, tensors, config).weights
    assert [found[f"{name}.weight"].block for name in names] == [(1, 0), (1, 0), (0, 0)]


SCALE = {"layers.0.up.weight_scale": f32(1, shape=(1,))}
REFUSED: dict[str, tuple[dict[str, np.ndarray], Any, str]] = {
    "no scale": ({NAME: codes(2, 4)}, None, f"'{NAME}' is f8 with no scale: one of layers.0.up."),
    "two scales": (
        {NAME: codes(2, 4), **SCALE, "layers.0.up.weight_scale_inv": f32(1, shape=(1,))},
        None,
        f"'{NAME}' is f8 with two scales: one of layers.0.up.weight_scale, layers.0.up.weight_sc",
    ),
    "other shape": (
        {NAME: codes(2, 4), "layers.0.up.weight_scale": f32(1, 2, 3, shape=(3,))},
        None,
        "'layers.0.up.weight_scale' has shape [3], which is no scale of a weight [2, 4]",
    ),
    "shape of another strategy": (
        {NAME: codes(2, 4), "layers.0.up.weight_scale": f32(1, 2, shape=(2, 1))},
        compressed({"strategy": "tensor"}),
        "has shape [2, 1], which is no scale of a weight [2, 4], but [] (block [0, 0])",
    ),
    "transposed blocks": (
        {NAME: codes(128, 512), "layers.0.up.weight_scale_inv": f32(*range(4), shape=(4, 1))},
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        "has shape [4, 1], which is no scale of a weight [128, 512], but [1, 4] (block [128, 128])",
    ),
    "negative": (
        {NAME: codes(2, 4), "layers.0.up.weight_scale": f32(-1, shape=(1,))},
        None,
        "'layers.0.up.weight_scale' has scales that are negative, infinite or NaN",
    ),
    "integer scale": (
        {NAME: codes(2, 4), "layers.0.up.weight_scale": np.array([1], np.int32)},
        None,
        "'layers.0.up.weight_scale' is of int32, which is no scale",
    ),
    "zero input scale": (
        {NAME: codes(2, 4), **SCALE, "layers.0.up.input_scale": f32(0, shape=(1,))},
        None,
        "'layers.0.up.input_scale' is 0, which nothing can be divided by",
    ),
    "input scales": (
        {NAME: codes(2, 4), **SCALE, "layers.0.up.input_scale": f32(1, 2, shape=(2,))},
        None,
        "'layers.0.up.input_scale' has shape [2]: only one number is read here",
    ),
    "static without": (
        {NAME: codes(2, 4), **SCALE},
        {"quant_method": "fp8", "activation_scheme": "static"},
        f"'{NAME}' has static activations, and no 'layers.0.up.input_scale'",
    ),
    "zero point": (
        {NAME: codes(2, 4), **SCALE, f"{NAME}_zero_point": np.array([1], np.int8)},
        None,
        f"'{NAME}_zero_point' is not 0: FP8 weights are symmetric",
    ),
    "vector": ({NAME: codes(4), **SCALE}, None, f"'{NAME}' is f8 of shape [4], which is no matrix"),
    "nvfp4": (
        {"a.weight": codes(4), "a.weight_scale_2": f32(1, shape=(1,))},
        None,
        "'a.weight_scale_2' is of a method that packs codes, which is not FP8",
    ),
    "wide": ({NAME: f32(1, 2, shape=(1, 2))}, None, "holds no f8 weight: mlir_fp8.load_arrays"),
    "method": (
        {NAME: codes(2, 4), **SCALE},
        {"quant_method": "gptq"},
        "quant_method is 'gptq', FP8 is read of compressed-tensors, fp8, modelopt",
    ),
    "integers": (
        {NAME: codes(2, 4), **SCALE},
        compressed({"type": "int", "strategy": "tensor"}),
        "config group of ['Linear'] is 8-bit int, not FP8",
    ),
    "algorithm": (
        {NAME: codes(2, 4), **SCALE},
        {"quant_algo": "NVFP4"},
        f"quant_algo of '{NAME}' is NVFP4, which is not FP8",
    ),
    "no group": (
        {NAME: codes(2, 4), **SCALE},
        {"quant_method": "compressed-tensors", "config_groups": {}},
        "no config group targets 'layers.0.up', whose weight is f8",
    ),
    "damaged": (
        {NAME: codes(2, 4), **SCALE},
        {"quant_method": "compressed-tensors"},
        "config.json' cannot be read: 'config_groups'",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_name(tmp_path: Path, what: str) -> None:
    tensors, config, message = REFUSED[what]
    with pytest.raises(mlir_fp8.Fp8Error) as refused:
        load(tmp_path, tensors, config)
    assert message in str(refused.value) and "\n" not in str(refused.value)
    assert not isinstance(refused.value, mlir_fp8.InternalError)


def test_a_zero_point_of_zeros_is_none(tmp_path: Path) -> None:
    tensors = {NAME: codes(2, 4), **SCALE, f"{NAME}_zero_point": np.zeros(1, F8)}
    assert load(tmp_path, tensors).others == {}


def test_a_folder_of_several_files_needs_a_name(tmp_path: Path) -> None:
    for name in ("a", "b"):
        mlir_fp8.save_arrays(tmp_path / f"{name}.safetensors", {NAME: codes(2, 4), **SCALE})
    with pytest.raises(mlir_fp8.Fp8Error, match=r"no one checkpoint \(a.safetensors, b.safet"):
        mlir_fp8.load_checkpoint(tmp_path)
    assert list(mlir_fp8.load_checkpoint(tmp_path / "b.safetensors").weights) == [NAME]
