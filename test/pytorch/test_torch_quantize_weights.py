"""Models of PyTorch with weights quantized once: end to end, with bytes and SQNR of the logits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch.nn")
pytest.importorskip("transformers")

import torch
import transformers

import mlir_fp8.torch
from mlir_fp8.tools import quantize

IDS = torch.arange(24)[None] * 7 % 256


def gpt2() -> torch.nn.Module:
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=2, n_embd=128, n_head=4, vocab_size=256, n_positions=32, use_cache=False,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config).eval()


def llama() -> torch.nn.Module:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        num_hidden_layers=2, hidden_size=128, intermediate_size=192, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=256, use_cache=False,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval()


def sqnr(got: torch.Tensor, want: torch.Tensor) -> float:
    noise = (got.double() - want.double()).square().sum()
    return float(10 * torch.log10(want.double().square().sum() / noise))


@pytest.mark.parametrize(
    ("model", "recipe", "scales", "least", "smaller"),
    [
        (gpt2, "weight_only", "channel", 24, 3.7),
        (llama, "weight_only", "group32", 24, 3.4),
        (llama, "current", "block", 21.5, 3.8),
        pytest.param(gpt2, "current", "group128", 22, 3.7, marks=pytest.mark.exhaustive),
        pytest.param(llama, "weight_only", "channel", 23, 3.7, marks=pytest.mark.exhaustive),
    ],
)
def test_weights_once_end_to_end(
    model: Any, recipe: str, scales: str, least: float, smaller: float
) -> None:
    eager = model()
    exported = mlir_fp8.torch.export(eager, (IDS,))
    with torch.no_grad():
        want = eager(IDS).logits
    made = mlir_fp8.quantize(exported.mlir, recipe, weights=["*weight"], scales=scales)
    before, after = made.bytes
    assert before / after > smaller
    prepared = made.prepare(exported.state)
    assert prepared["lm_head.weight"].dtype == torch.float8_e4m3fn
    called = mlir_fp8.compile(made.module)
    logits = called(*made.arguments(prepared, IDS))[-1]
    assert least < sqnr(logits, want) < 40
    assert 'xf32> {mlir_fp8.name = "lm_head.weight"' not in str(made.module)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_quantized_program_is_called_as_the_exported_one(dtype: torch.dtype) -> None:
    eager = llama().to(dtype)
    exported = mlir_fp8.torch.export(eager, (IDS,))
    small = exported.quantize()
    assert small.state["lm_head.weight"].dtype == torch.float8_e4m3fn
    assert small.state["lm_head.weight_scale"].shape == (256, 1)
    assert small.state["model.norm.weight"].dtype == dtype
    assert small.arguments[-1] == "lm_head.weight_scale"
    assert 22 < sqnr(small(IDS).logits, exported(IDS).logits) < 40
    assert exported.state["lm_head.weight"].dtype == dtype


def test_tied_weights_share_their_codes() -> None:
    exported = mlir_fp8.torch.export(gpt2(), (IDS,))
    made = mlir_fp8.quantize(exported.mlir, "weight_only", weights=["*weight"])
    prepared = made.prepare(exported.state)
    assert prepared["transformer.wte.weight"] is prepared["lm_head.weight"]


def test_other_sizes_take_the_same_codes() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Linear(128, 32))
    rows = torch.export.Dim("rows", min=2, max=32)
    x = torch.randn(4, 64)
    exported = mlir_fp8.torch.export(model, (x,), dynamic_shapes=({0: rows},))
    small = exported.quantize("current", scales="tensor")
    for count in (4, 9):
        x = torch.randn(count, 64)
        assert 20 < sqnr(small(x), model(x).detach()) < 40


def test_state_is_refused() -> None:
    exported = mlir_fp8.torch.export(torch.nn.Linear(8, 8), (torch.randn(2, 8),))
    with pytest.raises(mlir_fp8.Fp8Error, match="recipe has state"):
        exported.quantize("delayed")


def test_static_scales_of_a_model() -> None:
    exported = mlir_fp8.torch.export(llama(), (IDS,))
    calibration = mlir_fp8.Calibration(exported.mlir, weights=["*weight"])
    calibration.run([IDS, IDS.flip(1)], exported.state)
    small = exported.quantize(mlir_fp8.StaticScaling(calibration))
    assert 20 < sqnr(small(IDS).logits, exported(IDS).logits) < 40


def test_tool_on_a_pt2_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 8))
    x = torch.randn(4, 64)
    path = str(tmp_path / "m.pt2")
    torch.export.save(torch.export.export(model, (x,)), path)
    np.savez(tmp_path / "x.npz", input=x.numpy())
    options = ["--args", str(tmp_path / "x.npz"), "--report", "--recipe=current"]
    files = ["-o", str(tmp_path / "q.mlirbc"), f"--prepared={tmp_path / 'p.npz'}"]
    assert quantize.main([path, *options, *files]) == 0
    report = capsys.readouterr().out
    assert "0.weight" in report
    assert "2.weight" not in report
    assert "1.weight" in report
    held = mlir_fp8.load_arrays(str(tmp_path / "p.npz"))
    assert set(held) == {
        "0.weight",
        "0.weight_scale",
        "0.bias",
        "1.weight",
        "1.weight_scale",
        "1.bias",
    }
    made = mlir_fp8.load(str(tmp_path / "q.mlirbc"))
    order = ["0.weight", "0.bias", "1.weight", "1.bias"]
    scales = ["0.weight_scale", "1.weight_scale"]
    arrays = [*(held[name] for name in order), x.numpy(), *(held[name] for name in scales)]
    (got,) = mlir_fp8.compile(made)(*arrays)
    assert 20 < sqnr(torch.from_numpy(got), model(x).detach()) < 40
