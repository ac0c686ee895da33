"""LAPACK for native code: scipy's routines, by the pointers that it exports for Cython.

Integers are 32 bits wide there (LP64), complex numbers two reals, and no routine takes the GIL.
Native code has undefined symbols for them, which are resolved when it is loaded.
"""

import ctypes
import functools
import importlib
import re
from collections.abc import Iterable

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.symbols import LAPACK

EXTRA = "pip install 'mlir-fp8[lapack]'"
_NAMED = re.compile(rf"\b_?{LAPACK}([sdcz]\w+)".encode())


def is_lapack(symbol: str) -> bool:
    return symbol.startswith(LAPACK)


def addresses(symbols: Iterable[str]) -> dict[str, int]:
    """The addresses of the routines `symbols`; `Fp8Error` without scipy, or for one it lacks."""
    return {symbol: _address(symbol.removeprefix(LAPACK)) for symbol in symbols}


def require(symbol: str) -> None:
    """Raise `Fp8Error` where `addresses` would."""
    addresses([symbol])


def named_in(files: Iterable[bytes]) -> set[str]:
    """The symbols of routines in object files of any format."""
    return {
        LAPACK + name.decode() for data in files if LAPACK.encode() in data
        for name in _NAMED.findall(data)
    }  # fmt: skip


@functools.cache
def _address(routine: str) -> int:
    for library in ("lapack", "blas"):
        capsule = _capsules(library).get(routine)
        if capsule is not None:
            return _pointer(capsule)
    raise Fp8Error(f"scipy has no {routine}: install a newer one")


@functools.cache
def _capsules(library: str) -> dict[str, object]:
    try:
        module = importlib.import_module(f"scipy.linalg.cython_{library}")
    except ImportError:
        raise Fp8Error(f"that is scipy's, which is not installed: {EXTRA}") from None
    return module.__pyx_capi__


def _pointer(capsule: object) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.argtypes, name.restype = [ctypes.py_object], ctypes.c_char_p
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return pointer(capsule, name(capsule))
