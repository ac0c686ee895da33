"""The tools on `.pt2` files: run, explained, made artifacts, bound by name."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch.nn", reason="pip install 'mlir-fp8[torch]'")
pytest.importorskip("safetensors", reason="pip install 'mlir-fp8[torch]'")

import torch
from saved import Net, save

import mlir_fp8
import mlir_fp8.torch
from mlir_fp8.tools import explain, opt, run, translate

HERE = str(Path(__file__).parent / "saved.py")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """A folder with `net.pt2` and `x.safetensors`; the input, and what eager gives for it."""
    folder = tmp_path_factory.mktemp("pt2")
    torch.manual_seed(0)
    model, x = Net(), torch.randn(16, 64)
    save(folder / "net.pt2", model, x)
    mlir_fp8.save_arrays(folder / "x.safetensors", {"x": x})
    return folder, x, model(x).detach().numpy()


@pytest.fixture(autouse=True)
def folder(made: tuple[Path, Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for file in made[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _results() -> list[np.ndarray]:
    return list(mlir_fp8.load_arrays("out.npz").values())


def test_run_takes_weights_from_the_file(
    made: tuple[Path, Any, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["net.pt2", "--args", "x.safetensors"]
    assert run.main([*command, "-o", "out.npz"]) == 0
    count, y = _results()
    assert count.tolist() == [1]
    np.testing.assert_allclose(y, made[2], rtol=1e-5, atol=1e-6)
    assert run.main(command) == 0
    out, err = capfd.readouterr()
    assert out.startswith("res0 count (written) : tensor<1xf32>  min 1  max 1")
    assert err == ""


def test_run_binds_inputs_in_order_too(made: tuple[Path, Any, Any]) -> None:
    np.save("any.npy", made[1].numpy())
    np.savez("any.npz", arg0=made[1].numpy())
    for file in ("any.npy", "any.npz"):
        assert run.main(["net.pt2", "--args", file, "-o", "out.npz"]) == 0
        np.testing.assert_allclose(_results()[1], made[2], rtol=1e-5, atol=1e-6)


def test_arrays_given_count_before_those_of_the_file(made: tuple[Path, Any, Any]) -> None:
    weight = np.zeros((20, 32), np.float32)
    mlir_fp8.save_arrays("w.safetensors", {"rest.0.weight": weight, "count": np.ones(1, "f4")})
    command = ["net.pt2", "--args", "x.safetensors", "--args", "w.safetensors", "-o", "out.npz"]
    assert run.main(command) == 0
    count, y = _results()
    assert count.tolist() == [2]
    assert not y.any()


def test_an_artifact_without_weights_runs_on_them_by_name(
    made: tuple[Path, Any, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    write = ["--serialize", "--target=1.0.0", "net.pt2", "-o", "net.mlirbc"]
    assert translate.main(write) == 0
    remark = "remark: net.pt2: 3 weights are arguments of 'main': --weights=FILE.safetensors"
    assert capfd.readouterr().err == f"{remark} writes them\n"
    assert translate.main([*write, "--weights=w.safetensors"]) == 0
    assert capfd.readouterr() == ("", "")
    assert Path("net.mlirbc").stat().st_size < 1500
    assert set(mlir_fp8.load_arrays("w.safetensors")) == {"first.weight", "rest.0.weight", "count"}
    for files in (["w.safetensors", "--args", "x.safetensors"], ["x.safetensors", "net.pt2"]):
        assert run.main(["net.mlirbc", "--args", *files, "-o", "out.npz"]) == 0
        np.testing.assert_allclose(_results()[1], made[2], rtol=1e-5, atol=1e-6)
    assert run.main(["net.mlirbc", "--args", "x.safetensors"]) == 1
    assert "argument 0 'first.weight' (tensor<32x64xf32>) is missing" in capfd.readouterr().err


def test_misplaced_weights_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    Path("no.mlir").write_text("func.func @main() { return }")
    for arguments, reason in (
        (["--deserialize", "net.pt2", "--weights=w.npz"], "--weights goes with --serialize"),
        (["--serialize", "net.pt2", "--weights=w.bin"], "--weights=w.bin: give a file of another"),
        (["--serialize", "no.mlir", "--weights=w.npz"], "--weights is of .pt2 files"),
    ):
        assert translate.main([*arguments, "-o", "out"]) == 1
        assert reason in capfd.readouterr().err
    assert not Path("w.npz").exists()


def test_run_says_what_is_missing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run.main(["net.pt2"]) == 1
    said = "'main' takes 1 argument beside 3 of the file (x: tensor<16x64xf32>): give them with"
    assert said in capfd.readouterr().err
    mlir_fp8.save_arrays("other.safetensors", {"a": np.ones(1), "b": np.ones(1)})
    assert run.main(["net.pt2", "--args", "other.safetensors"]) == 1
    said = "'other.safetensors' does not keep the order of its arrays: name them x\n"
    assert capfd.readouterr().err.endswith(said)
    assert run.main(["net.pt2", "--args", "x.safetensors", "other.safetensors"]) == 1
    said = "'a' of other.safetensors is one argument too many: 'main' takes 4\n"
    assert capfd.readouterr().err.endswith(said)
    np.savez("a.npz", a=np.ones(1), b=np.ones(1))
    assert run.main(["net.pt2", "--args", "a.npz", "other.safetensors"]) == 1
    assert "'a.npz' is an .npz: give it alone" in capfd.readouterr().err


def test_random_inputs_leave_weights_as_they_are() -> None:
    for _ in range(2):
        assert run.main(["net.pt2", "--random", "7", "-o", "out.npz"]) == 0
    x = np.random.Generator(np.random.PCG64(7)).standard_normal((16, 64), np.float32)
    module = mlir_fp8.torch.export("net.pt2")
    expected = module(torch.from_numpy(x)).numpy()
    np.testing.assert_array_equal(_results()[1], expected)


def test_open_sizes_are_those_of_the_arrays(capfd: pytest.CaptureFixture[str]) -> None:
    rows = torch.export.Dim("rows", min=2, max=8)
    save(Path("open.pt2"), torch.nn.Linear(4, 2), torch.ones(3, 4), dynamic_shapes=({0: rows},))
    np.save("x.npy", np.ones((5, 4), np.float32))
    assert run.main(["open.pt2", "--args", "x.npy", "--compare=llvm,interpreter"]) == 0
    assert "tensor<5x2xf32>" in capfd.readouterr().out
    np.save("x.npy", np.ones((9, 4), np.float32))
    assert run.main(["open.pt2", "--args", "x.npy"]) == 1
    assert "is 9, exported for 2 to 8" in capfd.readouterr().err


def test_rows_are_by_module_and_say_what_would_be(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain.main(["net.pt2", "--target=torch-scaled-mm"]) == 0
    out, err = capfd.readouterr()
    first, would_be, second, *rest = out.splitlines()
    assert first.startswith(f"first ({HERE}:")
    assert "): not FP8: dot_general tensor<16x64xf32>" in first
    assert would_be == "  in FP8 by current scaling: fused"
    assert second.startswith(f"rest.0 ({HERE}:")
    assert rest[0] == "  in FP8 by current scaling: not fused"
    assert "multiples of 16: N = 20 [dims-multiple-of-16]" in rest[1]
    assert rest[-1].endswith("1 fused, 0 partly fused, 1 not fused, 0 not FP8")
    assert err == ""


def test_rows_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain.main(["net.pt2", "--target=cublaslt", "--target=torch-scaled-mm", "--json"]) == 0
    dots = json.loads(capfd.readouterr().out)["dots"]
    assert [each["module"] for each in dots] == ["first", "rest.0"]
    verdicts = [[answer["verdict"] for answer in each["if_quantized"]] for each in dots]
    assert verdicts == [["fused", "fused"], ["not fused", "not fused"]]


def test_float8_in_the_model_is_fused(capfd: pytest.CaptureFixture[str]) -> None:
    class Scaled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randn(32, 64).to(torch.float8_e4m3fn))

        def forward(self, x: Any) -> Any:
            one = torch.ones(())
            return torch._scaled_mm(x, self.weight.t(), one, one, out_dtype=torch.bfloat16)

    model = torch.nn.Sequential(Scaled())
    save(Path("f8.pt2"), model, torch.randn(16, 64).to(torch.float8_e4m3fn))
    assert explain.main(["f8.pt2", "--target=torch-scaled-mm", "--require-all"]) == 0
    out = capfd.readouterr().out
    assert out.startswith(f"0 ({__file__}:")
    assert "in FP8 by" not in out
    assert run.main(["f8.pt2", "--random", "0"]) == 0


def test_every_tool_and_function_takes_the_file(
    made: tuple[Path, Any, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert opt.main(["net.pt2", "--canonicalize", "--split-input-file"]) == 0
    assert 'mlir_fp8.name = "first.weight"' in capfd.readouterr().out
    assert translate.main(["--stablehlo-to-hlo-text", "net.pt2"]) == 0
    assert "ENTRY main" in capfd.readouterr().out
    assert translate.main(["--inspect", "net.pt2", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["header"]["kind"] == "zip"
    weights = mlir_fp8.load_arrays("net.pt2")
    assert list(weights) == ["first.weight", "rest.0.weight", "count"]
    arrays = [*weights.values(), made[1].numpy()]
    for results in (
        mlir_fp8.compile("net.pt2")(*arrays),
        mlir_fp8.compile(Path("net.pt2").read_bytes())(*arrays),
        mlir_fp8.interpret(mlir_fp8.load("net.pt2"), *arrays),
    ):
        np.testing.assert_allclose(results[1], made[2], rtol=1e-5, atol=1e-6)
    assert mlir_fp8.compare("net.pt2", *arrays, judges=("llvm", "interpreter")).is_good
    assert mlir_fp8.report("net.pt2", *arrays).values
    assert len(mlir_fp8.quantize("net.pt2", "delayed").state) == 8


def test_pipes() -> None:
    data = Path("net.pt2").read_bytes()
    command = [sys.executable, "-m", "mlir_fp8.tools.run", "-", "--args", "x.safetensors"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert done.stdout.startswith(b"res0 count (written)")
    assert done.stderr == b""


def test_two_processes_on_one_file_of_a_folder_that_is_read_only(folder: Path) -> None:
    folder.chmod(0o555)
    try:
        command = [sys.executable, "-m", "mlir_fp8.tools.explain", "net.pt2", "--json"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        both = [subprocess.Popen(command, **pipes) for _ in range(2)]
        outputs = [each.communicate() for each in both]
    finally:
        folder.chmod(0o755)
    assert outputs[0] == outputs[1]
    assert outputs[0][1] == b""
    assert [each.returncode for each in both] == [0, 0]


def test_pytorch_is_not_imported_before_a_file_of_its() -> None:
    Path("m.mlir").write_text("func.func @main(%a: tensor<2xf32>) { return }")
    code = """
import sys
from mlir_fp8.tools import explain, opt, run, translate
assert not opt.main(["m.mlir"]) | run.main(["m.mlir", "--random", "0"]) | explain.main(["m.mlir"])
assert not translate.main(["--serialize", "m.mlir", "-o", "m.mlirbc"])
assert "torch" not in sys.modules
assert not explain.main(["net.pt2"])
assert "torch" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
