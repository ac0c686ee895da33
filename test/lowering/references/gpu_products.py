"""Products of FP8 by numpy, step by step as `Epilogue` says, and by the interpreter of PTX."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import gpu_kernels as gpu
import ml_dtypes
import numpy as np

from mlir_fp8.lowering.gpu.kernels.product.blocks import Blocks
from mlir_fp8.lowering.gpu.kernels.product.kernel import product_kernel
from mlir_fp8.lowering.gpu.kernels.product.shape import Product

F8 = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
TYPES = {**gpu.ELEMENTS, **F8}


@dataclass(frozen=True)
class Operands:
    a: np.ndarray
    b: np.ndarray
    a_scale: np.ndarray
    b_scale: np.ndarray
    bias: np.ndarray
    d_scale: np.ndarray
    up: np.ndarray
    up_scale: np.ndarray
    c: np.ndarray


def operands(shape: Product, seed: int = 0) -> Operands:
    """Small integers and, as scales, powers of two: all sums are exact."""
    random, steps = np.random.default_rng(seed), shape.epilogue

    def codes(rows: int, format_: str) -> np.ndarray:
        return random.integers(-3, 4, (rows, shape.k)).astype(np.float32).astype(F8[format_])

    def scale(kind: str, blocks: Blocks | None, rows: int) -> np.ndarray:
        count = rows if kind in ("row", "column") else 1
        sizes = (count,) if blocks is None else blocks.counts(rows, shape.k)
        sizes = sizes[::-1] if blocks is not None and blocks.by_k else sizes
        return np.exp2(random.integers(-3, 3, sizes)).astype(np.float32)

    return Operands(
        codes(shape.a_rows, shape.a_format),
        codes(shape.b_rows, shape.b_format),
        scale(steps.a_scale, shape.a_blocks, shape.a_rows),
        scale(steps.b_scale, shape.b_blocks, shape.b_rows),
        random.integers(-9, 9, shape.n).astype(np.float32).astype(TYPES[steps.bias or "f32"]),
        np.array([0.37], np.float32),
        codes(shape.n, shape.b_format),
        scale(steps.b_scale, None, shape.n),
        random.integers(-9, 9, (shape.a_rows, shape.n)).astype(TYPES[steps.c or "f32"]),
    )


def on_gpu(
    shape: Product, given: Operands, before: float = 0.0, *, early: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """D and amax (an f32, of which `before` is one candidate) of the kernel."""
    steps, size = shape.epilogue, shape.a_rows * shape.n
    element = np.dtype(TYPES[steps.result])
    d = np.full(size * element.itemsize, 0xEE, np.uint8)
    names = {"a_scale": steps.a_scale or shape.a_blocks, "b_scale": steps.b_scale or shape.b_blocks,
             "c": steps.c, "bias": steps.bias, "d_scale": steps.d_scale}  # fmt: skip
    taken = [getattr(given, name) for name, kind in names.items() if kind]
    if shape.up == "apart":
        taken.insert(bool(steps.a_scale) + bool(steps.b_scale), given.up_scale)
        taken = taken if steps.b_scale else [each for each in taken if each is not given.up_scale]
        taken.insert(0, given.up)
    amax = np.array([before], np.float32)
    results = [d] * (1 + steps.transposed)
    buffers = [given.a, given.b, *taken, *[amax] * steps.amax, *results, *[amax] * steps.amax]
    buffers.append(np.zeros(shape.workspace, np.uint8))
    found = gpu.run(product_kernel(shape), buffers, early=early)
    at = 2 + len(taken) + steps.amax
    numbers = found[at].view(element).reshape(shape.a_rows, shape.n)
    if steps.transposed:
        at += 1
        turned = found[at].reshape(shape.n, shape.m).T
        np.testing.assert_array_equal(turned, numbers.view(np.uint8))
    return numbers, found[at + 1].view(np.float32) if steps.amax else amax


def dequantized(codes: np.ndarray, scale: np.ndarray, blocks: Blocks | None) -> np.ndarray:
    """An operand in f64, times the scales of its blocks if it has them."""
    x = codes.astype(np.float64)
    if blocks is None:
        return x
    scale = scale.T if blocks.by_k else scale
    wide = scale.repeat(blocks.rows, 0).repeat(blocks.k, 1)
    return x * wide[: x.shape[0], : x.shape[1]]


def by_numpy(shape: Product, given: Operands) -> tuple[np.ndarray, np.ndarray]:
    """D and amax, each step in f32, rounded to the type that it is in."""
    steps = shape.epilogue
    if shape.up:
        return _gated(shape, given)
    if shape.batches > 1:
        each = [by_numpy(*_batch(shape, given, i)) for i in range(shape.batches)]
        return np.concatenate([d for d, _ in each]), np.max([amax for _, amax in each])

    def to(x: np.ndarray, element: str) -> np.ndarray:
        return x.astype(TYPES[element]).astype(np.float32)

    with np.errstate(all="ignore"):
        a = dequantized(given.a, given.a_scale, shape.a_blocks)
        x = a @ dequantized(given.b, given.b_scale, shape.b_blocks).T
        x = x.astype(np.float32)
        if steps.a_scale:
            scale = given.a_scale[:, None]
            x = x / scale if steps.a_inverse else x * scale
        if steps.b_scale:
            x = x / given.b_scale if steps.b_inverse else x * given.b_scale
        x = to(to(x, steps.dot_type), steps.type)
        if steps.alpha is not None:
            x = to(x * np.float32(steps.alpha), steps.type)
        if steps.c:
            c = to(given.c.astype(np.float32), steps.type)
            c = c if steps.beta is None else to(c * np.float32(steps.beta), steps.type)
            x = to(x + c, steps.type)
        if steps.bias:
            x = to(x + to(given.bias.astype(np.float32), steps.type), steps.type)
        x = _activated(x, steps.activation, lambda x: to(x, steps.type))
        x = to(x, steps.stored or steps.type)
        amax = np.max(np.abs(x))
        if steps.d_scale:
            type_ = steps.d_type or steps.type
            scale = to(given.d_scale, type_)
            x = to(x / scale if steps.d_scale == "divide" else x * scale, type_)
        if steps.result in F8:
            largest = np.float32(gpu.FORMATS[steps.result][1])
            x = np.clip(x, -largest, largest)
        return x.astype(TYPES[steps.result]), amax


def _batch(shape: Product, given: Operands, number: int) -> tuple[Product, Operands]:
    """One batch by itself."""

    def of(x: np.ndarray, axis: int = 0) -> np.ndarray:
        if x.shape[axis] == 1:
            return x
        return np.split(x, shape.batches, axis)[number]

    def of_scale(x: np.ndarray, blocks: Blocks | None) -> np.ndarray:
        return of(x, 1 if blocks is not None and blocks.by_k else 0)

    mine = dataclasses.replace(
        given,
        a=of(given.a),
        b=of(given.b),
        c=of(given.c),
        a_scale=of_scale(given.a_scale, shape.a_blocks),
        b_scale=of_scale(given.b_scale, shape.b_blocks),
    )
    return dataclasses.replace(shape, batches=1), mine


def _gated(shape: Product, given: Operands) -> tuple[np.ndarray, np.ndarray]:
    """Both products by themselves, the gate's activation by the other, and what comes behind."""
    steps = shape.epilogue
    stored = steps.stored or steps.type
    alone = dataclasses.replace(
        steps, gate="", activation="none", amax=False, d_scale="", result=stored, transposed=False
    )
    both: list[np.ndarray] = []
    for i in range(2):
        below = slice(i * shape.n, (i + 1) * shape.n)
        b, b_scale = given.b[below], given.b_scale
        if shape.up == "apart":
            b, b_scale = (given.b, given.b_scale) if i == 0 else (given.up, given.up_scale)
        elif steps.b_scale == "column":
            b_scale = b_scale[below]
        mine = dataclasses.replace(given, b=b, b_scale=b_scale)
        x, _ = by_numpy(dataclasses.replace(shape, up="", epilogue=alone), mine)
        both.append(x.astype(TYPES[steps.gate]).astype(np.float32))

    def to(x: np.ndarray, element: str = steps.gate) -> np.ndarray:
        return x.astype(TYPES[element]).astype(np.float32)

    with np.errstate(all="ignore"):
        x = to(_activated(both[0], steps.activation, to) * both[1])
        amax = np.max(np.abs(x))
        if steps.d_scale:
            scale = to(given.d_scale, steps.d_type or steps.type)
            x = x / scale if steps.d_scale == "divide" else x * scale
            x = to(x, steps.d_type or steps.type)
        if steps.result in F8:
            largest = np.float32(gpu.FORMATS[steps.result][1])
            x = np.clip(x, -largest, largest)
    return x.astype(TYPES[steps.result]), amax


def _activated(
    x: np.ndarray, activation: str, to: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    f32 = np.float32
    if activation == "relu":
        return np.maximum(x, f32(0))
    if activation == "silu":
        return to(x * to((1 / (1 + np.exp(-x.astype(np.float64)))).astype(f32)))
    if activation == "gelu_erf":
        scaled = to(-x * to(np.array(f32(np.sqrt(0.5)))))
        erfc = to(np.vectorize(math.erfc)(scaled.astype(np.float64)).astype(f32))
        return to(to(x * f32(0.5)) * erfc)
    if activation == "gelu_tanh":
        cubic = to(to(x * to(x * x)) * to(np.array(f32(0.044715))))
        inner = to(to(x + cubic) * to(np.array(f32(np.sqrt(2 / np.pi)))))
        tanh = to(np.tanh(inner.astype(np.float64)).astype(f32))
        return to(x * to(to(tanh + f32(1)) * f32(0.5)))
    return x
