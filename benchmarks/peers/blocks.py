"""Block formats by numpy with ml_dtypes, and by torchao's emulation on the CPU."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.peers import module
from mlir_fp8.dialects.float_formats import FORMATS

_TORCH = {"f8E4M3FN": "float8_e4m3fn", "f4E2M1FN": "float4_e2m1fn_x2"}
Run = Callable[[], Sequence[np.ndarray]]


def by_numpy(array: np.ndarray, element: str, block: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and f8E8M0FNU scales of blocks along the rows, by the OCP's rule: floor(log2(amax))."""
    fmt = FORMATS[element]
    rows = array.reshape(len(array), -1, block)
    _, exponents = np.frexp(np.abs(rows).max(-1))
    largest = np.frexp(float(fmt.max))[1]
    scales = np.ldexp(np.float32(1), np.clip(exponents - largest, -127, 127)).astype(np.float32)
    most = np.float32(float(fmt.max))
    codes = np.clip(rows / scales[..., None], -most, most).astype(fmt.dtype)
    return codes.reshape(array.shape), scales.astype(FORMATS["f8E8M0FNU"].dtype)


def product_by_numpy(
    codes: Sequence[np.ndarray], scales: Sequence[np.ndarray], block: int
) -> Sequence[np.ndarray]:
    """[m, n] of [m, k] and [n, k], dequantized in f32."""
    left, right = (
        each.astype(np.float32) * scale.astype(np.float32).repeat(block, -1)
        for each, scale in zip(codes, scales, strict=True)
    )
    return [left @ right.T]


def torchao_quantize(array: np.ndarray, element: str, threads: int) -> Run:
    """As `by_numpy`, by `to_mx`: f4 in pairs, and bytes of scales. Raises where it is missing."""
    torch, mx = module("torch"), module("torchao.prototype.mx_formats.mx_tensor")
    tensor, kind = torch.from_numpy(array), getattr(torch, _TORCH[element])

    def run() -> Sequence[np.ndarray]:
        torch.set_num_threads(threads)
        scales, codes = mx.to_mx(tensor, kind, 32)
        return [each.view(torch.uint8).numpy() for each in (codes, scales)]

    return run


def torchao_product(
    codes: Sequence[np.ndarray], scales: Sequence[np.ndarray], element: str, threads: int
) -> Run:
    """As `product_by_numpy`, as torchao emulates it: `to_dtype` of both, then a product of f32.

    `codes` are bit-packed where they are short.
    """
    torch, mx = module("torch"), module("torchao.prototype.mx_formats.mx_tensor")
    kind = getattr(torch, _TORCH[element])
    is_short = FORMATS[element].bits < 8
    given: list[tuple[Any, Any]] = []
    for each, scale in zip(codes, scales, strict=True):
        data = torch.from_numpy(each.view(np.uint8))
        factor = torch.from_numpy(scale.view(np.uint8)).view(torch.float8_e8m0fnu)
        given.append((data if is_short else data.view(kind), factor))

    def run() -> Sequence[np.ndarray]:
        torch.set_num_threads(threads)
        left, right = (mx.to_dtype(*each, kind, 32, torch.float32) for each in given)
        return [(left @ right.T).numpy()]

    return run
