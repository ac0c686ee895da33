"""Tensor types of MLIR and numpy arrays: which dtype holds which element type, and how it is named.

`.npz` files hold no float8 or bfloat16, so such arrays are stored as unsigned integers under a key
with the type as suffix: `arg0@f8E4M3FN`, `res1@bf16`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.errors import Fp8Error

_INTEGER_DTYPES = {
    "i1": np.dtype(np.bool_),
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}
_COMPLEX_DTYPES = {
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}


def element_dtype(element: str) -> np.dtype:
    """The dtype that holds an MLIR element type such as `f8E4M3FN`, `i1` or `ui8`."""
    if element in FORMATS:
        return FORMATS[element].dtype
    dtype = _INTEGER_DTYPES.get(element) or _COMPLEX_DTYPES.get(element)
    if dtype is None:
        raise Fp8Error(f"element type {element} has no numpy dtype: convert it to one that has")
    return dtype


@dataclass(frozen=True)
class TensorSpec:
    """Shape and MLIR element type of one argument or result."""

    shape: tuple[int, ...]
    element: str

    @property
    def dtype(self) -> np.dtype:
        return element_dtype(self.element)

    def __str__(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"


def spell(array: np.ndarray) -> str:
    """The MLIR spelling of an array's type, for messages."""
    for element in (*FORMATS, *_INTEGER_DTYPES, *_COMPLEX_DTYPES):
        if element_dtype(element) == array.dtype:
            return str(TensorSpec(array.shape, element))
    return f"{array.dtype}{list(array.shape)}"


def stored(name: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    """Key and array under which `array` goes into an `.npz`."""
    for element, fmt in FORMATS.items():
        if fmt.dtype == array.dtype and fmt.bits <= 16 and element != "f16":
            return f"{name}@{element}", array.view(f"uint{fmt.storage_bits}")
    return name, array


def restored(archive: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of an `.npz` in order, float8 and bfloat16 by their key's suffix."""
    for key, array in archive.items():
        name, at, element = key.rpartition("@")
        if not at:
            yield key, array
            continue
        if element not in FORMATS:
            raise Fp8Error(f"key '{key}': no float format is named {element}")
        fmt = FORMATS[element]
        if array.dtype != f"uint{fmt.storage_bits}":
            raise Fp8Error(f"key '{key}' holds {array.dtype}, not uint{fmt.storage_bits}")
        yield name, array.view(fmt.dtype)
