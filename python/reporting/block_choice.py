"""What a tensor would lose in each block format, with blocks along its last dimension."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlir_fp8.arrays.values import wide
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.fp8.weights.scale_rules import NVFP4, NVFP4_BLOCK, mx_rule, scales_of_array
from mlir_fp8.reporting.distance import decibels

_MX_BLOCK = 32
_AT_ONCE = 1 << 16
"""Elements that are rated together, in whole blocks."""


@dataclass(frozen=True)
class BlockFormat:
    """A format of blocks: of what, how many elements, and how scales follow, see `scale_rules`."""

    name: str
    element: str
    block: int
    rule: str


BLOCK_FORMATS = (
    BlockFormat("MXFP8 E4M3", "f8E4M3FN", _MX_BLOCK, mx_rule("floor")),
    BlockFormat("MXFP8 E5M2", "f8E5M2", _MX_BLOCK, mx_rule("floor")),
    BlockFormat("MXFP6 E2M3", "f6E2M3FN", _MX_BLOCK, mx_rule("floor")),
    BlockFormat("MXFP6 E3M2", "f6E3M2FN", _MX_BLOCK, mx_rule("floor")),
    BlockFormat("MXFP4", "f4E2M1FN", _MX_BLOCK, mx_rule("floor")),
    BlockFormat("NVFP4", "f4E2M1FN", NVFP4_BLOCK, NVFP4),
)
"""OCP's, with scales as its specification has them, and NVIDIA's."""


@dataclass(frozen=True)
class BlockCandidate:
    """What rounding to `format` would cost the finite elements of a tensor."""

    format: BlockFormat
    sqnr_db: float | None
    """None where nothing is lost."""
    zero: int
    """Elements that become 0 and were not."""
    clipped: int
    """Elements beyond the largest number of their block, which they become."""


def block_candidates(array: np.ndarray) -> list[BlockCandidate]:
    """Each of `BLOCK_FORMATS` for the finite elements of `array`; the others count as 0.

    Blocks run along the last dimension, and zeros fill up the last one; f64 is rounded to f32.
    """
    with np.errstate(over="ignore"):
        numbers = wide(array).astype(np.float32)
    numbers = np.where(np.isfinite(numbers), numbers, np.float32(0))
    rows = numbers.reshape(-1, numbers.shape[-1]) if numbers.ndim else numbers.reshape(1, 1)
    signal = float(np.square(rows, dtype=np.float64).sum())
    return [_rated(rows, each, signal) for each in BLOCK_FORMATS]


def _rated(rows: np.ndarray, format_: BlockFormat, signal: float) -> BlockCandidate:
    largest = np.float32(float(FORMATS[format_.element].max))
    factor = None
    if format_.rule == NVFP4:
        of_tensor = np.abs(rows).max(initial=0, keepdims=True)
        _, factor = scales_of_array(of_tensor, format_.element, NVFP4)
    noise, zero, clipped = 0.0, 0, 0
    for blocks in _blocks(rows, format_.block):
        amax = np.abs(blocks).max(-1, keepdims=True)
        scale, _ = scales_of_array(amax, format_.element, format_.rule, factor)
        divisor = scale.astype(np.float32) * (np.float32(1) if factor is None else factor)
        over = blocks / divisor
        codes = np.clip(over, -largest, largest).astype(FORMATS[format_.element].dtype)
        back = codes.astype(np.float64) * divisor
        noise += float(np.square(back - blocks).sum())
        zero += int(((back == 0) & (blocks != 0)).sum())
        clipped += int((np.abs(over) > largest).sum())
    return BlockCandidate(format_, decibels(signal, noise) if noise else None, zero, clipped)


def _blocks(rows: np.ndarray, block: int) -> Iterator[np.ndarray]:
    """The blocks of `rows`, some rows at a time."""
    count, size = rows.shape
    step = max(1, _AT_ONCE // max(size, 1))
    for start in range(0, count, step):
        part = rows[start : start + step]
        filled = np.pad(part, ((0, 0), (0, -size % block)))
        yield filled.reshape(len(part), -1, block)
