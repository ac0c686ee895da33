"""`fp8-translate` with FP8 checkpoints: a module for one, and one in the other form."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.tools.run import main as run
from mlir_fp8.tools.translate import main

pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")

MODULE = """
func.func @main(%w: tensor<2x4xf32> {mlir_fp8.name = "up.weight"}, %x: tensor<1x4xf32>)
    -> tensor<1x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
    : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}"""
CONFIG = {"hidden_size": 4, "quantization_config": {"quant_method": "fp8"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deepseek").mkdir()
    config = CONFIG["quantization_config"] | {"weight_block_size": [128, 128]}
    (tmp_path / "deepseek" / "config.json").write_text(
        json.dumps(CONFIG | {"quantization_config": config})
    )
    tensors = {
        "up.weight": np.array([[1, 2, 3, 4], [5, 6, 7, 8]], ml_dtypes.float8_e4m3fn),
        "up.weight_scale_inv": np.array([[0.5]], np.float32),
    }
    mlir_fp8.save_arrays("deepseek/model.safetensors", tensors)
    (tmp_path / "model.mlir").write_text(MODULE)
    np.savez("x.npz", arg0=np.ones((1, 4), np.float32))
    return tmp_path


def test_a_module_and_its_weights(capfd: pytest.CaptureFixture[str]) -> None:
    flags = ["--checkpoint=deepseek", "--weights=f8.safetensors"]
    assert main(["--serialize", "model.mlir", *flags, "-o", "model.mlirbc"]) == 0
    remark = "remark: model.mlir: 1 weights of 32 bytes are 12 bytes of f8 and scales\n"
    assert capfd.readouterr().err == remark
    assert sorted(mlir_fp8.load_arrays("f8.safetensors")) == ["up.weight", "up.weight_scale"]
    assert run(["model.mlirbc", "--args", "f8.safetensors", "x.npz", "-o", "y.npz"]) == 0
    np.testing.assert_allclose(np.load("y.npz")["res0"], [[5, 13]], rtol=1e-6)


def test_without_weights_a_remark_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--serialize", "model.mlir", "--checkpoint=deepseek", "-o", "model.mlirbc"]) == 0
    assert "; --weights=FILE.safetensors writes them" in capfd.readouterr().err


def test_another_form(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--convert-checkpoint", "deepseek", "-o", "new"]) == 0
    assert capfd.readouterr().err == "remark: new: 1 f8 weights, 0 other tensors, 12 bytes\n"
    config = json.loads(Path("new/config.json").read_text())
    assert config["hidden_size"] == 4
    group = config["quantization_config"]["config_groups"]["group_0"]
    assert group["weights"]["block_structure"] == [128, 128]
    assert group["input_activations"]["strategy"] == "group"
    weight = mlir_fp8.load_checkpoint("new").weights["up.weight"]
    assert weight.dequantized().tolist() == [[0.5, 1, 1.5, 2], [2.5, 3, 3.5, 4]]


REFUSED = {
    "over itself": (["--convert-checkpoint", "deepseek", "-o", "deepseek"], "would overwrite 'dee"),
    "to stdout": (["--convert-checkpoint", "deepseek"], "takes a folder or file, and -o FOLDER"),
    "no checkpoint": (["--convert-checkpoint", ".", "-o", "new"], "holds no one checkpoint (none)"),
    "deserialize": (
        ["--deserialize", "model.mlir", "--checkpoint=d"],
        "--checkpoint goes with --s",
    ),
    "missing": (
        ["--serialize", "model.mlir", "--checkpoint=nowhere", "-o", "m.mlirbc"],
        "cannot read 'nowhere'",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    argv, message = REFUSED[what]
    assert main(argv) == 1
    error = capfd.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not Path("new").exists() and not Path("m.mlirbc").exists()


def test_a_mismatch_leaves_no_file(capfd: pytest.CaptureFixture[str]) -> None:
    Path("model.mlir").write_text(MODULE.replace("2x4xf32", "2x5xf32").replace("1x4x", "1x5x"))
    flags = ["--checkpoint=deepseek", "--weights=f8.safetensors"]
    assert main(["--serialize", "model.mlir", *flags, "-o", "model.mlirbc"]) == 1
    error = capfd.readouterr().err
    assert (
        "'up.weight' is tensor<2x4xf8E4M3FN>, and argument 'up.weight' is tensor<2x5xf32>" in error
    )
    assert not Path("model.mlirbc").exists() and not Path("f8.safetensors").exists()
