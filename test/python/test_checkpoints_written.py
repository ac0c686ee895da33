"""`save_checkpoint`: the files, the configuration, and what the form has not."""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")


def weight(
    block: tuple[int, ...] = (0, 0),
    scale: Any = 0.5,
    shape: tuple[int, ...] = (2, 4),
    dtype: Any = ml_dtypes.float8_e4m3fn,
    **other: Any,
) -> mlir_fp8.F8Weight:
    codes = np.ones(shape, np.float32).astype(dtype)
    return mlir_fp8.F8Weight(codes, np.asarray(scale, np.float32), block, **other)


def checkpoint(**weights: mlir_fp8.F8Weight) -> mlir_fp8.Checkpoint:
    named = {f"{name}.weight": each for name, each in weights.items()}
    others = {
        "norm.weight": np.ones(4, ml_dtypes.bfloat16),
        "lm_head.weight": np.ones((3, 4), np.float32),
    }
    return mlir_fp8.Checkpoint("made", named, others, {"attn.k_scale": np.float32(0.25)})


def config_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "config.json").read_text())["quantization_config"]


F8 = {"num_bits": 8, "type": "float", "symmetric": True, "dynamic": False}


def test_one_scheme(tmp_path: Path) -> None:
    scale = [[0.5], [2]]
    mlir_fp8.save_checkpoint(tmp_path, checkpoint(a=weight((1, 0), scale, activation="token")))
    arrays = mlir_fp8.load_arrays(tmp_path / "model.safetensors")
    shapes = {name: (str(array.dtype), array.shape) for name, array in arrays.items()}
    assert shapes == {
        "a.weight": ("float8_e4m3fn", (2, 4)),
        "a.weight_scale": ("float32", (2, 1)),
        "norm.weight": ("bfloat16", (4,)),
        "lm_head.weight": ("float32", (3, 4)),
        "attn.k_scale": ("float32", (1,)),
    }
    assert arrays["a.weight_scale"].tolist() == scale
    assert config_of(tmp_path) == {
        "quant_method": "compressed-tensors",
        "quantization_status": "compressed",
        "format": "float-quantized",
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": {**F8, "strategy": "channel"},
                "input_activations": {**F8, "strategy": "token", "dynamic": True},
                "output_activations": None,
                "format": "float-quantized",
            }
        },
        "ignore": ["lm_head"],
        "kv_cache_scheme": {**F8, "strategy": "tensor"},
    }


def test_all_schemes_come_back(tmp_path: Path) -> None:
    tiles = weight((128, 128), np.ones((2, 1)), (130, 4), activation="group")
    made = checkpoint(
        a=weight(),
        b=weight((1, 0), [[1], [2]], activation="tensor"),
        c=tiles,
        d=weight((1, 2), [[1, 2], [3, 4]], activation="wide"),
        e=weight(activation="static", input_scale=np.float32(3)),
    )
    mlir_fp8.save_checkpoint(tmp_path, made)
    config = config_of(tmp_path)
    assert config["format"] == "mixed-precision"
    assert [group["targets"] for group in config["config_groups"].values()] == [
        ["a"], ["b"], ["c"], ["d"], ["e"],
    ]  # fmt: skip
    read = mlir_fp8.load_checkpoint(tmp_path)
    assert read.cache_scales == made.cache_scales
    assert sorted(read.weights) == sorted(made.weights)
    for name, wanted in made.weights.items():
        got = read.weights[name]
        assert (got.block, got.activation or "wide") == (wanted.block, wanted.activation or "wide")
        assert got.input_scale == wanted.input_scale
        assert got.scale.tobytes() == wanted.scale.tobytes()
        assert got.scale.shape == wanted.scale.shape
        assert got.codes.tobytes() == wanted.codes.tobytes()


def test_the_config_of_the_wide_model_is_kept(tmp_path: Path) -> None:
    wide = tmp_path / "wide.json"
    wide.write_text('{"hidden_size": 4, "quantization_config": {"quant_method": "old"}}')
    mlir_fp8.save_checkpoint(tmp_path / "new" / "folder", checkpoint(a=weight()), wide)
    config = json.loads((tmp_path / "new" / "folder" / "config.json").read_text())
    assert config["hidden_size"] == 4
    assert config["quantization_config"]["quant_method"] == "compressed-tensors"


def test_large_ones_are_split(tmp_path: Path) -> None:
    made = checkpoint(a=weight(), b=weight(scale=3))
    mlir_fp8.save_checkpoint(tmp_path, made, shard_bytes=20)
    assert (tmp_path / "model.safetensors.index.json").is_file()
    assert mlir_fp8.load_checkpoint(tmp_path).weights["b.weight"].scale == 3


def test_bytes() -> None:
    made = checkpoint(a=weight((1, 0), [[1], [2]]))
    assert made.bytes == 8 + 2 * 4 + 4 * 2 + 12 * 4


REFUSED = {
    "fnuz": (weight(dtype=ml_dtypes.float8_e4m3fnuz), "'a.weight' is f8E4M3FNUZ: compressed-tens"),
    "columns": (weight((0, 1), np.ones((1, 4))), "has scales of blocks [0, 1], which compressed-"),
    "odd groups": (weight((1, 3), np.ones((2, 2))), "has scales of blocks [1, 3], which compress"),
    "e5m2": (weight(dtype=ml_dtypes.float8_e5m2), "f8E4M3FN alone, save_arrays(path, checkpoint."),
    "experts": (
        weight((0, 0, 0), shape=(2, 2, 2)),
        "give a matrix of each expert a name of its own",
    ),
    "static": (weight(activation="static"), "'a.weight' has static activations, and no input_sca"),
    "shape": (weight((1, 0)), "the scale of 'a.weight' [2, 4] is [] for blocks of [1, 0]"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_form_has_not(tmp_path: Path, what: str) -> None:
    made, message = REFUSED[what]
    with pytest.raises(mlir_fp8.Fp8Error) as refused:
        mlir_fp8.save_checkpoint(tmp_path / "out", checkpoint(a=made))
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_names(tmp_path: Path) -> None:
    unnamed = mlir_fp8.Checkpoint("made", {"params['w']": weight()})
    with pytest.raises(mlir_fp8.Fp8Error, match=r"give it a name that ends in '\.weight'"):
        mlir_fp8.save_checkpoint(tmp_path, unnamed)
    twice = mlir_fp8.Checkpoint("made", {"a.weight": weight()}, {"a.weight_scale": np.ones(1)})
    with pytest.raises(mlir_fp8.Fp8Error, match="two tensors of the checkpoint are named 'a"):
        mlir_fp8.save_checkpoint(tmp_path, twice)


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(mlir_fp8.Fp8Error, match="cannot make the folder"):
        mlir_fp8.save_checkpoint(tmp_path / "file", checkpoint(a=weight()))
