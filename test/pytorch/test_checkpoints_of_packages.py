"""FP8 checkpoints against compressed-tensors and transformers, which write and read them."""

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.checkpoints.f8_weight import Activation

torch: Any = pytest.importorskip("torch", reason="pip install 'mlir-fp8[torch]'")
pytest.importorskip("compressed_tensors", reason="pip install compressed-tensors transformers")
safetensors: Any = pytest.importorskip("safetensors.torch")

from compressed_tensors.compressors.base import BaseCompressor  # noqa: E402
from compressed_tensors.entrypoints.convert.converters.fp8block_dequantizer import (  # noqa: E402
    FP8BlockDequantizer,
)
from compressed_tensors.quantization import (  # noqa: E402
    QuantizationConfig,
    QuantizationScheme,
    preset_name_to_scheme,
)

PRESETS = {"FP8": "static", "FP8_DYNAMIC": "token", "FP8_BLOCK": "group", "MXFP8A16": "wide"}
FORMATS = {"MXFP8A16": "mxfp8-quantized"}
ROWS, COLUMNS = 160, 256
# Sums in another order let an activation round to the next code.
LIMITS = {"wide": 1e-6, "static": 1e-2, "token": 1e-2, "tensor": 1e-2}


def scale_of(weight: Any, scheme: QuantizationScheme) -> Any:
    """amax / 448 of each block, up to a power of 2 for MX."""
    assert scheme.weights is not None
    amax = {
        "tensor": lambda: weight.abs().max().reshape(1),
        "channel": lambda: weight.abs().amax(1, keepdim=True),
        "group": lambda: weight.abs().reshape(ROWS, -1, 32).amax(2),
        "block": lambda: torch.stack(
            [
                torch.stack([tile.abs().max() for tile in rows.split(128, 1)])
                for rows in weight.split(128, 0)
            ]
        ),
    }[str(scheme.weights.strategy)]()
    scale = amax / 448
    return (
        torch.exp2(torch.ceil(torch.log2(scale))) if scheme.weights.strategy == "group" else scale
    )


def compress(preset: str, folder: Path) -> tuple[Any, Any]:
    """A file as the package writes it; the weight that the package reads in it, and the scheme."""
    scheme = preset_name_to_scheme(preset, ["Linear"])
    name = FORMATS.get(preset, "float-quantized")
    compressor = BaseCompressor.get_value_from_registry(name)
    weight = torch.randn(ROWS, COLUMNS, generator=torch.Generator().manual_seed(1))
    state = {"weight": weight, "weight_scale": scale_of(weight, scheme)}
    if PRESETS[preset] == "static":
        state["input_scale"] = torch.tensor([0.0625])
    state = compressor.compress(state, scheme)
    config = QuantizationConfig(config_groups={"group_0": scheme}, format=name)
    text = json.dumps({"quantization_config": config.model_dump(mode="json")})
    (folder / "config.json").write_text(text)
    safetensors.save_file(
        {f"a.{key}": value for key, value in state.items()}, folder / "model.safetensors"
    )
    return compressor.decompress(state, scheme)["weight"].float(), scheme


@pytest.mark.parametrize("preset", PRESETS)
def test_what_compressed_tensors_writes(preset: str, tmp_path: Path) -> None:
    wanted, _ = compress(preset, tmp_path)
    weight = mlir_fp8.load_checkpoint(tmp_path).weights["a.weight"]
    assert weight.dequantized().tobytes() == wanted.numpy().tobytes()
    assert weight.activation == PRESETS[preset]
    assert weight.input_scale == (0.0625 if weight.activation == "static" else None)


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_written_is_read_by_compressed_tensors(preset: str, tmp_path: Path) -> None:
    wanted, _ = compress(preset, tmp_path)
    checkpoint = mlir_fp8.load_checkpoint(tmp_path)
    mlir_fp8.save_checkpoint(tmp_path / "out", checkpoint, {"model_type": "mine"})
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config.pop("model_type") == "mine"
    read = QuantizationConfig.model_validate(config["quantization_config"])
    (scheme,) = read.config_groups.values()
    compressor = BaseCompressor.get_value_from_registry(scheme.format)
    state = safetensors.load_file(tmp_path / "out" / "model.safetensors")
    local = {name.removeprefix("a."): tensor for name, tensor in state.items()}
    got = compressor.decompress(local, scheme)["weight"]
    assert got.dtype == torch.float32 and torch.equal(got, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float8_e8m0fnu"])
def test_blocks_of_deepseek(dtype: str, tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(2)
    codes = torch.randn(ROWS, COLUMNS, generator=generator).to(torch.float8_e4m3fn)
    scale = torch.tensor([[0.5, 4], [0.25, 2]]).to(getattr(torch, dtype))
    tensors = {"a.weight": codes, "a.weight_scale_inv": scale}
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    config = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": config}))
    package = FP8BlockDequantizer(targets=["a"], dtype=torch.float32)
    wide = {**tensors, "a.weight_scale_inv": scale.float()}
    wanted = package.process(wide)["a.weight"].contiguous()
    weight = mlir_fp8.load_checkpoint(tmp_path).weights["a.weight"]
    assert weight.dequantized().tobytes() == wanted.numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e5m2"])
def test_all_codes_of_other_types(dtype: str, tmp_path: Path) -> None:
    codes = torch.arange(256, dtype=torch.uint8).view(getattr(torch, dtype)).reshape(16, 16)
    tensors = {"a.weight": codes, "a.weight_scale": torch.tensor(0.5)}
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    weight = mlir_fp8.load_checkpoint(tmp_path / "model.safetensors").weights["a.weight"]
    np.testing.assert_array_equal(weight.dequantized(), (codes.float() * 0.5).numpy())


def tiny_llama(folder: Path) -> Any:
    transformers: Any = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=96,
        torch_dtype="float32",
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    model.save_pretrained(folder)
    return model


def in_f8(
    model: Any, block: tuple[int, int], activation: Activation = "wide"
) -> mlir_fp8.Checkpoint:
    """The linear layers of a model in f8, scaled by amax / 448 of rows or of all."""
    input_scale = np.float32(0.02) if activation == "static" else None
    weights: dict[str, mlir_fp8.F8Weight] = {}
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    for name in [each for each in state if "proj" in each]:
        wide = state.pop(name)
        amax = np.abs(wide).max(1, keepdims=True) if any(block) else np.abs(wide).max()
        scale = np.asarray(amax / np.float32(448), np.float32)
        codes = (wide / scale).astype(ml_dtypes.float8_e4m3fn)
        weights[name] = mlir_fp8.F8Weight(codes, scale, block, activation, input_scale)
    return mlir_fp8.Checkpoint("made", weights, state)


@pytest.mark.parametrize("block", [(0, 0), (1, 0)])
def test_transformers_loads_what_is_written(block: tuple[int, int], tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    model = tiny_llama(tmp_path / "wide")
    checkpoint = in_f8(model, block)
    config = tmp_path / "wide" / "config.json"
    mlir_fp8.save_checkpoint(tmp_path / "f8", checkpoint, config, shard_bytes=50_000)
    assert len(list((tmp_path / "f8").glob("*.safetensors"))) > 1
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "f8").eval()
    state = {name: torch.tensor(each.dequantized()) for name, each in checkpoint.weights.items()}
    model.load_state_dict(state, strict=False)
    tokens = torch.arange(12)[None]
    with torch.no_grad():
        assert torch.equal(loaded(tokens).logits, model(tokens).logits)


REST = ("token", "tensor")


class Logits(torch.nn.Module):
    """A causal language model without a cache."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Any) -> Any:
        return self.model(tokens, use_cache=False).logits


@pytest.mark.parametrize(
    "activation",
    ["wide", "static", *(pytest.param(each, marks=pytest.mark.exhaustive) for each in REST)],
)
def test_an_exported_model_takes_the_checkpoint(activation: Activation, tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    model = tiny_llama(tmp_path / "wide")
    checkpoint = in_f8(model, (1, 0), activation)
    mlir_fp8.save_checkpoint(tmp_path / "f8", checkpoint, tmp_path / "wide" / "config.json")
    tokens = torch.arange(12)[None]
    exported = mlir_fp8.torch.export(Logits(model), (tokens,))
    made, arrays = mlir_fp8.apply_checkpoint(
        exported.mlir, tmp_path / "f8", names=lambda name: f"model.{name}"
    )
    before, after = made.bytes
    assert before > 3.7 * after
    # What the program has and no checkpoint: the frequencies of rotary embeddings.
    arrays = {name: tensor.detach().numpy() for name, tensor in exported.state.items()} | arrays
    (got,) = mlir_fp8.compile(made.module)(*made.arguments(arrays, tokens.numpy()))
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "f8").eval()
    with torch.no_grad():
        wanted = loaded(tokens).logits.numpy()
        wide = model(tokens).logits.numpy()
    assert np.linalg.norm(got - wanted) < LIMITS[activation] * np.linalg.norm(wanted)
    assert np.linalg.norm(wide - wanted) > 1e-3 * np.linalg.norm(wanted)
