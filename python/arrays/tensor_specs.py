"""Tensor types of MLIR and numpy arrays: which dtype holds which element type, and how it is named.

`.npz` files hold no float8, bfloat16 or 4-bit integer, so such arrays are stored as the unsigned
integers of their codes, under a key with the type as suffix: `arg0@f8E4M3FN`, `arg1@bf16`,
`res0@i4`. Those of f4 and f6 whose rows are whole bytes are bit-packed: `w@f4E2M1FNx2`,
`w@f6E2M3FNx4`.
"""

import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mlir_fp8.arrays.packing import CODES_OF_BYTES, is_whole, packed, unpacked
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

_INTEGER_DTYPES = {
    "i1": np.dtype(np.bool_),
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}
# An array of these has a byte per element, with its code in the low bits and zeros above.
_SHORT_INTEGER_DTYPES = {
    **{f"i{bits}": np.dtype(getattr(ml_dtypes, f"int{bits}")) for bits in (2, 4)},
    **{f"ui{bits}": np.dtype(getattr(ml_dtypes, f"uint{bits}")) for bits in (2, 4)},
}
_COMPLEX_DTYPES = {
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
# numpy's own limit, which keeps a damaged file from being taken for a large header.
_LONGEST_HEADER = 10_000


@dataclass(frozen=True)
class _Coded:
    """A type that numpy has none for, which files hold as the unsigned integers of its codes."""

    name: str
    dtype: np.dtype
    bits: int
    storage_bits: int


_CODED = {
    **{
        name: _Coded(name, fmt.dtype, fmt.bits, fmt.storage_bits)
        for name, fmt in FORMATS.items()
        if (fmt.is_small or name == "bf16") and fmt.has_dtype
    },
    **{
        name: _Coded(name, dtype, int(name.lstrip("ui")), 8)
        for name, dtype in _SHORT_INTEGER_DTYPES.items()
    },
}
_SUB_BYTE = [coded for coded in _CODED.values() if coded.bits < coded.storage_bits]


def element_dtype(element: str) -> np.dtype:
    """The dtype that holds an MLIR element type such as `f8E4M3FN`, `i1` or `ui8`."""
    if element in FORMATS:
        return FORMATS[element].dtype
    for dtypes in (_INTEGER_DTYPES, _SHORT_INTEGER_DTYPES, _COMPLEX_DTYPES):
        if element in dtypes:
            return dtypes[element]
    raise Fp8Error(f"element type {element} has no numpy dtype: convert it to one that has")


def is_masked(array: Any) -> bool:
    """Whether `array` has elements that do not count; who has such an array imported numpy.ma."""
    masked = sys.modules.get("numpy.ma")
    return isinstance(array, getattr(masked, "MaskedArray", ()))


def is_integer(array: np.ndarray) -> bool:
    """Whether `array` holds integers or booleans, those of ml_dtypes (i2 to ui4) included."""
    return array.dtype.kind in "biu" or array.dtype in _SHORT_INTEGER_DTYPES.values()


def whole_bytes(array: np.ndarray) -> np.ndarray:
    """`array` with i2 and i4 as int8, ui2 and ui4 as uint8, which numpy computes with."""
    if array.dtype not in _SHORT_INTEGER_DTYPES.values():
        return array
    return array.astype(np.int8 if ml_dtypes.iinfo(array.dtype).min else np.uint8)


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


def element_name(dtype: np.dtype) -> str | None:
    """The MLIR element type of a dtype, None where there is none."""
    return _element_names().get(dtype)


@functools.cache
def _element_names() -> dict[np.dtype, str]:
    floats = (name for name, fmt in FORMATS.items() if fmt.has_dtype)
    elements = (*floats, *_INTEGER_DTYPES, *_SHORT_INTEGER_DTYPES, *_COMPLEX_DTYPES)
    return {element_dtype(element): element for element in elements}


def spell(array: np.ndarray) -> str:
    """The MLIR spelling of an array's type, for messages."""
    element = element_name(array.dtype)
    if element is None:
        return f"{array.dtype}{list(array.shape)}"
    return str(TensorSpec(array.shape, element))


def stored(name: str, array: np.ndarray) -> tuple[str, np.ndarray]:
    """Key and array under which `array` goes into an `.npz`."""
    element = element_name(array.dtype)
    if element is not None and is_whole(element, array.shape):
        return f"{name}@{element}x{CODES_OF_BYTES[element]}", packed(array)
    for element, coded in _CODED.items():
        if coded.dtype == array.dtype:
            return f"{name}@{element}", array.view(f"uint{coded.storage_bits}")
    return name, array


def restored(archive: Mapping[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of an `.npz` in order, as the suffixes of their keys say."""
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
    short, _, count = element.rpartition("x")
    if short in CODES_OF_BYTES and count == str(CODES_OF_BYTES[short]):
        return _unpacked(f"key '{key}'", array, short)
    coded = _CODED.get(element)
    if coded is None and element in FORMATS:
        fmt = FORMATS[element]
        coded = _Coded(element, fmt.dtype, fmt.bits, fmt.storage_bits)
    if coded is None:
        raise Fp8Error(f"key '{key}': no type that files hold as codes is named {element}")
    if array.dtype != f"uint{coded.storage_bits}":
        raise Fp8Error(f"key '{key}' holds {array.dtype}, not uint{coded.storage_bits}")
    return _decoded(f"key '{key}'", array, coded)


def _unpacked(what: str, array: np.ndarray, element: str) -> np.ndarray:
    if array.dtype != np.uint8 or not array.ndim:
        raise Fp8Error(f"{what} holds {array.dtype}, not rows of uint8")
    size = CODES_OF_BYTES[element] * FORMATS[element].bits // 8
    if array.shape[-1] % size:
        raise Fp8Error(f"{what} holds rows of {array.shape[-1]} bytes, no multiple of {size}")
    return unpacked(array, element)


def adapt(what: str, array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """`array` as the declared type, where it holds the codes of one that files cannot name.

    Those come as unsigned integers, or as the bare bytes (`|V1`, `|V2`) that `np.save` makes of
    them. Any other difference from `spec` is an error that starts with `what`.
    """
    coded = _CODED.get(spec.element)
    if coded:
        codes = f"uint{coded.storage_bits}"
        if array.dtype in (np.dtype(f"V{coded.storage_bits // 8}"), codes):
            array = _decoded(what, array.view(codes), coded)
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
    """`array` with only valid codes of its type, where a byte has more values than that.

    Such bytes come of views. numpy takes any but 0 for true; those that are no code of their type
    (f6, f4, i4, i2, ui4, ui2) are refused.
    """
    if array.dtype == np.bool_:
        codes = array.view(np.uint8)
        return codes != 0 if codes.max(initial=0) > 1 else array
    for coded in _SUB_BYTE:
        if coded.dtype == array.dtype:
            _check_codes(what, array.view(np.uint8), coded)
    return array


def has_only_codes(dtype: np.dtype) -> bool:
    """Whether every byte value is a valid code of `dtype`."""
    return dtype != np.bool_ and all(coded.dtype != dtype for coded in _SUB_BYTE)


def _decoded(what: str, codes: np.ndarray, coded: _Coded) -> np.ndarray:
    _check_codes(what, codes, coded)
    return codes.view(coded.dtype)


def _check_codes(what: str, codes: np.ndarray, coded: _Coded) -> None:
    if coded.bits == coded.storage_bits:
        return
    largest = codes.max(initial=0)
    if largest >> coded.bits:
        raise Fp8Error(f"{what} holds {largest:#x}, which is no code of {coded.name}")
