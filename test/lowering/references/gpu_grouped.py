"""Grouped products of FP8 by numpy, and by the interpreter of PTX."""

from collections.abc import Sequence
from dataclasses import dataclass

import gpu_kernels as gpu
import numpy as np
from gpu_products import F8, TYPES

from mlir_fp8.lowering.gpu.kernels.grouped.kernel import grouped_kernel
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped


@dataclass(frozen=True)
class Operands:
    a: np.ndarray
    b: np.ndarray
    sizes: np.ndarray
    a_scale: np.ndarray
    b_scale: np.ndarray


def operands(shape: Grouped, sizes: Sequence[int], seed: int = 0) -> Operands:
    """Small integers and, as scales, powers of two: all sums are exact."""
    random, of = np.random.default_rng(seed), shape.product
    of_b = shape.groups if shape.has_ragged_rows else 1

    def codes(format_: str, *sizes: int) -> np.ndarray:
        return random.integers(-3, 4, sizes).astype(np.float32).astype(F8[format_])

    def scale(side: str, kind: str) -> np.ndarray:
        count = {"row": of.m, "column": of_b * of.n}.get(kind, 1)
        count = shape.groups if side in shape.of_groups else count
        return np.exp2(random.integers(-3, 3, count)).astype(np.float32)

    return Operands(
        codes(of.a_format, of.m, of.k),
        codes(of.b_format, of_b * of.n, of.k),
        np.array(sizes, np.int32),
        scale("a", of.epilogue.a_scale),
        scale("b", of.epilogue.b_scale),
    )


def parts(shape: Grouped, sizes: np.ndarray) -> list[slice]:
    """Of what is ragged; negative sizes count as 0, and none ends behind the end."""
    found: list[slice] = []
    begin = 0
    for size in np.clip(sizes.astype(np.int64), 0, shape.size).tolist():
        end = min(begin + size, shape.size)
        found.append(slice(begin, end))
        begin = end
    return found


def by_numpy(shape: Grouped, given: Operands) -> np.ndarray:
    """D, each step in f32, rounded to the type that it is in."""
    of, steps = shape.product, shape.product.epilogue
    a, b = (x.astype(np.float64) for x in (given.a, given.b))
    b = b.reshape(-1, of.n, of.k)
    d_shape = (of.m, of.n) if shape.has_ragged_rows else (shape.groups, of.m, of.n)
    d = np.zeros(d_shape, np.float32)
    by_column = given.b_scale.reshape(-1, of.n) if steps.b_scale == "column" else None
    for group, part in enumerate(parts(shape, given.sizes)):
        if shape.has_ragged_rows:
            x, rows = a[part] @ b[group].T, part
        else:
            x, rows = a[:, part] @ b[0][:, part].T, slice(None)
        x = x.astype(np.float32)
        if "a" in shape.of_groups:
            x = x * given.a_scale[group]
        elif steps.a_scale:
            row_scales = given.a_scale[rows] if steps.a_scale == "row" else given.a_scale
            x = x * row_scales[:, None]
        if "b" in shape.of_groups:
            x = x * given.b_scale[group]
        elif by_column is not None:
            x = x * by_column[group if shape.has_ragged_rows else 0]
        elif steps.b_scale:
            x = x * given.b_scale
        d[part if shape.has_ragged_rows else group] = x
    for element in (steps.dot_type, steps.type, steps.result):
        d = d.astype(TYPES[element]).astype(np.float32)
    return d.astype(TYPES[steps.result])


def on_gpu(shape: Grouped, given: Operands, *, early: bool = False) -> np.ndarray:
    """D of the kernel."""
    of, steps = shape.product, shape.product.epilogue
    element = np.dtype(TYPES[steps.result])
    d_shape = (of.m, of.n) if shape.has_ragged_rows else (shape.groups, of.m, of.n)
    buffers = [given.a, given.b, given.sizes]
    for side in ("a", "b"):
        if getattr(steps, f"{side}_scale") or side in shape.of_groups:
            buffers.append(getattr(given, f"{side}_scale"))
    d = np.full(int(np.prod(d_shape)) * element.itemsize, 0xEE, np.uint8)
    at = len(buffers)
    buffers += [d, np.zeros(shape.workspace, np.uint8)]
    return gpu.run(grouped_kernel(shape), buffers, early=early)[at].view(element).reshape(d_shape)
