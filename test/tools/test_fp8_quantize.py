"""`fp8-quantize`: modules, prepared weights, what layers cost, and the choice for a bound."""

from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.tools import quantize, run

TEXT = """
func.func @main(%v: tensor<64x32xf32> {mlir_fp8.name = "v"},
    %w: tensor<32x16xf32> {mlir_fp8.name = "w"}, %x: tensor<8x64xf32> {mlir_fp8.name = "x"})
    -> tensor<8x16xf32> {
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
    : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
"""
WEIGHTS = "--weights=v;w"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(5)
    arrays = {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in (("v", (64, 32)), ("w", (32, 16)), ("x", (8, 64)))
    }
    np.savez(tmp_path / "all.npz", v=arrays["v"], w=arrays["w"], x=arrays["x"])
    np.savez(tmp_path / "x.npz", x=arrays["x"])
    (tmp_path / "m.mlir").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_output_it_says_what_would_become_of_each(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quantize.main(["m.mlir", WEIGHTS]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "weight 'v' (tensor<64x32xf32>) becomes f8E4M3FN, 1x32 scale, 8192 bytes become 2176",
        "weight 'w' (tensor<32x16xf32>) becomes f8E4M3FN, 1x16 scale, 2048 bytes become 576",
        "weights: 10240 bytes become 2752, 3.72 times fewer",
    ]


@pytest.mark.parametrize("recipe", ["weight_only", "current", "static"])
@pytest.mark.parametrize("output", ["q.mlir", "q.mlirbc"])
def test_module_and_prepared_weights_run(
    output: str, recipe: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [f"--recipe={recipe}", "--scales=group32", "--args", "all.npz"]
    files = ["-o", output, "--prepared=p.npz"]
    assert quantize.main(["m.mlir", WEIGHTS, *options, *files]) == 0
    assert run.main([output, "--args", "p.npz", "x.npz", "-o", "y.npz"]) == 0
    given = np.load("all.npz")
    want = given["x"] @ given["v"] @ given["w"]
    (got,) = mlir_fp8.load_arrays("y.npz").values()
    assert 1e-3 < np.linalg.norm(got - want) / np.linalg.norm(want) < 0.07
    assert Path("p.npz").stat().st_size < Path("all.npz").stat().st_size / 2


def test_report_and_choice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["m.mlir", WEIGHTS, "--args", "all.npz", "--recipe=current"]
    assert quantize.main([*common, "--report"]) == 0
    head, *rows, everything, total = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["layer", "SQNR"]
    costs = {name: float(sqnr) for name, sqnr, _ in map(str.split, rows)}
    assert set(costs) == {"v", "w"}
    assert everything.startswith("all of them")
    combined = float(everything.split()[-2])
    assert combined < min(costs.values())
    assert total == "weights: 10240 bytes become 2752, 3.72 times fewer"
    bound = (combined + max(costs.values())) / 2
    assert quantize.main([*common, f"--target-sqnr={bound}", "-o", "q.mlir"]) == 0
    out = capsys.readouterr().out.splitlines()
    best, other = sorted(costs, key=costs.__getitem__, reverse=True)
    assert out[0] == f"1 of 2 layers in FP8: {costs[best]:.2f} dB"
    assert out[1] == f"wide: {other}"
    weights = {"v": "64x32", "w": "32x16"}
    written = Path("q.mlir").read_text()
    assert f"tensor<{weights[best]}xf8E4M3FN>" in written
    assert f"tensor<{weights[other]}xf8E4M3FN>" not in written


def test_remarks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert quantize.main(["m.mlir", WEIGHTS, "--remarks", "-o", "q.mlir"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("remark: weight 'v'")
    assert "becomes f32 wide x f8E4M3FN v" in lines[2]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "m.mlir: which weights? Name them by --weights, '*' for all arguments"),
        ([WEIGHTS, "--report"], "--report runs the module: give --args, --batches or --random"),
        ([WEIGHTS, "--recipe=static"], "--recipe=static runs the module: give --args,"),
        ([WEIGHTS, "--prepared=q.mlir"], "-o and --prepared are both 'q.mlir': name two files"),
        ([WEIGHTS, "--observer=mse"], "--observer is that of --recipe=static"),
        ([WEIGHTS, "--per=row"], "--per is that of activations"),
        ([WEIGHTS, "--prepared=p.npz"], "--prepared needs weight 'v': give it with --args"),
        ([WEIGHTS, "--random=0", "--target-sqnr=200"], "no layer can be in FP8 at 200 dB"),
        (["--weights=u"], "has no argument 'u'"),
        ([WEIGHTS, "--wide=u"], "wide has 'u'"),
        ([WEIGHTS, "--random=0", "--report", "-o", "-"], "name a file"),
    ],
)
def test_what_is_refused_leaves_no_file(
    options: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(folder.iterdir())
    output = [] if "-o" in options else ["-o", "q.mlir"]
    assert quantize.main(["m.mlir", *options, *output]) == 1
    error = capsys.readouterr().err
    assert reason in error
    assert len(error.splitlines()) == 1
    assert set(folder.iterdir()) == before


ATTENTION = """
func.func @main(%k: tensor<2x8x128xf32> {mlir_fp8.name = "k"},
    %w: tensor<128x128xf32> {mlir_fp8.name = "w"},
    %row: tensor<2x1x128xf32> {mlir_fp8.name = "row"},
    %at: tensor<i32> {mlir_fp8.name = "at"}) -> (tensor<2x8x128xf32>, tensor<2x1x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %new = stablehlo.dynamic_update_slice %k, %row, %zero, %at, %zero
    : (tensor<2x8x128xf32>, tensor<2x1x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
    -> tensor<2x8x128xf32>
  %q = stablehlo.dot_general %row, %w, contracting_dims = [2] x [0]
    : (tensor<2x1x128xf32>, tensor<128x128xf32>) -> tensor<2x1x128xf32>
  %scores = stablehlo.dot_general %q, %new, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<2x1x128xf32>, tensor<2x8x128xf32>) -> tensor<2x1x8xf32>
  return %new, %scores : tensor<2x8x128xf32>, tensor<2x1x8xf32>
}
"""


@pytest.mark.parametrize("weights", [[], ["--weights=[wk]", "--packed=avx512"]])
@pytest.mark.parametrize("scales", ["token", "head"])
def test_caches(
    scales: str,
    weights: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(ATTENTION)
    rng = np.random.default_rng(5)
    k, row = (rng.standard_normal((2, size, 128)).astype(np.float32) for size in (8, 1))
    w = rng.standard_normal((128, 128)).astype(np.float32)
    np.savez("all.npz", k=k, w=w, row=row, at=np.int32(3))
    np.savez("own.npz", row=row, at=np.int32(3))
    options = ["--cache=k", f"--cache-scales={scales}", *weights]
    assert quantize.main(["m.mlir", *options]) == 0
    kind, size = {"token": ("written beside its rows", "2x8x1"), "head": ("taken", "2x1x1")}[scales]
    shown = capsys.readouterr().out.splitlines()
    assert f"cache 'k' (2x8x128) becomes f8E4M3FN, {size} scale, {kind}" in shown
    assert shown[-1].startswith("weights: " if weights else "cache 'k'")
    files = ["--args", "all.npz", "-o", "q.mlir", "--prepared=p.npz", "--remarks"]
    assert quantize.main(["m.mlir", *options, *files]) == 0
    remarks = capsys.readouterr().err
    assert ("weight 'w' is packed as" in remarks) == bool(weights)
    assert "weight 'k' (" not in remarks
    if not weights:
        np.savez("own.npz", w=w, row=row, at=np.int32(3))
    assert run.main(["q.mlir", "--args", "p.npz", "own.npz", "-o", "y.npz"]) == 0
    got = list(mlir_fp8.load_arrays("y.npz").values())
    k[:, 3] = row[:, 0]
    scores = np.einsum("hqd,hkd->hqk", row @ w, k)
    assert got[0].dtype.name == "float8_e4m3fn"
    assert np.linalg.norm(got[1] - scores) / np.linalg.norm(scores) < 0.07


def test_caches_alone_take_no_options_of_weights(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--packed", "--recipe=current", "--report"):
        assert quantize.main(["m.mlir", "--cache=x", option, "--random=1"]) == 1
        assert "which weights? Name them by --weights" in capsys.readouterr().err


def test_formats_by_layer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--formats=mxfp8;nvfp4", "--wide=", "--args", "all.npz", "--target-sqnr=22"]
    files = ["-o", "q.mlirbc", "--prepared=p.npz"]
    assert quantize.main(["m.mlir", WEIGHTS, *options, *files]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("weights of 10240 bytes take ") and first.endswith(" dB")
    formats = dict(line.split() for line in lines)
    assert list(formats) == ["v", "w"] and set(formats.values()) <= {"mxfp8", "nvfp4", "wide"}
    assert run.main(["q.mlirbc", "--args", "p.npz", "x.npz", "-o", "y.npz"]) == 0
    given = np.load("all.npz")
    want = given["x"].astype(np.float64) @ given["v"] @ given["w"]
    noise = np.square(np.load("y.npz")["res0"] - want).sum() / np.square(want).sum()
    assert -10 * np.log10(noise) == pytest.approx(float(first.split()[-2]), abs=0.1)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--formats=mxfp8"], "those that --target-sqnr chooses among"),
        (["--formats=fp3", "--target-sqnr=20"], "'fp3' is no format"),
        (["--formats=", "--target-sqnr=20"], "'' is no format"),
        (["--formats=mxfp8", "--target-sqnr=20", "--recipe=nvfp4"], "drop --recipe"),
        (["--formats=mxfp8", "--target-sqnr=20", "--report"], "drop --report"),
    ],
)
def test_formats_and_what_they_exclude(
    options: list[str], reason: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert quantize.main(["m.mlir", WEIGHTS, "--args", "all.npz", *options]) == 1
    assert reason in capsys.readouterr().err
