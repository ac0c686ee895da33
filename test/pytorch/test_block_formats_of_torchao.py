"""Scales and codes of block formats as torchao's have them, number by number."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("torch.nn")
pytest.importorskip("torchao.prototype.mx_formats.mx_tensor")

import torch
from block_programs import scaling, values
from torchao.prototype.mx_formats import mx_tensor, nvfp4_tensor
from torchao.prototype.mx_formats.config import ScaleCalculationMode

import mlir_fp8.torch
from mlir_fp8.passes.pass_pipeline import run_pipeline

ELEMENTS: dict[str, Any] = {
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "f6E2M3FN": "fp6_e2m3",
    "f6E3M2FN": "fp6_e3m2",
    "f4E2M1FN": torch.float4_e2m1fn_x2,
}
MODES = {"floor": "FLOOR", "ceil": "RCEIL", "even": "EVEN"}
SHAPE = (64, 128)


def unpacked(data: torch.Tensor, format_: str) -> np.ndarray:
    """The codes that torchao packs two to a byte, or keeps one in a byte."""
    codes = data.view(torch.uint8).numpy()
    if format_ != "f4E2M1FN":
        return codes
    return np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)


@pytest.mark.parametrize("format_", ELEMENTS)
@pytest.mark.parametrize("rounding", MODES)
def test_mx(format_: str, rounding: str) -> None:
    x = values(len(format_), SHAPE)
    codes, scales = scaling(SHAPE, (1, 32), format_, f"mx_{rounding}", None)(x)
    mode = ScaleCalculationMode[MODES[rounding]]
    theirs, data = mx_tensor.to_mx(torch.from_numpy(x), ELEMENTS[format_], 32, mode)
    np.testing.assert_array_equal(scales.view(np.uint8), theirs.view(torch.uint8).numpy())
    np.testing.assert_array_equal(codes.view(np.uint8), unpacked(data, format_))


def test_nvfp4() -> None:
    x = values(3, SHAPE)
    codes, scales, factor = scaling(SHAPE, (1, 16), "f4E2M1FN", "nvfp4", None)(x)
    amax = torch.from_numpy(x).abs().amax()
    of_tensor = nvfp4_tensor.per_tensor_amax_to_scale(amax)
    assert factor == of_tensor.item()
    theirs, data = nvfp4_tensor.nvfp4_quantize(torch.from_numpy(x), 16, of_tensor)
    np.testing.assert_array_equal(scales.view(np.uint8), theirs.view(torch.uint8).numpy())
    # They multiply by a reciprocal, which is off by what may tell the two sides of a tie.
    found, other = (
        each.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        for each in (codes.view(np.uint8), unpacked(data, "f4E2M1FN"))
    )
    assert (found != other).mean() < 1e-3
    np.testing.assert_allclose(found, other, atol=2)


class Linear(torch.nn.Module):
    """A linear layer of MX as torchao emulates it: the product of what codes stand for."""

    def __init__(self, mode: ScaleCalculationMode) -> None:
        super().__init__()
        self.mode = mode

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self._rounded(x) @ self._rounded(w).t()

    def _rounded(self, x: torch.Tensor) -> torch.Tensor:
        scales, data = mx_tensor.to_mx(x, torch.float8_e4m3fn, 32, self.mode)
        return mx_tensor.to_dtype(data, scales, torch.float8_e4m3fn, 32, torch.float32)


@pytest.mark.parametrize("mode", ["floor", "ceil"])
def test_a_graph_becomes_scaled_dots(mode: str) -> None:
    x, w = (torch.from_numpy(values(i, (rows, 64))) for i, rows in enumerate((16, 8)))
    layer = Linear(ScaleCalculationMode[MODES[mode]])
    text = str(mlir_fp8.torch.export(layer, (x, w)).mlir)
    fused = mlir_fp8.load(text)
    run_pipeline(fused, ["fp8-fuse-scaled-dot"])
    assert "fp8.scaled_dot" in str(fused)
    assert "tensor<16x2xf8E8M0FNU>, tensor<2x8xf8E8M0FNU>" in str(fused)
    (plain,) = mlir_fp8.compile(text)(x.numpy(), w.numpy())
    (ours,) = mlir_fp8.compile(fused)(x.numpy(), w.numpy())
    np.testing.assert_array_equal(ours, plain)
    np.testing.assert_allclose(ours, layer(x, w).numpy(), rtol=1e-4, atol=1e-4 * np.abs(ours).max())
