"""Native code for one conversion between two element types, over any number of elements.

The conversion is that of compiled modules: ops of the arith dialect, which
`convert-small-floats-to-int` turns into the same branch-free integer code, vectorized by LLVM.
"""

import ctypes
import functools
from collections.abc import Callable

from mlir_fp8.native.code_cache import open_cache
from mlir_fp8.native.code_key import code_key
from mlir_fp8.native.object_code import ObjectCode, object_file
from mlir_fp8.native.symbols import is_in_every_process, undefined_symbols

Kernel = Callable[[int, int, int], None]
"""Called with the addresses of the first source and result element, and their number."""

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
NAME = "fp8.cast"


@functools.cache
def kernel(source: str, target: str, *, saturate: bool) -> Kernel:
    """Converts from `source` to `target`, two MLIR types that differ; releases Python's lock."""
    cache = open_cache()
    if cache is None:
        return _Kernel(ObjectCode(_compiled(source, target, saturate)))
    key = code_key("cast", source, target, str(saturate))
    found = cache.get(key)
    if found is None:
        found = _compiled(source, target, saturate)
        if all(map(is_in_every_process, undefined_symbols(found))):
            cache.put(key, found)
    return _Kernel(ObjectCode(found))


class _Kernel:
    """The functions of `cast_loop`."""

    def __init__(self, code: ObjectCode) -> None:
        self._code = code  # owns the memory
        arguments = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        self._function = ctypes.CFUNCTYPE(None, *arguments)(code.address(NAME))

    def __call__(self, source: int, target: int, count: int) -> None:
        self._function(source, target, count)


def _compiled(source: str, target: str, saturate: bool) -> bytes:
    from torch_mlir import ir

    from mlir_fp8.context import make_context
    from mlir_fp8.execution import native_code
    from mlir_fp8.lowering.kernels.target import host_target
    from mlir_fp8.native.avx2_block import block
    from mlir_fp8.native.cast_loop import kernel_text
    from mlir_fp8.passes.pass_pipeline import run_pipeline

    special = block(source, target, saturate=saturate, processor=host_target())
    text = kernel_text(source, target, special)
    module = ir.Module.parse(text, make_context())
    to_codes = f"convert-small-floats-to-int{{saturate={str(saturate).lower()}}}"
    run_pipeline(module, [to_codes, *_PASSES])
    engine = native_code(module, opt_level=3)
    engine.raw_lookup(NAME)  # compiles
    return object_file(engine)
