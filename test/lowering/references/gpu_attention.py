"""Attention of f8 codes by numpy, without any rounding, and by the interpreter of PTX."""

from dataclasses import dataclass

import gpu_kernels as gpu
import numpy as np
from gpu_products import F8, TYPES
from ptx_machine import run_kernel

from mlir_fp8.lowering.gpu.kernels.attention.kernel import attention_kernel
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention

LOG2E = 1 / np.log(2)


@dataclass(frozen=True)
class Operands:
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    factor: np.ndarray
    """Of scores, without log2(e), and of results; f32 [batch, heads]."""
    out_factor: np.ndarray
    offsets: np.ndarray


def operands(shape: Attention, seed: int = 0, spread: float = 1.0) -> Operands:
    """Normal numbers; `spread` is about the standard deviation of scores."""
    random = np.random.default_rng(seed)

    def codes(format_: str, *sizes: int) -> np.ndarray:
        return random.standard_normal(sizes).astype(F8[format_])

    heads = (shape.batch, shape.heads)
    size = spread / np.sqrt(shape.depth)
    return Operands(
        codes(shape.q_format, *heads, shape.rows, shape.depth),
        codes(shape.k_format, shape.batch, shape.shared, shape.keys, shape.depth),
        codes(shape.v_format, shape.batch, shape.shared, shape.keys, shape.width),
        (size * np.exp2(random.uniform(-1, 1, heads))).astype(np.float32),
        np.exp2(random.uniform(-1, 1, heads)).astype(np.float32),
        random.integers(0, 40, shape.offsets).astype(np.int32),
    )


def kernel_operands(shape: Attention, given: Operands) -> list[np.ndarray]:
    """As the kernel takes them, codes as bytes."""
    more = [(0, 0), (0, 0), (0, shape.stored_keys - shape.keys), (0, 0)]
    k, v = (np.pad(each.view(np.uint8), more) for each in (given.k, given.v))
    return [
        given.q.view(np.uint8),
        k,
        np.ascontiguousarray(v.swapaxes(2, 3)),
        (given.factor * np.float32(LOG2E)).astype(np.float32),
        given.out_factor,
        *[given.offsets] * bool(shape.offsets),
    ]


def on_gpu(
    shape: Attention, given: Operands, *, early: bool = False, seed: int | None = None
) -> np.ndarray:
    """The result of the kernel, in f64; with the lse behind it along the last axis, where it is."""
    element = np.dtype(TYPES[shape.result])
    buffers = kernel_operands(shape, given)
    buffers.append(np.full(shape.result_bytes, 0xEE, np.uint8))
    if shape.lse:
        buffers.append(np.full((shape.batch, shape.heads, shape.rows), 7, np.float32))
    buffers.append(np.zeros(shape.workspace, np.uint8))
    kernel = attention_kernel(shape)
    found = run_kernel(
        gpu.ptx_of(kernel), buffers, kernel.grid, kernel.block, kernel.shared_bytes, early, seed
    )
    sizes = (shape.batch, shape.heads, shape.rows, shape.width)
    out = found[-2 - shape.lse].view(element).reshape(sizes).astype(np.float64)
    if not shape.lse:
        return out
    lse = found[-2].view(np.float32).reshape(*sizes[:3], 1)
    return np.concatenate([out, lse], -1)


def seen(shape: Attention, given: Operands) -> np.ndarray:
    """[batch, 1, rows, keys]: whether a query sees a key."""
    offsets = given.offsets if shape.offsets else np.zeros(1)
    offsets = np.broadcast_to(offsets, (shape.batch,)).reshape(-1, 1, 1, 1)
    rows = shape.row_step * np.arange(shape.rows)[:, None]
    position, key = offsets + rows, np.arange(shape.keys)
    shown = np.ones((shape.batch, 1, shape.rows, shape.keys), bool)
    if shape.causal:
        shown &= key <= position
    if shape.window:
        shown &= key > position - shape.window
    return shown


def probabilities(shape: Attention, given: Operands) -> tuple[np.ndarray, np.ndarray, float]:
    """Of each key for each query, the sum of e of a row, and the largest score, in f64."""
    q, k = (each.astype(np.float64) for each in (given.q, given.k))
    k = k.repeat(shape.heads // shape.shared, 1)
    x = q @ k.swapaxes(2, 3) * given.factor.astype(np.float64)[..., None, None]
    shown = seen(shape, given)
    with np.errstate(invalid="ignore"):
        x = np.where(shown, x, -np.inf)
        e = np.exp(x - x.max(-1, keepdims=True))
        total = e.sum(-1, keepdims=True)
        p = e / total
    blind = ~shown.any(-1, keepdims=True)
    if shape.blind != "nan":
        p = np.where(blind, 1 / shape.keys if shape.blind == "mean" else 0, p)
        total = np.where(blind, shape.keys, total)
    return p, total, float(np.abs(x[shown & np.isfinite(x)]).max(initial=0))


def exact_lse(shape: Attention, given: Operands) -> tuple[np.ndarray, np.ndarray]:
    """log(sum(exp(x))) without any rounding, and how far the kernel's may be from it."""
    q, k = (each.astype(np.float64) for each in (given.q, given.k))
    k = k.repeat(shape.heads // shape.shared, 1)
    x = q @ k.swapaxes(2, 3) * given.factor.astype(np.float64)[..., None, None]
    x = np.where(seen(shape, given), x, -np.inf)
    most = x.max(-1)
    with np.errstate(all="ignore"):
        found = most + np.log(np.exp(x - most[..., None]).sum(-1))
    found = np.where(most == -np.inf, 0 if shape.blind == "zero" else np.nan, found)
    return found, 2.0**-14 + 2.0**-20 * np.abs(found)


def exact(
    shape: Attention, given: Operands, p_range: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The attention without any rounding, and how far the kernel's may be from it; or, with
    `p_range`, how far that of the op, whose probabilities are rounded times that.

    An e of 2^8 at most becomes an f8 within 2^-4 of itself, or half of the format's smallest step;
    the approximations and the sums in f32 are far below, but for large scores; the result is
    rounded once more.
    """
    p, total, most = probabilities(shape, given)
    v = given.v.astype(np.float64).repeat(shape.heads // shape.shared, 1)
    factor = given.out_factor.astype(np.float64)[..., None, None]
    wanted = p @ v * factor
    half, step = {"f8E4M3FN": (2.0**-4, 2.0**-10), "f8E5M2": (2.0**-3, 2.0**-17)}[shape.p_format]
    size = p @ np.abs(v)
    least = step / (2**8 * total if p_range is None else p_range) + 0 * p
    small = least @ np.abs(v)
    last = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24}[shape.result]
    bound = (half + 2.0**-14 + 2.0**-21 * most) * size + small
    return wanted, bound * np.abs(factor) + last * np.abs(wanted)
