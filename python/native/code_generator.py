"""Object files from modules in the LLVM dialect, by MLIR's engine, with Python's lock released.

The bindings' engine holds the lock while LLVM works. Its C functions, called by ctypes, do not: so
several threads compile at once.
"""

import ctypes
import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch_mlir import _mlir_libs, ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8.errors import Fp8Error
from mlir_fp8.native.object_code import dumped

_PARAMETERS = ["module", "opt_level", "shared_libs", "enable_object_dump", "enable_pic"]
"""Of the bindings' engine, and so of `mlirExecutionEngineCreate`, for which this is written."""


class _Pointer(ctypes.Structure):
    """`MlirModule`, `MlirContext` and `MlirExecutionEngine`."""

    _fields_ = (("ptr", ctypes.c_void_p),)


class _StringRef(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


@functools.cache
def library() -> Any:
    """MLIR's C functions, which are called without Python's lock."""
    (path,) = Path(_mlir_libs.__file__).parent.glob("libTorchMLIRAggregateCAPI.*")
    found = ctypes.CDLL(str(path))
    found.mlirRegisterAllLLVMTranslations.argtypes = [_Pointer]
    found.mlirRegisterAllLLVMTranslations.restype = None
    create = found.mlirExecutionEngineCreate
    create.argtypes = [_Pointer, *[ctypes.c_int] * 2, ctypes.c_void_p, *[ctypes.c_bool] * 2]
    create.restype = _Pointer
    found.mlirExecutionEngineRegisterSymbol.argtypes = [_Pointer, _StringRef, ctypes.c_void_p]
    found.mlirExecutionEngineRegisterSymbol.restype = None
    found.mlirExecutionEngineLookup.argtypes = [_Pointer, _StringRef]
    found.mlirExecutionEngineLookup.restype = ctypes.c_void_p
    found.mlirExecutionEngineDumpToObjectFile.argtypes = [_Pointer, _StringRef]
    found.mlirExecutionEngineDumpToObjectFile.restype = None
    found.mlirExecutionEngineDestroy.argtypes = [_Pointer]
    found.mlirExecutionEngineDestroy.restype = None
    return found


@functools.cache
def is_usable() -> bool:
    """Whether the C functions are those that this is written for: the wheel does not say."""
    signature = (ExecutionEngine.__init__.__doc__ or "").partition("\n")[0]
    return re.findall(r"(\w+): ", signature) == _PARAMETERS


def let_threads_translate(context: ir.Context) -> None:
    """Let several threads call `object_of` on modules of `context`."""
    context.enable_multithreading(True)
    # Each engine asks for two of these; what is there already is only looked at.
    library().mlirRegisterAllLLVMTranslations(_pointer(context))


def object_of(module: ir.Module, opt_level: int, shown: str, others: Iterable[str]) -> bytes:
    """`module` compiled for this processor as an object file.

    `shown` is a symbol of it that is not internal. `others` are those that it leaves to be linked,
    beside the C library's: the engine wants an address of each, which the object file is without.
    """
    mlir = library()
    engine = mlir.mlirExecutionEngineCreate(_pointer(module), opt_level, 0, None, True, False)
    if not engine.ptr:
        raise Fp8Error("LLVM cannot compile this module")
    try:
        for name in others:
            mlir.mlirExecutionEngineRegisterSymbol(engine, _string(name), _nowhere())
        if not mlir.mlirExecutionEngineLookup(engine, _string(shown)):
            raise Fp8Error(f"LLVM made no code of '{shown}'")
        return dumped(lambda path: mlir.mlirExecutionEngineDumpToObjectFile(engine, _string(path)))
    finally:
        mlir.mlirExecutionEngineDestroy(engine)


@functools.cache
def _nowhere() -> int:
    """What ends the process, should it ever be called."""
    return ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value or 0


def _string(text: str) -> _StringRef:
    data = text.encode()
    return _StringRef(data, len(data))


def _pointer(holder: ir.Module | ir.Context) -> _Pointer:
    """The C object of one of Python's."""
    capsule: Any = holder._CAPIPtr
    name = ctypes.pythonapi.PyCapsule_GetName
    name.argtypes, name.restype = [ctypes.py_object], ctypes.c_char_p
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    return _Pointer(pointer(capsule, name(capsule)))
