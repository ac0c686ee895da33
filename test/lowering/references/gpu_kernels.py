"""Kernels run by `ptx_machine`, and their results by numpy and ml_dtypes."""

import functools
from collections.abc import Sequence

import ml_dtypes
import numpy as np
from ptx_machine import run_kernel
from torch_mlir import ir

from mlir_fp8.base.context import make_context
from mlir_fp8.lowering.gpu.kernels.text import Kernel
from mlir_fp8.lowering.gpu.ptx.back_end import ptx_of_kernel

ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
FORMATS = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 448.0, 126),
    "f8E5M2": (ml_dtypes.float8_e5m2, 57344.0, 124),
}
"""The type, its largest value, and the last code that is no NaN."""


@functools.cache
def _context() -> ir.Context:
    return make_context()


@functools.cache
def ptx_of(kernel: Kernel, chip: str = "sm_90a") -> str:
    return ptx_of_kernel(kernel.text, chip, _context())


def run(kernel: Kernel, buffers: Sequence[np.ndarray], *, early: bool = False) -> list[np.ndarray]:
    """The buffers after `kernel`, of bytes where they were of a type that numpy lacks.

    What runs asynchronously is as late as it may be, or as `early`.
    """
    plain = [x.view(np.uint8) if x.dtype.kind == "V" else x for x in buffers]
    shared = kernel.shared_bytes
    return run_kernel(ptx_of(kernel), plain, kernel.grid, kernel.block, shared, early)


def random(shape: tuple[int, ...], element: str, seed: int = 0) -> np.ndarray:
    """Numbers of many magnitudes, and those at which kernels might go wrong."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape) * np.exp2(generator.integers(-12, 12, shape))
    x = x.astype(np.float32)
    x.reshape(-1)[:7] = [np.inf, -np.inf, -0.0, 0.0, 1e-40, -3e38, -60000.0]
    with np.errstate(all="ignore"):
        return x.astype(ELEMENTS[element])


def unwritten(*shape: int) -> np.ndarray:
    return np.full(shape, 0xEE, np.uint8)


def codes(x: np.ndarray, scale: np.ndarray | float, format_: str) -> np.ndarray:
    """clamp(x / scale) in f32, converted."""
    type_, largest, _ = FORMATS[format_]
    with np.errstate(all="ignore"):
        divided = (x.astype(np.float32) / np.asarray(scale, np.float32)).astype(np.float32)
        return np.clip(divided, -largest, largest).astype(type_).view(np.uint8)


def amax(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.max(np.abs(x.astype(np.float32)), axis=axis)


def scale_of(largest: np.ndarray, format_: str, margin: float = 0.0) -> np.ndarray:
    """`scale_of_amax`: 1 where the quotient is no normal number."""
    with np.errstate(all="ignore"):
        scale = (largest / np.float32(FORMATS[format_][1])).astype(np.float32)
        scale = scale * np.float32(2.0**margin)
    return np.where((scale >= 2.0**-126) & (scale < np.inf), scale, 1).astype(np.float32)


def assert_codes(found: np.ndarray, wanted: np.ndarray, format_: str) -> None:
    """The same codes, NaN for NaN: which NaN an arithmetic op gives is nowhere said."""
    last = FORMATS[format_][2]
    nans = wanted & 127 > last
    np.testing.assert_array_equal(found & 127 > last, nans)
    np.testing.assert_array_equal(found[~nans], wanted[~nans])
