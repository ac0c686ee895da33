"""Reports rate every value in block formats: by numbers of numpy, and by what a recipe computes."""

import json

import numpy as np
import pytest
from block_format_reference import microxcaling, wide
from block_programs import values

import mlir_fp8
from mlir_fp8 import MXScaling, NVFP4Scaling
from mlir_fp8.reporting.block_choice import BLOCK_FORMATS, block_candidates
from mlir_fp8.reporting.words import summary

RECIPES = [MXScaling(each.element) for each in BLOCK_FORMATS[:-1]] + [NVFP4Scaling()]


def decibels(x: np.ndarray, back: np.ndarray) -> float:
    exact = x.astype(np.float64)
    return 10 * np.log10(np.square(exact).sum() / np.square(back - exact).sum())


@pytest.mark.parametrize("shape", [(64, 96), (3, 5, 40), (7,)], ids=str)
def test_candidates(shape: tuple[int, ...]) -> None:
    x = values(sum(shape), shape)
    for found, recipe in zip(block_candidates(x), RECIPES, strict=True):
        back = wide(x, recipe)
        assert found.sqnr_db is not None
        assert abs(found.sqnr_db - decibels(x, back)) < 0.01, found.format.name
        assert found.zero == ((back == 0) & (x != 0)).sum()
    codes, exponents = microxcaling(x, "f4E2M1FN")
    scale = np.exp2(exponents).repeat(32, -1)[..., : x.shape[-1]]
    clipped = (np.abs(x) > 6 * scale).sum()
    assert block_candidates(x)[4].clipped == clipped and (np.abs(codes) == 6).sum() >= clipped


def test_what_is_not_finite_counts_as_zero() -> None:
    x = values(0, (4, 32))
    y = x.copy()
    x[0, 0], y[0, 0] = np.nan, 0
    x[1, 1], y[1, 1] = np.inf, 0
    assert block_candidates(x) == block_candidates(y)


def test_powers_of_two_lose_nothing() -> None:
    x = np.exp2(np.arange(64.0) % 2).astype(np.float32)
    assert [each.sqnr_db for each in block_candidates(x)][:-1] == [None] * 5
    assert block_candidates(np.array(1.0, np.float32))[0].sqnr_db is None


def test_the_report_has_them() -> None:
    x = values(1, (16, 64))
    text = """func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %0 = stablehlo.tanh %x : tensor<16x64xf32>
      return %0 : tensor<16x64xf32>
    }"""
    found = json.loads(mlir_fp8.report(text, x).to_json())
    argument = found["values"][0]
    assert [each["format"] for each in argument["block_candidates"]] == [
        each.name for each in BLOCK_FORMATS
    ]
    by_name = {each["format"]: each["sqnr_db"] for each in argument["block_candidates"]}
    assert by_name["MXFP8 E4M3"] > by_name["MXFP8 E5M2"] > by_name["MXFP4"]
    zeros = json.loads(mlir_fp8.report(text, 0 * x).to_json())
    assert zeros["values"][0]["block_candidates"] == []


def test_the_page_and_the_terminal_have_them() -> None:
    x = values(1, (16, 64))
    report = mlir_fp8.report(
        "func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {"
        " return %x : tensor<16x64xf32> }",
        x,
    )
    rated = {each.format.name: each for each in block_candidates(x)}
    best = max(("MXFP4", "NVFP4"), key=lambda name: rated[name].sqnr_db or 0)
    page = report.to_html()
    assert "blocks would give" in page
    assert f"{best}: {rated[best].sqnr_db:.1f} dB</td>" in page
    lines = list(summary(report))
    (start,) = (i for i, line in enumerate(lines) if "of the values in blocks" in line)
    head, row = lines[start + 1 : start + 3]
    assert head.split("  ")[-1] == "NVFP4" and row.startswith("%arg0")
    shares = (100 * count / x.size for count in (rated["NVFP4"].zero, rated["NVFP4"].clipped))
    wanted = [
        f"{rated['NVFP4'].sqnr_db:.1f}",
        *(f"{share:.2f}" if share else "0" for share in shares),
    ]
    assert row.split()[-3:] == wanted
