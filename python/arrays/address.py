"""The data pointer of an array, read as C extensions do: `ndarray.ctypes` takes far longer."""

import ctypes
import sys

import numpy as np

_FIELD = object.__basicsize__
"""Of the pointer in an array object: the first one, which `PyArray_DATA` reads too."""


def _reads_pointer() -> bool:
    if sys.implementation.name != "cpython":
        return False
    array = np.zeros(3, np.uint8)
    return _pointer(array[1:]) == array.ctypes.data + 1


def _pointer(array: np.ndarray) -> int:
    return ctypes.c_void_p.from_address(id(array) + _FIELD).value or 0


def _ctypes_pointer(array: np.ndarray) -> int:
    return array.ctypes.data


address_of = _pointer if _reads_pointer() else _ctypes_pointer
"""The address of an array's first element."""
