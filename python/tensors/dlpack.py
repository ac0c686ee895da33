"""Arrays of any library with DLPack, those of types too that numpy's own reader does not know.

The exporter's description of the array is renamed to unsigned integers before numpy reads it, and
the codes are then viewed as what they are. https://dmlc.github.io/dlpack/latest/c_api.html
"""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlir_fp8.arrays.packing import unpacked
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

_UINT = 1
_SMALL = {
    4: "bf16",
    7: "f8E3M4",
    8: "f8E4M3",
    9: "f8E4M3B11FNUZ",
    10: "f8E4M3FN",
    11: "f8E4M3FNUZ",
    12: "f8E5M2",
    13: "f8E5M2FNUZ",
    14: "f8E8M0FNU",
    15: "f6E2M3FN",
    16: "f6E3M2FN",
    17: "f4E2M1FN",
}
"""By DLDataTypeCode."""
_DEVICES = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm", 14: "oneapi"}
_ON_CPU = (1, 3, 11, 13)
"""The CPU, and memory of CUDA and ROCm that the CPU reads: pinned, managed."""
_NEWEST = (1, 1)
_PADDED = 4
"""The flag of types below a byte that take one each."""


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


def from_dlpack(what: str, value: Any) -> np.ndarray:
    """`value`, which has `__dlpack__`, as an array of the same memory.

    Raises `Fp8Error` starting with `what` where it is on another device than the CPU, or of a type
    that numpy and ml_dtypes have not.
    """
    name = type(value).__name__
    try:
        device = tuple(map(int, value.__dlpack_device__()))
    except Exception as error:  # of callers' classes
        raise Fp8Error(f"{what} is a {name} without a device: {_reason(error)}") from None
    if device[0] not in _ON_CPU:
        place = f"{_DEVICES.get(device[0], f'DLPack device {device[0]}')}:{device[1]}"
        raise Fp8Error(f"{what} is on {place}, this runs on the CPU: copy it there")
    try:
        capsule = _capsule(value)
        element, is_pair = _renamed(capsule)
        array = np.from_dlpack(_Exported(capsule, device))
    except Fp8Error as error:
        raise Fp8Error(f"{what} is a {name} {error}") from None
    except Exception as error:  # of callers' classes, and numpy's for what it does not know
        raise Fp8Error(f"{what} is a {name} that DLPack does not give: {_reason(error)}") from None
    if is_pair:
        if not array.ndim:
            raise Fp8Error(f"{what} is a pair of f4 without a dimension to hold it: give it one")
        return unpacked(array)
    return array if element is None else array.view(element_dtype(element))


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


@dataclass(frozen=True)
class _Exported:
    """What numpy asks for a capsule."""

    capsule: Any
    device: tuple[int, ...]

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, ...]:
        return self.device


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=_NEWEST)
    except TypeError:  # written for DLPack before 1.0
        return value.__dlpack__()


def _renamed(capsule: Any) -> tuple[str | None, bool]:
    """The element type of a small float, now unsigned integers, and whether a byte holds two."""
    flags = 0
    address = _address(capsule, b"dltensor_versioned")
    if address is not None:
        versioned = _Versioned.from_address(address)
        if versioned.version[0] != _NEWEST[0]:
            raise Fp8Error(f"of DLPack {versioned.version[0]}, which is not known here")
        tensor, flags = versioned.tensor, versioned.flags
    else:
        address = _address(capsule, b"dltensor")
        if address is None:
            raise Fp8Error("whose __dlpack__ gives no capsule")
        tensor = _Tensor.from_address(address)
    dtype = tensor.dtype
    element = _SMALL.get(dtype.code)
    if element is None:
        return None, False
    bits, kind = FORMATS[element].bits, (dtype.bits, dtype.lanes)
    is_pair = kind == (4, 2)
    is_whole = kind == (bits, 1) and (bits >= 8 or flags & _PADDED)
    if not is_whole and not (is_pair and element == "f4E2M1FN"):
        raise Fp8Error(f"of {dtype.lanes} {element} in {dtype.bits} bits each: give one per byte")
    dtype.code, dtype.bits, dtype.lanes = _UINT, max(bits, 8), 1
    return element, is_pair


def _address(capsule: Any, name: bytes) -> int | None:
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
    if not is_valid(capsule, name):
        return None
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    get_pointer.restype = ctypes.c_void_p
    return get_pointer(capsule, name)
