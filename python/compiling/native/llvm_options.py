"""Options of LLVM's command line."""

import ctypes
import functools

from mlir_fp8.compiling.native.c_api import library


@functools.cache
def set_llvm_options() -> None:
    """Options of LLVM's command line, which may be given once per process.

    The SLP vectorizer narrows `smin(smax(x, 0), 1)` wrongly: it made -1 of a 1. The post-RA
    scheduler takes a seventh of code generation, and out-of-order processors don't need it.
    """
    options = [b"mlir-fp8", b"-vectorize-slp=false", b"-post-RA-scheduler=false"]
    arguments = (ctypes.c_char_p * len(options))(*options)
    library().LLVMParseCommandLineOptions(len(options), arguments, None)
