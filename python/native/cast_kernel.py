"""Native code for one conversion between two element types, over any number of elements.

The conversion is that of compiled modules: ops of the arith dialect, which
`convert-small-floats-to-int` turns into the same branch-free integer code, vectorized by LLVM.
"""

import ctypes
import functools
from collections.abc import Callable

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.native.code_cache import open_cache
from mlir_fp8.native.code_key import code_key
from mlir_fp8.native.object_code import ObjectCode, object_file
from mlir_fp8.native.symbols import is_in_every_process, undefined_symbols

Kernel = Callable[[int, int, int], None]
"""Called with the addresses of the first source and result element, and their number."""

_PASSES = [
    "convert-scf-to-cf",
    "saturate-float-to-int",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-cf-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
    "verify-lowered{to=llvm}",
]
_NAME = "fp8.cast"


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
    """A function of two memrefs of one dimension and any size."""

    def __init__(self, code: ObjectCode) -> None:
        self._code = code  # owns the memory
        memref = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64]
        self._function = ctypes.CFUNCTYPE(None, *memref, *memref)(code.address(_NAME))

    def __call__(self, source: int, target: int, count: int) -> None:
        self._function(source, source, 0, count, 1, target, target, 0, count, 1)


def _compiled(source: str, target: str, saturate: bool) -> bytes:
    from torch_mlir import ir

    from mlir_fp8.context import make_context
    from mlir_fp8.execution import native_code
    from mlir_fp8.passes.pass_pipeline import run_pipeline

    module = ir.Module.parse(kernel_text(source, target), make_context())
    to_codes = f"convert-small-floats-to-int{{saturate={str(saturate).lower()}}}"
    run_pipeline(module, [to_codes, *_PASSES])
    engine = native_code(module, opt_level=3)
    engine.raw_lookup(_NAME)  # compiles
    return object_file(engine)


def kernel_text(source: str, target: str) -> str:
    """The loop, in the scf, memref and arith dialects."""
    held, given = _signless(source), _signless(target)
    conversion = "\n".join(
        f"    %{i + 1} = {op} %{i} : {from_} to {to}"
        for i, (op, from_, to) in enumerate(_steps(source, target))
    )
    return f"""
func.func @{_NAME}(%source: memref<?x{held}> {{llvm.noalias}},
                   %target: memref<?x{given}> {{llvm.noalias}}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = memref.dim %source, %zero : memref<?x{held}>
  scf.for %i = %zero to %count step %one {{
    %0 = memref.load %source[%i] : memref<?x{held}>
{conversion}
    memref.store %{len(_steps(source, target))}, %target[%i] : memref<?x{given}>
  }}
  return
}}"""


def _steps(source: str, target: str) -> list[tuple[str, str, str]]:
    """Ops with their types; narrow floats go by way of f32, which holds each of their numbers."""
    held, given = _signless(source), _signless(target)
    if source not in FORMATS:
        op = "arith.uitofp" if source.startswith("ui") else "arith.sitofp"
        return [(op, held, given)]
    if source in SMALL_FLOATS and target == "bf16":
        return [("arith.extf", held, given)]
    steps = []
    if FORMATS[source].bits < 32 and held != "f32":
        steps.append(("arith.extf", held, "f32"))
        held = "f32"
    if target not in FORMATS:
        op = "arith.fptoui" if target.startswith("ui") else "arith.fptosi"
        return [*steps, (op, held, given)]
    if held != given:
        wider = FORMATS[given].bits > FORMATS[held].bits
        steps.append(("arith.extf" if wider else "arith.truncf", held, given))
    return steps


def _signless(element: str) -> str:
    return element.removeprefix("u")
