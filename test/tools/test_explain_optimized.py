"""HLO that XLA:GPU has optimized is explained as the calls and kernels that it has become.

The input is written as XLA dumps it, after the texts of its gemm_rewriter tests.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tools import explain

HLO = Path(__file__).parent / "Inputs" / "after_optimizations.hlo"
F8 = "(f8e4m3fn[16,32], f8e4m3fn[16,32])"


def rows(text: str) -> list[tuple[str, str, str, str, str]]:
    explanation = mlir_fp8.explain(text, name="f.hlo")
    assert explanation.targets == ("xla-gpu",)
    return [
        (row.op, row.answers[0].verdict, row.operands, row.result, row.details)
        for row in explanation.rows
    ]


def test_each_product_is_what_it_has_become() -> None:
    wide = "(bf16[64,128], bf16[128,64])"
    assert rows(HLO.read_text()) == [
        (
            "__cublas$lt$matmul$f8",
            "fused",
            F8,
            "bf16[16,16]",
            "adds bf16[16,16]; scales f32[], f32[]; bias bf16[16]; alpha 0.5; beta 1; "
            "epilogue BIAS_RELU; precision HIGHEST, DEFAULT; amax of the result",
        ),
        ("__cublas$lt$matmul", "not fused", wide, "bf16[64,64]",
         "alpha 1; beta 0; epilogue DEFAULT"),
        ("__cublas$gemm", "not FP8", "(bf16[16,16], bf16[16,16])", "bf16[16,16]",
         "alpha 1; beta 0; epilogue DEFAULT"),
        ("__triton_gemm dot", "fused", "(f8e4m3fn[64,128], f8e4m3fn[128,64])", "f32[64,64]", ""),
        ("__triton_nested_gemm_fusion dot", "not fused", wide, "f32[64,64]", ""),
        ("dot", "not fused", F8, "f32[16,16]", ""),
    ]  # fmt: skip


def test_places_sources_and_what_is_in_the_way() -> None:
    found = mlir_fp8.explain(HLO.read_text(), name="f.hlo").rows
    assert found[0].location == "f.hlo:31:3"
    assert found[0].callers == ("/src/f.py:7",)
    kinds = [[(each.kind, each.part) for each in row.answers[0].obstacles] for row in found]
    assert kinds == [
        [], [("compiled-wide", "lhs")], [], [], [("compiled-wide", "lhs")],
        [("compiled-as-loop", "dot")],
    ]  # fmt: skip
    message = "the operand comes from f8e4m3fn and is bf16 in the product"
    assert found[1].answers[0].obstacles[0].message == message


def test_lines_as_older_xla_wrote_them() -> None:
    # Types beside operands, no percent signs, attributes on lines of their own, quoted JSON.
    text = """HloModule old

    ENTRY main {
      p0 = f8e4m3fn[16,32]{1,0} parameter(0)
      p1 = f8e5m2[16,32]{1,0} parameter(1)
      s = f32[] constant(2)
      ROOT out = f8e4m3fn[16,16]{1,0} custom-call(f8e4m3fn[16,32]{1,0} p0, f8e5m2[16,32]{1,0} p1,
          f32[] s, f32[] s, f32[] s, /*index=5*/f32[] s),
        custom_call_target="__cublas$lt$matmul$f8",
        backend_config="{
          \\"alpha_real\\":1,
          \\"beta\\":0,
          \\"epilogue\\":\\"GELU\\"
        }"
    }
    """
    assert rows(text) == [
        ("__cublas$lt$matmul$f8", "fused", "(f8e4m3fn[16,32], f8e5m2[16,32])", "f8e4m3fn[16,16]",
         "scales f32[], f32[], f32[], f32[]; alpha 1; beta 0; epilogue GELU"),
    ]  # fmt: skip


def test_calls_in_a_module_that_was_loaded() -> None:
    text = HLO.read_text().split("ENTRY", 1)[1]
    kept = [
        line
        for line in text.splitlines()
        if "fusion" not in line and "tuple(" not in line and "%dot.77" not in line
    ]
    entry = "\n".join(kept[1:-1])
    module = mlir_fp8.load(
        f"HloModule m\n\nENTRY main {{\n{entry}\n  ROOT r = bf16[16,16] add(%out, %p8)\n}}"
    )
    found = mlir_fp8.explain(module, ["xla-gpu", "fp8"]).rows
    assert {row.op: [each.verdict for each in row.answers] for row in found} == {
        "__cublas$lt$matmul$f8": ["fused", "fused"],
        "__cublas$lt$matmul": ["not fused", "not fused"],
        "__cublas$gemm": ["not FP8", "not FP8"],
    }
    (call,) = [row for row in found if row.op.endswith("$f8")]
    assert call.operands == "(tensor<16x32xf8E4M3FN>, tensor<16x32xf8E4M3FN>)"
    assert call.result == "tensor<16x16xbf16>"
    assert call.details.startswith(
        "adds tensor<16x16xbf16>; scales tensor<f32>, tensor<f32>; bias tensor<16xbf16>; alpha 0.5"
    )


def test_the_tool(capfd: pytest.CaptureFixture[str]) -> None:
    assert explain.main([str(HLO), "--only-missing", "--callers"]) == 0
    page = capfd.readouterr().out
    assert "__cublas$lt$matmul$f8" not in page
    assert "2 fused, 0 partly fused, 3 not fused, 1 not FP8" in page
    assert explain.main([str(HLO), "--json"]) == 0
    data: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert data["dots"][0]["details"].startswith("adds bf16[16,16]; scales")
    assert explain.main([str(HLO), "--require-fused"]) == 1


@pytest.mark.parametrize("target", ["cublaslt", "torch-scaled-mm"])
def test_other_targets_cannot_be_asked(target: str) -> None:
    with pytest.raises(Fp8Error, match="was compiled by XLA:GPU: ask for target xla-gpu"):
        mlir_fp8.explain(HLO.read_text(), target)


def test_other_text_is_no_module() -> None:
    with pytest.raises(Fp8Error, match=r"module is a builtins\.str: give what mlir_fp8\.load"):
        mlir_fp8.explain("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }")
