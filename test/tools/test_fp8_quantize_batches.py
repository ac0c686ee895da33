"""`fp8-quantize --batches`: scales, costs and choices of many batches, and `--smoothing`."""

from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.tools import quantize, run

TEXT = """
func.func @main(%v: tensor<16x8xf32> {mlir_fp8.name = "v"},
    %w: tensor<8x4xf32> {mlir_fp8.name = "w"}, %x: tensor<6x16xf32> {mlir_fp8.name = "x"})
    -> tensor<6x4xf32> {
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
    : (tensor<6x16xf32>, tensor<16x8xf32>) -> tensor<6x8xf32>
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
    : (tensor<6x8xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
"""
RNG = np.random.default_rng(43)
V, W = (RNG.standard_normal(shape).astype(np.float32) for shape in ((16, 8), (8, 4)))
BATCHES = RNG.standard_normal((3, 6, 16)).astype(np.float32) * np.array([1, 5, 2])[:, None, None]
BATCHES = BATCHES.astype(np.float32)
COMMON = ["m.mlir", "--weights=v;w", "--args", "w.npz"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(TEXT)
    np.savez("w.npz", v=V, w=W)
    Path("many").mkdir()
    for number, x in enumerate(BATCHES):
        np.save(f"many/{number}.npy", x)
    Path("many/readme.txt").write_text("no batch")
    np.savez("stack.npz", x=BATCHES)
    return tmp_path


def sqnrs(report: str) -> tuple[list[float], float, float]:
    """Those of each batch by Python's own means, the worst and the mean that `report` has."""
    trial = mlir_fp8.Trial(TEXT, "current", list(BATCHES), {"v": V, "w": W}, weights=["v", "w"])
    _, each = trial.measured(["v", "w"])
    line = next(line for line in report.splitlines() if line.startswith("all of them"))
    worst, mean = (float(line.partition(f"{word} ")[2].split(",")[0].rstrip(")"))
                   for word in ("worst batch", "mean"))  # fmt: skip
    return list(each), worst, mean


@pytest.mark.parametrize("batches", ["many", "stack.npz"])
def test_worst_and_mean_are_printed(
    batches: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--batches={batches}", "--recipe=current", "--report"]
    assert quantize.main([*COMMON, *options]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["measured 1 of 2 layers", "measured 2 of 2 layers"]
    each, worst, mean = sqnrs(captured.out)
    assert len(each) == 3 and len(set(each)) == 3
    assert worst == pytest.approx(min(each), abs=0.006)
    assert mean == pytest.approx(sum(each) / 3, abs=0.006)
    rows = captured.out.splitlines()[1:3]
    assert all("worst batch" in row for row in rows)
    bound = f"--target-sqnr={worst - 1}"
    assert quantize.main([*COMMON, f"--batches={batches}", "--recipe=current", bound]) == 0
    assert capsys.readouterr().out.startswith("2 of 2 layers in FP8: ")


@pytest.mark.parametrize("batches", ["many", "stack.npz"])
def test_scales_are_of_all_batches(
    batches: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--batches={batches}", "--recipe=static", "-o", "q.mlir", "--prepared=p.npz"]
    assert quantize.main([*COMMON, *options]) == 0
    assert "calibrated on 3 of 3 batches" in capsys.readouterr().err
    calibration = mlir_fp8.Calibration(TEXT, weights=["v", "w"])
    recipe = mlir_fp8.StaticScaling(calibration.run(list(BATCHES), {"v": V, "w": W}))
    made = mlir_fp8.quantize(TEXT, recipe, weights=["v", "w"])
    assert Path("q.mlir").read_text() == f"{made.module}\n"
    np.savez("x.npz", x=BATCHES[1])
    assert run.main(["q.mlir", "--args", "p.npz", "x.npz", "-o", "y.npz"]) == 0
    (got,) = mlir_fp8.load_arrays("y.npz").values()
    want = BATCHES[1] @ V @ W
    assert np.linalg.norm(got - want) / np.linalg.norm(want) < 0.1


def test_a_batch_wins_over_args(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("all.npz", v=V, w=W, x=np.full((6, 16), np.inf, np.float32))
    options = ["--batches=stack.npz", "--recipe=static"]
    assert quantize.main(["m.mlir", "--weights=v;w", "--args", "all.npz", *options]) == 0


def test_smoothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--batches=many", "--smoothing=0.5", "--wide=", "-o", "q.mlir"]
    assert quantize.main([*COMMON, *options, "--recipe=current"]) == 0
    smoothing = mlir_fp8.Smoothing(TEXT, weights=["v", "w"])
    smoothing.run(list(BATCHES), {"v": V, "w": W})
    made = mlir_fp8.quantize(TEXT, "current", weights=["v", "w"], wide=[], smoothing=smoothing)
    assert Path("q.mlir").read_text() == f"{made.module}\n"
    assert quantize.main([*COMMON, *options, "--recipe=static", "--report"]) == 0
    assert "mlir_fp8.smoothing" in Path("q.mlir").read_text()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--batches=none"], "cannot read 'none': No such file or directory"),
        (["--batches=empty"], "'empty' has no batch"),
        (["--batches="], "cannot read ''"),
        (["--batches=odd.npz"], "arrays are of one number of batches"),
        (["--batches=wrong.npz"], "argument 2 'x' (batch 0 of 'x' of wrong.npz)"),
        (["--batches=two.npz"], "is one argument too many"),
        (["--batches=scalar.npz"], "has no first dimension, of batches"),
        (["--batches=stack.npz", "--recipe=weight_only", "--smoothing=0.5"], "take --recipe=curre"),
        (["--batches=stack.npz", "--smoothing=2"], "strength is 2.0: it is between 0"),
    ],
)
def test_what_is_refused(
    options: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    np.savez("odd.npz", x=BATCHES, v=V)
    np.savez("wrong.npz", x=BATCHES[:, :5])
    np.savez("two.npz", x=BATCHES, y=BATCHES)
    np.savez("scalar.npz", x=np.float32(1))
    assert quantize.main([*COMMON, "--recipe=static", *options, "-o", "q.mlir"]) == 1
    error = capsys.readouterr().err
    assert reason in error
    assert len(error.splitlines()) == 1
    assert not Path("q.mlir").exists()


def test_no_args_beside_batches(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All may be in the batches; what is in neither is named."""
    common = ["m.mlir", "--weights=v;w", "--recipe=static", "--batches=stack.npz"]
    assert quantize.main(common) == 1
    assert "argument 0 'v' (tensor<16x8xf32>) is missing in stack.npz" in capsys.readouterr().err
    assert quantize.main([*common, "--random=0"]) == 1
    assert "drop --random" in capsys.readouterr().err
