"""Sets flush-to-zero and denormals-are-zero on the calling thread."""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from mlir_fp8.base.context import make_context


class Control(NamedTuple):
    """Code that loads and stores the floating-point control word, and its FTZ and DAZ bits."""

    load: str
    store: str
    clobbers: str
    flushing: int


_ARM = Control("ldr x9, [$0]\\0A msr fpcr, x9", "mrs x9, fpcr\\0A str x9, [$0]", "~{x9},", 1 << 24)
CONTROLS = {
    "x86_64": Control("ldmxcsr ($0)", "stmxcsr ($0)", "", 0x8040),
    "aarch64": _ARM,
    "arm64": _ARM,
}


@contextmanager
def flushing_subnormals() -> Iterator[None]:
    control = CONTROLS[platform.machine()]
    functions = "\n".join(
        f'''llvm.func @{name}(%word: !llvm.ptr) {{
          llvm.inline_asm has_side_effects asm_dialect = att
              "{text}", "r,{control.clobbers}~{{memory}}" %word : (!llvm.ptr) -> ()
          llvm.return
        }}'''
        for name, text in (("load", control.load), ("store", control.store))
    )
    engine = ExecutionEngine(ir.Module.parse(functions, make_context()))
    word = ctypes.c_uint64(0)
    # The packed calling convention: an array of pointers to the arguments, here one pointer.
    argument = (ctypes.c_void_p * 1)(ctypes.addressof(word))
    packed = (ctypes.c_void_p * 1)(ctypes.addressof(argument))

    def call(name: str) -> None:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(name))(ctypes.addressof(packed))

    call("store")
    before = word.value
    word.value |= control.flushing
    call("load")
    try:
        yield
    finally:
        word.value = before
        call("load")
