"""`fp8-explain --hlo`: which kernel each dot became, matched by its place, beside the prediction.

The HLO is XLA's own, of jax 0.11.2 for sm_90a.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.explaining.compared import Comparison, compared
from mlir_fp8.explaining.stack_frames import stack_frames
from mlir_fp8.tools import explain

INPUTS = Path(__file__).parent / "Inputs" / "xla_gpu"
MODULE = INPUTS / "dots.mlir"


def comparison(hlo: str) -> Comparison:
    return compared(mlir_fp8.load(MODULE), hlo, name="dots.mlir", hlo_name="dots.hlo")


def found(made: Comparison) -> list[tuple[list[str], bool]]:
    return [([each.name for each in one.kernels], bool(one.disagreement)) for one in made.outcomes]


def test_each_dot_has_its_kernel() -> None:
    assert found(comparison((INPUTS / "dots.hlo").read_text())) == [
        (["__cublas$lt$matmul$f8"], False),
        # Without Triton the rewriter takes a converted scale: no program is so compiled.
        (["__cublas$lt$matmul$f8"], True),
        (["__cublas$lt$matmul"], False),
        (["fusion kInput"], False),
        (["__cublas$lt$matmul"], False),
    ]


def test_triton_loses_a_converted_scale_as_predicted() -> None:
    made = comparison((INPUTS / "dots_triton.hlo").read_text())
    triton = ["__triton_nested_gemm_fusion dot"]
    assert found(made) == [(triton, False)] * 3 + [(["fusion kInput"], False), (triton, False)]
    assert [each.kernels[0].is_fp8 for each in made.outcomes] == [True, False, False, False, False]
    assert not made.disagreements and not made.others


def test_a_lost_dot_is_a_disagreement() -> None:
    text = (INPUTS / "dots.hlo").read_text().replace("$matmul$f8", "$matmul")
    first = comparison(text.replace("f8e4m3fn[", "bf16[")).outcomes[0]
    assert first.row.location.endswith("dots.mlir:7:9")
    message = "runs in FP8 by our rules, and XLA made __cublas$lt$matmul of it"
    assert first.disagreement == message


def test_a_dot_without_any_kernel_is_a_disagreement() -> None:
    lines = (INPUTS / "dots.hlo").read_text().splitlines()
    text = "\n".join(line for line in lines if "source_line=7 " not in line)
    first = comparison(text).outcomes[0]
    assert first.disagreement == "runs in FP8 by our rules, and XLA made no product of it"


def test_products_of_no_dot_are_listed() -> None:
    text = (INPUTS / "dots.hlo").read_text().replace("source_line=15 ", "source_line=99 ")
    (other,) = comparison(text).others
    assert other.name == "__cublas$lt$matmul"


def test_newer_text_keeps_places_in_tables() -> None:
    text = """HloModule m

FileNames
1 "/src/model.py"
2 "/src/other.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=2 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=1 function_name_id=1 line=58 end_line=58 column=24 end_column=30}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

ENTRY %main () -> f32[] {
  ROOT %x = f32[] constant(0)
}
"""
    keys = ("source_file", "source_line", "source_column")
    assert stack_frames(text)["2"] == dict(zip(keys, ("/src/model.py", "58", "24"), strict=True))
    assert stack_frames("HloModule m\n\nENTRY e {\n  ROOT x = f32[] constant(0)\n}\n") == {}


def test_other_hlo_is_refused() -> None:
    text = (INPUTS / "dots.hlo").read_text().replace("source_line=", "source_line=10")
    with pytest.raises(Fp8Error, match="has no product with a place in this module"):
        comparison(text)
    with pytest.raises(Fp8Error, match="is no HLO that XLA:GPU has optimized"):
        comparison("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }")


def test_hlo_that_was_cut_off_is_refused() -> None:
    lines = (INPUTS / "dots.hlo").read_text().rstrip().splitlines()
    first = next(at for at, line in enumerate(lines) if "custom_call_target" in line)
    for count in (first + 1, len(lines) - 1):
        text = "\n".join(lines[:count])
        with pytest.raises(Fp8Error, match=r"dots\.hlo: HLO was cut off"):
            comparison(text)
        with pytest.raises(Fp8Error, match="HLO was cut off"):
            mlir_fp8.explain(text)


def test_the_tool(capfd: pytest.CaptureFixture[str]) -> None:
    given = [str(MODULE), f"--hlo={INPUTS / 'dots.hlo'}"]
    assert explain.main(given) == 0
    page = capfd.readouterr().out
    assert "not as predicted (not fused): does not run in FP8 by our rules" in page
    assert page.endswith("dots.hlo: 2 in FP8, 4 as predicted, 1 not\n")
    assert explain.main([*given, "--json"]) == 0
    data: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert (data["version"], data["disagreements"]) == (1, 1)
    assert data["outcomes"][0]["kernels"][0]["name"] == "__cublas$lt$matmul$f8"
    assert explain.main([*given, "--require-agreement"]) == 1
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert "dots.mlir:14:9: error: does not run in FP8 by our rules" in error
    agreeing = [str(MODULE), f"--hlo={INPUTS / 'dots_triton.hlo'}", "--require-agreement"]
    assert explain.main(agreeing) == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--require-agreement"], "--require-agreement goes with --optimized or --hlo"),
        (["--optimized", "--lint"], "--optimized and --lint are two questions"),
        (["--optimized", "--target=cublaslt"], "the target can only be xla-gpu"),
        (["--hlo=f", "--require-fused"], "--require-fused goes without --optimized"),
    ],
)
def test_what_does_not_go_together(
    arguments: list[str], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert explain.main([str(MODULE), *arguments]) == 1
    assert reason in capfd.readouterr().err


def test_compiling_without_a_gpu_is_refused_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    jax = pytest.importorskip("jax")
    if any(each.platform == "gpu" for each in jax.devices()):
        pytest.skip("there is a GPU")
    capfd.readouterr()  # what jax says when it starts
    assert explain.main([str(MODULE), "--optimized"]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "jax sees no GPU: run it where one is, or give what XLA dumped there" in line


def test_hlo_of_many_results_is_whole() -> None:
    text = (INPUTS / "dots.hlo").read_text()
    long = text.replace("bf16[256,1], f32[256,128]) {", "bf16[256,1], /*index=5*/f32[256,128]) {")
    assert long != text and found(comparison(long)) == found(comparison(text))


GRADIENT = """
#at = loc("model.py":3:5)
func.func @main(%x: tensor<32x64xbf16>, %w: tensor<64x16xbf16>, %g: tensor<32x16xbf16>)
    -> (tensor<32x64xbf16>, tensor<64x16xbf16>) {
  %dx = stablehlo.dot_general %g, %w, contracting_dims = [1] x [1] : (tensor<32x16xbf16>,
    tensor<64x16xbf16>) -> tensor<32x64xbf16> loc("NAME"(#at))
  %dw = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<32x64xbf16>,
    tensor<32x16xbf16>) -> tensor<64x16xbf16> loc("NAME"(#at))
  return %dx, %dw : tensor<32x64xbf16>, tensor<64x16xbf16>
}
"""
GRADIENT_HLO = """HloModule step, is_scheduled=true

ENTRY %main (x: bf16[32,64], w: bf16[64,16], g: bf16[32,16]) -> (bf16[32,64], bf16[64,16]) {
  %x = bf16[32,64]{1,0} parameter(0)
  %w = bf16[64,16]{1,0} parameter(1)
  %g = bf16[32,16]{1,0} parameter(2)
  %t = bf16[64,32]{1,0} transpose(%x), dimensions={1,0}
  %dw = bf16[64,16]{1,0} custom-call(%t, %g), custom_call_target="__cublas$lt$matmul", METADATA
  %dx = bf16[32,64]{1,0} custom-call(%g, %w), custom_call_target="__cublas$lt$matmul", METADATA
  ROOT %both = (bf16[32,64]{1,0}, bf16[64,16]{1,0}) tuple(%dx, %dw)
}
"""


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("jit(f)/dot_general",
         'op_name="jit(f)/dot_general" source_file="model.py" source_line=3 source_column=5'),
        # A function that XLA inlined, whose ops have its call's name before their own.
        ("dot_general",
         'op_name="jit(f)/while/body/dot_general" source_file="model.py" source_line=3'),
        # One of a loop's body, of which XLA keeps no place.
        ("dot_general", 'op_name="dot_general"'),
    ],
)  # fmt: skip
def test_dots_of_one_place_are_told_apart_by_their_sizes(name: str, metadata: str) -> None:
    made = compared(
        mlir_fp8.load(GRADIENT.replace("NAME", name)),
        GRADIENT_HLO.replace("METADATA", f"metadata={{{metadata}}}"),
        name="gradient.mlir",
        hlo_name="gradient.hlo",
    )
    assert [[each.location for each in one.kernels] for one in made.outcomes] == [
        ["gradient.hlo:9:3"],
        ["gradient.hlo:8:3"],
    ]
    assert not made.others and not made.disagreements


def test_a_name_of_another_function_is_another_dot() -> None:
    metadata = 'op_name="jit(g)/dot_general" source_file="model.py" source_line=3'
    hlo = GRADIENT_HLO.replace("METADATA", f"metadata={{{metadata}}}")
    module = mlir_fp8.load(GRADIENT.replace("NAME", "jit(f)/dot_general"))
    with pytest.raises(Fp8Error, match="has no product with a place in this module"):
        compared(module, hlo, name="gradient.mlir", hlo_name="gradient.hlo")
