"""Object files from modules in the LLVM dialect, by MLIR's engine, without the GIL."""

import ctypes
import functools
import re
from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.native.c_api import c_pointer, c_string, library
from mlir_fp8.compiling.native.object_code import dumped

_PARAMETERS = ["module", "opt_level", "shared_libs", "enable_object_dump", "enable_pic"]
"""Of the bindings' engine, and so of `mlirExecutionEngineCreate`, for which this is written."""


@functools.cache
def is_usable() -> bool:
    """Whether the C functions are those that this is written for: the wheel does not say."""
    signature = (ExecutionEngine.__init__.__doc__ or "").partition("\n")[0]
    return re.findall(r"(\w+): ", signature) == _PARAMETERS


def let_threads_translate(context: ir.Context) -> None:
    """Make `object_of` safe from several threads on modules of `context`."""
    context.enable_multithreading(True)
    # Each engine registers two of these; later ones only find them.
    library().mlirRegisterAllLLVMTranslations(c_pointer(context))


def object_of(module: ir.Module, opt_level: int, shown: str, others: Iterable[str]) -> bytes:
    """`module` compiled for the host as an object file.

    `shown` is a symbol of it that is not internal. `others` are those that it leaves to be linked,
    beside the C library's: the engine wants an address of each, which the object file is without.
    """
    mlir = library()
    engine = mlir.mlirExecutionEngineCreate(c_pointer(module), opt_level, 0, None, True, False)
    if not engine.ptr:
        raise Fp8Error("LLVM cannot compile this module")
    try:
        for name in others:
            mlir.mlirExecutionEngineRegisterSymbol(engine, c_string(name), _nowhere())
        if not mlir.mlirExecutionEngineLookup(engine, c_string(shown)):
            raise Fp8Error(f"LLVM made no code of '{shown}'")
        return dumped(lambda path: mlir.mlirExecutionEngineDumpToObjectFile(engine, c_string(path)))
    finally:
        mlir.mlirExecutionEngineDestroy(engine)


@functools.cache
def _nowhere() -> int:
    """An address that is never called."""
    return ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value or 0
