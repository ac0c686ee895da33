"""Tensor types of MLIR and numpy arrays: which dtype holds which element type, and how it is named.

`.npz` files hold no float8 or bfloat16, so such arrays are stored as unsigned integers under a key
with the type as suffix: `arg0@f8E4M3FN`, `res1@bf16`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from mlir_fp8.dialects.float_formats import FORMATS, FloatFormat
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
# numpy's own limit, which keeps a damaged file from being taken for a large header.
_LONGEST_HEADER = 10_000
# The floats that numpy has no type for, which files hold as the integers of their codes.
_CODED = {name: fmt for name, fmt in FORMATS.items() if fmt.is_small or name == "bf16"}
_SUB_BYTE = [fmt for fmt in FORMATS.values() if fmt.bits < fmt.storage_bits]


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
    for element, fmt in _CODED.items():
        if fmt.dtype == array.dtype:
            return f"{name}@{element}", array.view(f"uint{fmt.storage_bits}")
    return name, array


def restored(archive: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of an `.npz` in order, float8 and bfloat16 by their key's suffix."""
    for key in archive:
        name, element = split_key(key)
        yield name, restore(key, archive[key], element)


def split_key(key: str) -> tuple[str, str | None]:
    """Name and element type of a key: `arg0@f8E4M3FN` is `arg0` of type f8E4M3FN."""
    name, at, element = key.rpartition("@")
    return (name, element) if at else (key, None)


def restore(key: str, array: np.ndarray, element: str | None) -> np.ndarray:
    """`array` as the key's suffix says: as it is without one, else its codes as that type."""
    if element is None:
        return array
    if element not in FORMATS:
        raise Fp8Error(f"key '{key}': no float format is named {element}")
    fmt = FORMATS[element]
    if array.dtype != f"uint{fmt.storage_bits}":
        raise Fp8Error(f"key '{key}' holds {array.dtype}, not uint{fmt.storage_bits}")
    return _decoded(f"key '{key}'", array, fmt)


def adapt(what: str, array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """`array` as the declared type, where it holds the codes of a float that files cannot name.

    Those come as unsigned integers, or as the bare bytes (`|V1`, `|V2`) that `np.save` makes of
    them. Any other difference from `spec` is an error that starts with `what`.
    """
    fmt = _CODED.get(spec.element)
    if fmt and array.dtype in (np.dtype(f"V{fmt.storage_bits // 8}"), f"uint{fmt.storage_bits}"):
        array = _decoded(what, array.view(f"uint{fmt.storage_bits}"), fmt)
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"{what} is {spell(array)}, declared {spec}")
    return array


def readable(npy: bytes) -> bytes:
    """The bytes of an `.npy` with the one type name mended that numpy writes but does not read.

    ml_dtypes passes float8_e5m2 off as a float of one byte, `<f1`.
    """
    length = min(len(npy), _LONGEST_HEADER)
    return npy[:length].replace(b"'descr': '<f1'", b"'descr': '|u1'", 1) + npy[length:]


def sound(what: str, array: np.ndarray) -> np.ndarray:
    """`array` with nothing in it that its type has no code for, where a byte holds more than that.

    Such bytes come of views. numpy takes any but 0 for true; the codes of f6 and f4 are refused.
    """
    if array.dtype == np.bool_:
        codes = array.view(np.uint8)
        return codes != 0 if codes.max(initial=0) > 1 else array
    for fmt in _SUB_BYTE:
        if fmt.dtype == array.dtype:
            _check_codes(what, array.view(np.uint8), fmt)
    return array


def _decoded(what: str, codes: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    _check_codes(what, codes, fmt)
    return codes.view(fmt.dtype)


def _check_codes(what: str, codes: np.ndarray, fmt: FloatFormat) -> None:
    if fmt not in _SUB_BYTE:
        return
    largest = codes.max(initial=0)
    if largest >> fmt.bits:
        raise Fp8Error(f"{what} holds {largest:#x}, which is no code of {fmt.name}")
