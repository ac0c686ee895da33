"""`fp8-explain --kernels`: which of our kernels a card would run, and what is left to XLA."""

import json
from pathlib import Path

import pytest

import mlir_fp8
from mlir_fp8.tools import explain

DOT = """%{n} = "fp8.scaled_dot"(%q, %{to}, %s) {{
      dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [{i}],
      rhs_contracting_dimensions = [{i}]>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>}}
    : (tensor<{m}x256xf8E4M3FN>, tensor<{rows}x{columns}xf8E4M3FN>, tensor<f32>)
    -> tensor<{result}xf32>"""


def _text(rows: int) -> str:
    """Codes that a forward dot takes as they are, and a gradient's transposed."""
    forward = DOT.format(n=1, to="w", i=1, m=rows, rows=64, columns=256, result=f"{rows}x64")
    backward = DOT.format(n=2, to="g", i=0, m=rows, rows=rows, columns=64, result="256x64")
    return f"""
func.func @main(%x: tensor<{rows}x256xf32>, %s: tensor<f32>, %w: tensor<64x256xf8E4M3FN>,
    %g: tensor<{rows}x64xf8E4M3FN>) -> (tensor<{rows}x64xf32>, tensor<256x64xf32>) {{
  %q = "fp8.quantize"(%x, %s) {{saturate}} : (tensor<{rows}x256xf32>, tensor<f32>)
    -> tensor<{rows}x256xf8E4M3FN>
  {forward}
  {backward}
  return %1, %2 : tensor<{rows}x64xf32>, tensor<256x64xf32>
}}
"""


def test_what_wins_and_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("even.mlir").write_text(_text(8192))
    Path("odd.mlir").write_text(_text(8191))
    common = ["--target=xla-gpu", "--kernels=h200"]
    assert explain.main(["even.mlir", *common]) == 0
    shown = capsys.readouterr().out
    assert "even.mlir:4:8: fp8.quantize becomes quantize_transpose: " in shown
    left = "even.mlir:6:8: fp8.scaled_dot is left to XLA: no time of a product like it is known\n"
    assert left in shown and "\n\neven.mlir: 2 dots" in shown
    assert explain.main(["odd.mlir", *common]) == 0
    assert "odd.mlir:4:8: fp8.quantize is left to XLA: " in capsys.readouterr().out
    assert explain.main(["even.mlir", *common, "--json"]) == 0
    row, *dots = json.loads(capsys.readouterr().out)["kernels"]
    assert len(dots) == 2
    assert row["kernel"] == "quantize_transpose" and row["location"] == "even.mlir:4:8"


def test_updates_of_scales() -> None:
    text = "func.func @main(" + ", ".join(
        f"%x{i}: tensor<8x32xf32>, %w{i}: tensor<32x16xf32>" for i in range(2)
    )
    text += ") -> (tensor<8x16xf32>, tensor<8x16xf32>) {\n"
    for i in range(2):
        text += f"%{i} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [0]"
        text += " : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>\n"
    text += "return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32> }"
    made = mlir_fp8.quantize(text, "delayed").module
    rows = mlir_fp8.explain(made, "xla-gpu", kernels="h200").kernels
    assert [(each.op, each.kernel) for each in rows] == [
        ("fp8.update_scale", "update_scales"),
        *[("fp8.quantize", ""), ("fp8.quantize", "quantize_transpose")] * 2,
        *[("fp8.scaled_dot", "")] * 2,
    ]
    assert rows[0].reason == "it and 3 like it in one launch"
    assert str(made) == str(mlir_fp8.quantize(text, "delayed").module)  # as it was


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernels=h200"], "kernels are of modules for target xla-gpu: ask for it"),
        (
            ["--target=xla-gpu", "--kernels=a100"],
            "is one of h100, h200, or a table's .json, not 'a100'",
        ),
        (["--lint", "--kernels=h200"], "--kernels goes without --lint"),
        (["--hlo=x", "--kernels=h200"], "--kernels goes without --optimized"),
    ],
)
def test_refusals(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.mlir").write_text(_text(8192))
    assert explain.main([str(tmp_path / "m.mlir"), *options]) == 1
    assert message in capsys.readouterr().err
