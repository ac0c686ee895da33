"""`fp8-run` on `.safetensors` files: `--args`, `--expect` and `-o`."""

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.tools.run import main

pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")

MODEL = """func.func @main(%a: tensor<2xf8E4M3FN>, %b: tensor<2xbf16>, %c: tensor<4xf4E2M1FN>)
    -> (tensor<2xbf16>, tensor<4xf4E2M1FN>, tensor<2xf8E8M0FNU>) {
  %0 = stablehlo.convert %a : (tensor<2xf8E4M3FN>) -> tensor<2xbf16>
  %1 = stablehlo.add %0, %b : tensor<2xbf16>
  %2 = stablehlo.convert %a : (tensor<2xf8E4M3FN>) -> tensor<2xf8E8M0FNU>
  return %1, %c, %2 : tensor<2xbf16>, tensor<4xf4E2M1FN>, tensor<2xf8E8M0FNU>
}"""
OPEN = "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }"
ARGUMENTS = {
    "arg0": np.array([1, 2], ml_dtypes.float8_e4m3fn),
    "arg1": np.array([0.5, -8], ml_dtypes.bfloat16),
    "arg2": np.array([0.5, -6, 3, 0], ml_dtypes.float4_e2m1fn),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.mlir").write_text(MODEL)
    (tmp_path / "open.mlir").write_text(OPEN)
    mlir_fp8.save_arrays("in.safetensors", ARGUMENTS)
    return tmp_path


@pytest.mark.parametrize("file", ["out.safetensors", "out.safetensors.index.json", "out.npz"])
def test_results_come_back(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["model.mlir", "--args", "in.safetensors", "-o", file]) == 0
    results = mlir_fp8.load_arrays(file)
    assert [(name, str(each.dtype)) for name, each in sorted(results.items())] == [
        ("res0", "bfloat16"),
        ("res1", "float4_e2m1fn"),
        ("res2", "float8_e8m0fnu"),
    ]
    assert results["res0"].astype(float).tolist() == [1.5, -6]
    assert results["res1"].astype(float).tolist() == [0.5, -6, 3, 0]
    assert results["res2"].astype(float).tolist() == [1, 2]
    assert main(["model.mlir", "--args", "in.safetensors", "--expect", file]) == 0
    assert capfd.readouterr().out.count("ok\n") == 3


def test_a_result_that_differs(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["model.mlir", "--args", "in.safetensors", "-o", "out.safetensors"]) == 0
    results = dict(mlir_fp8.load_arrays("out.safetensors"))
    results["res2"] = np.array([1, 4], results["res2"].dtype)
    mlir_fp8.save_arrays("out.safetensors", results)
    command = ["model.mlir", "--args", "in.safetensors", "--expect", "out.safetensors"]
    assert main(command) == 1
    message = "error: 1 of 3 results differ from 'out.safetensors' by more than 1e-05\n"
    assert capfd.readouterr().err == message


def test_arguments_in_shards() -> None:
    mlir_fp8.save_arrays("in.safetensors.index.json", ARGUMENTS, shard_bytes=3)
    command = ["model.mlir", "--args", "in.safetensors.index.json", "-o", "out.npz"]
    assert main(command) == 0
    assert mlir_fp8.load_arrays("out.npz")["res0"].astype(float).tolist() == [1.5, -6]


def test_one_argument_of_any_name_and_size() -> None:
    mlir_fp8.save_arrays("x.safetensors", {"weight": np.arange(3, dtype=np.float32)})
    assert main(["open.mlir", "--args", "x.safetensors", "-o", "y.safetensors"]) == 0
    assert mlir_fp8.load_arrays("y.safetensors")["res0"].tolist() == [0, 1, 2]


def test_pipes(folder: Path) -> None:
    command = [sys.executable, "-m", "mlir_fp8.tools.run", "open.mlir", "--args", "-", "-o", "-"]
    mlir_fp8.save_arrays("x.safetensors", {"weight": np.arange(3, dtype=np.float32)})
    data = (folder / "x.safetensors").read_bytes()
    (folder / "out.npz").write_bytes(
        subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
    )
    assert mlir_fp8.load_arrays("out.npz")["res0"].tolist() == [0, 1, 2]


def _refusal(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 1
    output, error = capfd.readouterr()
    assert output == ""
    return error


def test_names_that_say_no_order(capfd: pytest.CaptureFixture[str]) -> None:
    mlir_fp8.save_arrays("x.safetensors", dict(zip("abc", ARGUMENTS.values(), strict=True)))
    assert _refusal(["model.mlir", "--args", "x.safetensors"], capfd) == (
        "error: 'x.safetensors' does not keep the order of its arrays: name them arg0, arg1, ...\n"
    )


def test_beside_other_files(capfd: pytest.CaptureFixture[str]) -> None:
    error = _refusal(["model.mlir", "--args", "in.safetensors", "in.safetensors"], capfd)
    assert error == (
        "error: 'in.safetensors' is a .safetensors: give it alone, or one .npy per array\n"
    )


def test_damage_is_one_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = (folder / "in.safetensors").read_bytes()
    (folder / "in.safetensors").write_bytes(data[:-1])
    error = _refusal(["model.mlir", "--args", "in.safetensors", "-o", "out.npz"], capfd)
    assert error.startswith("error: 'in.safetensors' cannot be read: ")
    assert error.count("\n") == 1
    assert not (folder / "out.npz").exists()


def test_results_that_the_form_cannot_hold(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    type_ = "tensor<complex<f64>>"
    (folder / "c.mlir").write_text(
        f"func.func @main(%a: {type_}) -> {type_} {{ return %a : {type_} }}"
    )
    error = _refusal(["c.mlir", "--random", "0", "-o", "out.safetensors"], capfd)
    assert error == (
        "error: 'out.safetensors' cannot hold 'res0', which is complex128: write an .npz\n"
    )
