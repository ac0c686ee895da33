"""Operands of products of few rows, and their results by numpy and ml_dtypes in f64."""

from collections.abc import Sequence

import gpu_kernels as gpu
import numpy as np

from mlir_fp8.lowering.gpu.kernels.few_rows.kernel import few_rows_kernel
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import FewRows

TYPES = {**gpu.ELEMENTS, **{name: each[0] for name, each in gpu.FORMATS.items()}}
_STORED = {1: np.uint8, 2: np.uint16, 4: np.float32}


def integers(shape: tuple[int, ...], type_: str, seed: int) -> np.ndarray:
    """From -4 to 4, of which all sums here are exact."""
    found = np.random.default_rng(seed).integers(-4, 5, shape)
    return found.astype(np.float32).astype(TYPES[type_])


def numbers(shape: tuple[int, ...], type_: str, seed: int) -> np.ndarray:
    """Of many magnitudes, all of them finite."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal(shape) * np.exp2(generator.integers(-5, 5, shape))
    return x.astype(np.float32).astype(TYPES[type_])


def stored(x: np.ndarray) -> np.ndarray:
    """As the interpreter's buffers have it: bits where numpy has no such type."""
    return x.view(_STORED[x.dtype.itemsize])


def run(
    shape: FewRows, a: np.ndarray, b: np.ndarray, others: Sequence[np.ndarray] = ()
) -> np.ndarray:
    """D by the kernel; `b` is [n, k], `others` are scales and the bias."""
    b = b if shape.k_major else np.ascontiguousarray(b.T)
    result = np.full((shape.rows, shape.n), 0x7FC1, np.uint16)
    if shape.epilogue.result == "f32":
        result = np.full((shape.rows, shape.n), np.nan, np.float32)
    buffers = [stored(each) for each in (a, b, *others)]
    found = gpu.run(few_rows_kernel(shape), [*buffers, result])[-1]
    return found.view(TYPES[shape.epilogue.result])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A B^T in f64."""
    with np.errstate(all="ignore"):
        return a.astype(np.float64) @ b.astype(np.float64).T


def bound(shape: FewRows, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What `FewRows` says that a sum is off by at most."""
    terms = shape.parts * shape.k / (shape.along * shape.split)
    magnitudes = product(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64)))
    return (18 * terms / 16 + shape.along * shape.split) * 2.0**-23 * magnitudes
