"""Native code for one conversion between two element types, over any number of elements.

The conversion is that of compiled modules: ops of the arith dialect, which
`convert-small-floats-to-int` turns into the same branch-free integer code, vectorized by LLVM.
"""

import ctypes
import functools
from typing import TYPE_CHECKING

from mlir_fp8.base.fork_lock import LOADING
from mlir_fp8.base.symbols import CAST, CAST_TASK
from mlir_fp8.compiling.native.code_cache import open_cache
from mlir_fp8.compiling.native.code_key import code_key
from mlir_fp8.compiling.native.object_code import ObjectCode, object_file
from mlir_fp8.compiling.native.symbols import is_in_every_process, undefined_symbols
from mlir_fp8.compiling.threads import parallel_for

if TYPE_CHECKING:
    from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_PASSES = [
    "convert-scf-to-cf",
    "saturate-float-to-int",
    "convert-vector-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
    "verify-lowered{to=llvm}",
]
GRAIN = 1 << 14
"""The grain in elements: whole cache lines of any type."""


class Kernel:
    """The functions of `cast_loop`: addresses of the first source and result element, and how many
    there are. Calls release the GIL."""

    def __init__(self, code: ObjectCode) -> None:
        self._code = code  # owns the memory
        address, number = ctypes.c_void_p, ctypes.c_int64
        self._function = ctypes.CFUNCTYPE(None, address, address, number)(code.address(CAST))
        self._task = code.address(CAST_TASK)

    def __call__(self, source: int, target: int, count: int) -> None:
        self._function(source, target, count)

    def share(self, source: int, target: int, count: int, threads: int) -> None:
        """Run on the thread pool: this thread and up to `threads` - 1 others."""
        arguments = (ctypes.c_int64 * 3)(source, target, count)
        parallel_for()(self._task, ctypes.addressof(arguments), count, GRAIN, threads)


def kernel(source: str, target: str, *, saturate: bool) -> Kernel:
    """Converts from `source` to `target`, two MLIR types that differ."""
    with LOADING:  # one of concurrent calls compiles it
        return _loaded(source, target, saturate)


def forget() -> None:
    """Drop all kernels."""
    with LOADING:  # frees code that is not in use
        _loaded.cache_clear()


@functools.cache
def _loaded(source: str, target: str, saturate: bool) -> Kernel:
    cache = open_cache()
    if cache is None:
        return Kernel(ObjectCode(_of_host(source, target, saturate)))
    key = code_key("cast", source, target, str(saturate))
    found = cache.get(key)
    if found is None:
        found = _of_host(source, target, saturate)
        if all(map(is_in_every_process, undefined_symbols(found))):
            cache.put(key, found)
    return Kernel(ObjectCode(found))


def _of_host(source: str, target: str, saturate: bool) -> bytes:
    from mlir_fp8.lowering.kernels.vector_code.target import host_target

    return compiled(source, target, host_target(), saturate=saturate)


def compiled(source: str, target: str, processor: "KernelTarget", *, saturate: bool) -> bytes:
    """The object file, with the blocks of `processor`, whose instructions this one has."""
    from torch_mlir import ir

    from mlir_fp8.base.context import make_context
    from mlir_fp8.compiling.execution import native_code
    from mlir_fp8.compiling.native.cast_loop import kernel_text
    from mlir_fp8.compiling.native.x86_block import block, is_x86
    from mlir_fp8.passes.pass_pipeline import run_pipeline

    special = block(source, target, saturate=saturate, processor=processor)
    text = kernel_text(source, target, special, streams=is_x86())
    module = ir.Module.parse(text, make_context())
    to_codes = f"convert-small-floats-to-int{{saturate={str(saturate).lower()}}}"
    run_pipeline(module, [to_codes, *_PASSES])
    engine = native_code(module, opt_level=3)
    engine.raw_lookup(CAST)  # compiles
    return object_file(engine)
