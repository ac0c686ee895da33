"""examples/generate.py: models that agree with transformers', the variants' sizes and errors."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

pytest.importorskip("jax")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def examples() -> Any:
    """The modules of the example, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        names = ("language_models", "model_weights", "quantized_models", "trained_model")
        found = {name: __import__(name) for name in (*names, "generate")}
    yield type("Examples", (), found)
    for name in (*found, "train_fp8"):
        sys.modules.pop(name, None)


def tiny(examples: Any, family: str) -> Any:
    """The model with one layer of 32 numbers."""
    sizes = {"layers": 1, "width": 32, "heads": 4, "inner": 48, "vocabulary": 96, "head": 8}
    made = replace(examples.language_models.MODELS[family], positions=64, **sizes)
    return replace(made, kv_heads=2 if family == "llama-1b" else 4)


CONFIGS: dict[str, dict[str, Any]] = {
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 48, "n_positions": 64},
    "Llama": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 48,
        "max_position_embeddings": 64,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False,
        "rope_parameters": {
            "rope_type": "llama3",
            "rope_theta": 10000.0,
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
    },
}


def saved(kind: str, folder: Path) -> Any:
    """A model of transformers with random weights, and its checkpoint in `folder`."""
    torch: Any = pytest.importorskip("torch")
    transformers: Any = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(vocab_size=96, **CONFIGS[kind])
    config.initializer_range = 0.2
    name = "GPT2LMHeadModel" if kind == "GPT2" else "LlamaForCausalLM"
    model = getattr(transformers, name)(config).eval()
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("kind", ["GPT2", "Llama"])
def test_a_checkpoint_gives_the_logits_of_transformers(
    kind: str, examples: Any, tmp_path: Path
) -> None:
    model = saved(kind, tmp_path)
    import torch  # pyright: ignore[reportMissingImports]

    options = ["--checkpoint", str(tmp_path), "--prompt", "7", "--tokens", "6"]
    made = examples.generate.model_of(examples.generate.arguments(options))
    prompt = np.random.default_rng(0).integers(0, 96, 7, np.int32)
    wide = examples.quantized_models.Quantizing(made, "f32")
    _, logits, chosen = examples.quantized_models.generated(wide, prompt, 6, None)
    with torch.no_grad():
        fed = [*prompt.tolist(), *chosen[:-1]]
        whole = model(torch.tensor([fed])).logits[0, 6:].numpy()
    np.testing.assert_allclose(logits, whole, rtol=0, atol=2e-5 * np.abs(whole).max())
    assert chosen == whole.argmax(-1).tolist()


def test_an_fp8_checkpoint_is_a_variant(
    examples: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved("Llama", tmp_path / "wide")
    sizes = examples.model_weights.sizes_in(tmp_path / "wide")
    checkpoint = examples.model_weights.read_checkpoint(tmp_path / "wide")
    wide = dict(examples.model_weights.CheckpointWeights(sizes, checkpoint))
    module = examples.language_models.module_of(sizes, 1, 8)
    made = mlir_fp8.quantize(module, "weight_only", weights=["*_proj.weight"])
    made_f8 = mlir_fp8.checkpoint_of(made, made.prepare(wide))
    mlir_fp8.save_checkpoint(tmp_path / "f8", made_f8)
    ours = json.loads((tmp_path / "f8" / "config.json").read_text())
    config = json.loads((tmp_path / "wide" / "config.json").read_text())
    (tmp_path / "f8" / "config.json").write_text(json.dumps({**config, **ours}))
    sizes_options = ["--prompt=3", "--tokens=2", "--variants=f32,checkpoint"]
    assert examples.generate.main([f"--checkpoint={tmp_path / 'f8'}", *sizes_options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["f32", "checkpoint"]
    # Both have the same numbers: f32 those that f8 codes stand for.
    assert float(lines[2].split()[-1]) > 100


@pytest.mark.parametrize("family", ["llama-1b", pytest.param("gpt2", marks=pytest.mark.exhaustive)])
def test_variants(family: str, examples: Any) -> None:
    sizes = tiny(examples, family)
    model = examples.quantized_models.Model(sizes, examples.model_weights.RandomWeights(sizes))
    rows = examples.generate.measured_variants(model, examples.generate.VARIANTS, 12, 4)
    assert list(rows) == ["f32", "weight-only", "static", "f8-cache"]
    shapes = examples.language_models.shapes_of(sizes)
    wide = 4 * sum(np.prod(shape) for shape in shapes.values()) / 1e6
    assert rows["f32"]["weights MB"] == pytest.approx(wide)
    # f8, with a scale of 4 bytes for each 32 or 48 summed numbers.
    assert all(rows[name]["weights MB"] < wide / 3 for name in ("weight-only", "static"))
    # k and v of 16 tokens of heads of 8 numbers; a scale for each head and token.
    cache = 2 * sizes.kv_heads * 16 * 8 / 1e6
    assert rows["weight-only"]["cache MB"] == pytest.approx(4 * cache)
    assert rows["f8-cache"]["cache MB"] == pytest.approx(cache * (8 + 4) / 8)
    errors = [rows[name]["SQNR dB"] for name in ("weight-only", "static", "f8-cache")]
    assert all(20 < each < 45 for each in errors) and len(set(errors)) == 3


def test_a_step_writes_its_row_of_the_f8_cache_in_place(examples: Any) -> None:
    sizes = tiny(examples, "llama-1b")
    model = examples.quantized_models.Model(sizes, examples.model_weights.RandomWeights(sizes))
    variant = examples.quantized_models.Quantizing(model, "f8-cache")
    module = examples.language_models.module_of(sizes, 1, 6)
    cache = examples.quantized_models.empty_cache(sizes, 6, is_f8=True)
    program = variant.program(module, variant.arrays(module), 1, cache)
    program.logits([5], 3)
    given = program.step(*program.arguments)[1:]
    assert all(mine is its for mine, its in zip(cache, given, strict=True))
    empty = examples.quantized_models.empty_cache(sizes, 6, is_f8=True)
    for array, before in zip(cache, empty, strict=True):
        rows = np.flatnonzero((array != before).any((0, 2)))
        assert rows.tolist() == [3]
    codes = cache[0].astype(np.float32)[:, 3]
    assert cache[0].dtype == ml_dtypes.float8_e4m3fn
    assert np.abs(codes).max(-1).tolist() == [448, 448]  # each head has its scale


def test_prefill_and_decode_read_the_same_weights(
    examples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = tiny(examples, "llama-1b")
    model = examples.quantized_models.Model(sizes, examples.model_weights.RandomWeights(sizes))
    variant = examples.quantized_models.Quantizing(model, "f8-cache")
    modules = {n: examples.language_models.module_of(sizes, n, 8) for n in (5, 1)}
    arrays = variant.arrays(modules[1])
    cache = examples.quantized_models.empty_cache(sizes, 8, is_f8=True)
    read: list[set[int]] = []
    run = mlir_fp8.CompiledModule.run_on

    def noted(self: Any, addresses: list[int]) -> None:
        read.append(set(addresses))
        run(self, addresses)

    monkeypatch.setattr(mlir_fp8.CompiledModule, "run_on", noted)
    for count, module in modules.items():
        variant.program(module, arrays, count, cache).logits(list(range(count)), 0)
    held = {each.ctypes.data for each in (*arrays.values(), *cache)}
    assert held <= read[0] and held <= read[1]


@pytest.mark.parametrize("name", ["f32", "f8-cache"])
def test_decode_steps_in_one_call_are_those_one_by_one(name: str, examples: Any) -> None:
    sizes = tiny(examples, "llama-1b")
    model = examples.quantized_models.Model(sizes, examples.model_weights.RandomWeights(sizes))
    variant = examples.quantized_models.Quantizing(model, name)
    module = examples.language_models.module_of(sizes, 1, 8)
    arrays, is_f8 = variant.arrays(module), name == "f8-cache"
    caches = [examples.quantized_models.empty_cache(sizes, 8, is_f8=is_f8) for _ in range(2)]
    one = variant.program(module, arrays, 1, caches[0])
    chosen = [7]
    for at in range(6):
        chosen.append(int(one.logits([chosen[-1]], at).argmax()))
    loop = variant.loop(arrays, 8, caches[1], 3)
    got, seconds = examples.quantized_models.in_calls(loop, 7, 0, 7, 3)
    assert got == chosen[1:] and len(seconds) == 2
    for mine, other in zip(*caches, strict=True):
        np.testing.assert_allclose(mine.astype(float), other.astype(float), rtol=0.07, atol=1e-5)


def test_the_small_transformer_is_that_of_the_training_step(examples: Any) -> None:
    """Its loss is what the step gives, which computes products in bf16."""
    trained, train = examples.trained_model, sys.modules["train_fp8"]
    windows = train.read_windows([train.TEXT])
    batch = next(train.batches(windows, 0))
    tensors = trained.trained(windows, 1)
    wide = train.compiled(train.variants("f8E5M2", unscaled=False)[0].module)
    arrays = [array for _, array in trained.restored(np.load(train.ARGUMENTS))][:-1]
    (_, *parameters) = wide(*arrays, batch)
    (loss, *_) = wide(*parameters, batch)
    model = examples.quantized_models.Model(examples.language_models.SMALL, tensors)
    logits = trained.logits_of(examples.quantized_models.Quantizing(model, "f32"), batch)
    assert trained.loss_of(logits, batch) == pytest.approx(float(loss), rel=2e-3)


def test_loss_is_the_cross_entropy_of_the_next_token(examples: Any) -> None:
    logits = np.log(np.array([[[1, 2, 1], [5, 2, 3]]], np.float32))
    loss = examples.trained_model.loss_of(logits, np.array([[0, 1, 0]]))
    assert loss == pytest.approx(np.log(2) * (1 + 1) / 2)  # 2 of 4 and 5 of 10


@pytest.mark.exhaustive
def test_fp8_keeps_what_was_learned(examples: Any) -> None:
    rows = examples.trained_model.quality(examples.generate.VARIANTS, 2000)
    assert rows["f32"]["loss"] < 2.7
    for name, least in (("weight-only", 30), ("static", 25), ("f8-cache", 25)):
        assert abs(rows[name]["to f32"] - 1) < 0.01 and rows[name]["SQNR dB"] > least, name


def test_a_trained_run(examples: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert examples.generate.main(["--trained", "--steps=20", "--variants=f32,weight-only"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["loss", "to", "f32", "SQNR", "dB"]
    assert float(lines[2].split()[3]) > 25 and lines[3].startswith("peak of memory: ")


def test_sqnr(examples: Any) -> None:
    exact = np.array([3.0, 4.0], np.float32)
    assert examples.quantized_models.sqnr(exact * np.float32(1.25), exact) == pytest.approx(
        10 * np.log10(16)
    )


def test_plot(examples: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "a.svg"
    examples.generate.plot(file, {"f32": {"a": 1.0}, "static": {"a": 2.0, "SQNR dB": 30.0}})
    assert "SQNR dB" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layers", "13"], "--layers is from 1 to 12"),
        (["--tokens", "1"], "--prompt is 1 or more, --tokens 2 or more, both together at most"),
        (["--prompt", "1000"], "--prompt is 1 or more, --tokens 2 or more, both together at most"),
        (["--tokens-per-call", "32"], "--tokens-per-call is 1 or more, and less than --tokens"),
        (["--trained", "--steps", "-1"], "--steps is 0 or more"),
        (["--variants", "f32,f16"], "--variants: 'f16' is none of f32, weight-only, static,"),
        (["--variants", "checkpoint"], "--variants: 'checkpoint' is none of f32,"),
        (["--plot", "a.gif"], "a.gif: its name ends in one of .svg, .png, .pdf"),
        (["--checkpoint", "nowhere"], "'nowhere': its config.json is none of GPT-2 or Llama"),
        (["--checkpoint", "other"], "'other': it is a model of type 'bert': give gpt2 or llama"),
        (["--checkpoint", "relu"], "'relu': its hidden_act is 'relu': give 'silu'"),
    ],
)
def test_refusals(
    arguments: Sequence[str],
    message: str,
    examples: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    configs = {"other": {"model_type": "bert"}, "relu": {"model_type": "llama"}}
    configs["relu"]["hidden_act"] = "relu"
    for name, config in configs.items():
        Path(name).mkdir()
        Path(name, "config.json").write_text(json.dumps(config))
    assert examples.generate.main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {message}") and error.count("\n") == 1


def test_a_missing_tensor_is_named(examples: Any, tmp_path: Path) -> None:
    sizes = tiny(examples, "gpt2")
    arrays = dict(examples.model_weights.RandomWeights(sizes))
    short = {name: array for name, array in arrays.items() if name != "ln_f.bias"}
    mlir_fp8.save_arrays(tmp_path / "model.safetensors", short)
    checkpoint = examples.model_weights.read_checkpoint(tmp_path)
    with pytest.raises(mlir_fp8.Fp8Error, match=r"tensor 'ln_f.bias' is missing"):
        examples.model_weights.CheckpointWeights(sizes, checkpoint)
    other = replace(sizes, vocabulary=95)
    mlir_fp8.save_arrays(tmp_path / "model.safetensors", arrays)
    wrong = examples.model_weights.CheckpointWeights(
        other, examples.model_weights.read_checkpoint(tmp_path)
    )
    with pytest.raises(mlir_fp8.Fp8Error, match=r"'wte.weight' is \[96, 32\], not \[95, 32\]"):
        wrong["wte.weight"]
