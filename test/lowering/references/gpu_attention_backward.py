"""Gradients of an attention by numpy in f64, and by the interpreter of PTX."""

from dataclasses import dataclass, replace

import gpu_kernels as gpu
import ml_dtypes
import numpy as np
from ptx_machine import run_kernel

from mlir_fp8.lowering.gpu.kernels.attention_backward.kernel import attention_backward_kernel
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward

ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
_LAST = {"bf16": 2.0**-8, "f16": 2.0**-11}


@dataclass(frozen=True)
class Given:
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    do: np.ndarray
    lse: np.ndarray
    """Of the scores that a query sees, in f32."""
    delta: np.ndarray


def given(shape: AttentionBackward, seed: int = 0, spread: float = 1.0) -> Given:
    """Normal numbers; `spread` is the standard deviation of scores over `scale` sqrt(depth)."""
    random = np.random.default_rng(seed)

    def normal(heads: int, *sizes: int) -> np.ndarray:
        numbers = random.standard_normal((shape.batch, heads, *sizes))
        return numbers.astype(ELEMENTS[shape.element])

    q = (spread * normal(shape.heads, shape.rows, shape.depth)).astype(ELEMENTS[shape.element])
    k = normal(shape.shared, shape.keys, shape.depth)
    v = normal(shape.shared, shape.keys, shape.width)
    do = normal(shape.heads, shape.rows, shape.width)
    nothing = np.zeros(0, np.float32)
    found = Given(q, k, v, do, nothing, nothing)
    x = scores(shape, found)
    most = x.max(-1)
    lse = most + np.log(np.exp(x - most[..., None]).sum(-1))
    found = replace(found, lse=lse.astype(np.float32))
    return with_delta(found, (_out(shape, found) * do.astype(np.float64)).sum(-1))


def with_delta(given: Given, delta: np.ndarray) -> Given:
    return replace(given, delta=delta.astype(np.float32))


def out_of(shape: AttentionBackward, given: Given) -> np.ndarray:
    """The attention."""
    return _out(shape, given).astype(ELEMENTS[shape.element])


def _out(shape: AttentionBackward, given: Given) -> np.ndarray:
    p = np.exp(scores(shape, given) - given.lse[..., None].astype(np.float64))
    return p @ _wide(shape, given.v)


def _wide(shape: AttentionBackward, of_keys: np.ndarray) -> np.ndarray:
    return of_keys.astype(np.float64).repeat(shape.group, 1)


def scores(shape: AttentionBackward, given: Given) -> np.ndarray:
    x = shape.scale * given.q.astype(np.float64) @ _wide(shape, given.k).swapaxes(2, 3)
    if shape.causal:
        x = np.where(np.arange(shape.keys) <= np.arange(shape.rows)[:, None], x, -np.inf)
    return x


def exact(
    shape: AttentionBackward, given: Given, of_sums: float = 2.0**-17
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """dq, dk and dv without any rounding, and how far the kernels' may be from them.

    P and dS are rounded to the element, and the result is; sums in f32 and the approximation of the
    exponential are far below, but for large scores, which f32 has with an error of their own;
    `of_sums` is what sums are off by, as a share of the sums of magnitudes.
    """
    x = scores(shape, given)
    p = np.exp(x - given.lse[..., None].astype(np.float64))
    q, do = given.q.astype(np.float64), given.do.astype(np.float64)
    k, v = _wide(shape, given.k), _wide(shape, given.v)
    dp = do @ v.swapaxes(2, 3)
    apart = dp - given.delta[..., None]
    last = _LAST[shape.element]
    most = np.abs(x[np.isfinite(x)]).max(initial=0) + np.abs(given.lse).max(initial=0)
    share = last + 2.0**-14 + 2.0**-21 * most
    # What sums of f32 leave of dP - delta where these are near each other.
    size = np.abs(do) @ np.abs(v).swapaxes(2, 3) + np.abs(given.delta[..., None])
    of_scores = np.abs(q) @ np.abs(k).swapaxes(2, 3) * abs(shape.scale)
    share = share + of_sums * of_scores
    of_ds = p * (share * np.abs(apart) + of_sums * size)
    turned = p.swapaxes(2, 3)

    def shared(each: np.ndarray) -> np.ndarray:
        batch, _, *rest = each.shape
        return each.reshape(batch, shape.shared, shape.group, *rest).sum(2)

    ds, turned_ds = p * apart, (p * apart).swapaxes(2, 3)
    scale = abs(shape.scale)
    least = {"bf16": 2.0**-133, "f16": 2.0**-25}[shape.element]
    found = {
        "dq": (shape.scale * ds @ k, scale * (of_ds + least) @ np.abs(k)),
        "dk": (
            shared(shape.scale * turned_ds @ q),
            shared(scale * (of_ds + least).swapaxes(2, 3) @ np.abs(q)),
        ),
        "dv": (shared(turned @ do), shared((share * p + least).swapaxes(2, 3) @ np.abs(do))),
    }
    return {
        name: (wanted, bound + last * np.abs(wanted) + least)
        for name, (wanted, bound) in found.items()
    }


def kernel_operands(shape: AttentionBackward, given: Given) -> list[np.ndarray]:
    """As the kernels take them."""
    more = [(0, 0), (0, 0), (0, shape.stored_rows - shape.rows)]
    lse = np.pad((given.lse / np.log(2)).astype(np.float32), more, constant_values=np.inf)
    data = [np.ascontiguousarray(x).view(np.uint8) for x in (given.q, given.k, given.v, given.do)]
    return [*data, lse, np.pad(given.delta, more)]


def on_gpu(
    shape: AttentionBackward, given: Given, *, early: bool = False, seed: int | None = None
) -> dict[str, np.ndarray]:
    """The results of the kernel, in f64."""
    like = {"dk": given.k, "dv": given.v} if shape.is_of_keys else {"dq": given.q}
    buffers = kernel_operands(shape, given)
    buffers += [np.full(each.size * 2, 0xEE, np.uint8) for each in like.values()]
    buffers.append(np.zeros(shape.workspace, np.uint8))
    kernel = attention_backward_kernel(shape)
    found = run_kernel(
        gpu.ptx_of(kernel), buffers, kernel.grid, kernel.block, kernel.shared_bytes, early, seed
    )
    return {
        name: data.view(ELEMENTS[shape.element]).reshape(each.shape).astype(np.float64)
        for (name, each), data in zip(like.items(), found[6:], strict=False)
    }
