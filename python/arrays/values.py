"""Values of any dtype widened to f64 for arithmetic, and as text."""

from collections.abc import Iterator

import numpy as np

from mlir_fp8.arrays.tensor_specs import whole_bytes

# Elements per step: f64 copies of whole arrays would take eight times the memory of float8 ones.
_BLOCK = 1 << 20


def blocks(array: np.ndarray) -> Iterator[np.ndarray]:
    """The elements in row-major order, in flat blocks; none for an empty array."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        yield flat[start : start + _BLOCK]


def wide(block: np.ndarray) -> np.ndarray:
    """`block` in f64, or in complex<f64>: exact except for 64-bit integers."""
    return block.astype(np.complex128 if block.dtype.kind == "c" else np.float64)


def text(array: np.ndarray) -> str:
    """The values as numpy prints them, each with the digits that tell it from its neighbours."""
    array = whole_bytes(array)
    is_from_ml_dtypes = array.dtype.isbuiltin == 2
    is_small = is_from_ml_dtypes and array.dtype.itemsize == 1
    if is_from_ml_dtypes:
        # Their own printing is that of their scalars, unaligned. All are exact in f32.
        array = array.astype(np.float32)
    # An exponent on every element because one is a thousandth of another hides what f8 values are.
    return np.array2string(
        array, max_line_width=100, floatmode="unique", separator=" ", suppress_small=is_small
    )
