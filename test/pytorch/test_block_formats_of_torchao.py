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
