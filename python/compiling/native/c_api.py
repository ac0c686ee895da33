"""MLIR's C API by ctypes, which releases the GIL."""

import ctypes
import functools
from pathlib import Path
from typing import Any

from torch_mlir import _mlir_libs


class Pointer(ctypes.Structure):
    """`MlirModule`, `MlirContext`, `MlirPassManager` and the like."""

    _fields_ = (("ptr", ctypes.c_void_p),)


class StringRef(ctypes.Structure):
    """`MlirStringRef`."""

    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


class LogicalResult(ctypes.Structure):
    """`MlirLogicalResult`."""

    _fields_ = (("value", ctypes.c_int8),)


@functools.cache
def library() -> Any:
    """The C functions in use, with their types."""
    (path,) = Path(_mlir_libs.__file__).parent.glob("libTorchMLIRAggregateCAPI.*")
    found = ctypes.CDLL(str(path))
    found.mlirRegisterAllLLVMTranslations.argtypes = [Pointer]
    found.mlirRegisterAllLLVMTranslations.restype = None
    found.mlirPassManagerRunOnOp.argtypes = [Pointer, Pointer]
    found.mlirPassManagerRunOnOp.restype = LogicalResult
    found.mlirOperationVerify.argtypes = [Pointer]
    found.mlirOperationVerify.restype = ctypes.c_bool
    create = found.mlirExecutionEngineCreate
    create.argtypes = [Pointer, *[ctypes.c_int] * 2, ctypes.c_void_p, *[ctypes.c_bool] * 2]
    create.restype = Pointer
    found.mlirExecutionEngineRegisterSymbol.argtypes = [Pointer, StringRef, ctypes.c_void_p]
    found.mlirExecutionEngineRegisterSymbol.restype = None
    found.mlirExecutionEngineLookup.argtypes = [Pointer, StringRef]
    found.mlirExecutionEngineLookup.restype = ctypes.c_void_p
    found.mlirExecutionEngineDumpToObjectFile.argtypes = [Pointer, StringRef]
    found.mlirExecutionEngineDumpToObjectFile.restype = None
    found.mlirExecutionEngineDestroy.argtypes = [Pointer]
    found.mlirExecutionEngineDestroy.restype = None
    return found


def c_string(text: str) -> StringRef:
    data = text.encode()
    return StringRef(data, len(data))


def c_pointer(holder: Any) -> Pointer:
    """The C object of one of the bindings'."""
    capsule: Any = holder._CAPIPtr
    name = ctypes.pythonapi.PyCapsule_GetName
    name.argtypes, name.restype = [ctypes.py_object], ctypes.c_char_p
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return Pointer(pointer(capsule, name(capsule)))
