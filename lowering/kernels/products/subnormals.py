"""Clears flush-to-zero and denormals-are-zero on x86, whatever the caller has set in MXCSR."""

import contextlib
from collections.abc import Iterator

from mlir_fp8.lowering.kernels.products.product_parts import ProductParts

_LOAD, _STORE = "llvm.x86.sse.ldmxcsr", "llvm.x86.sse.stmxcsr"
_ZEROING = 0x8040
"""FTZ and DAZ in MXCSR."""


@contextlib.contextmanager
def subnormals_kept(parts: ProductParts) -> Iterator[None]:
    """Code emitted inside keeps subnormals; afterwards MXCSR is restored."""
    text, zero = parts.text, parts.text.index(0)
    for name in (_LOAD, _STORE):
        parts.functions.declare(name, "(memref<1xi32>)")
    word = "memref<1xi32>"
    before, now = (text.value(f"memref.alloca() : {word}") for _ in range(2))
    text.call(_STORE, [(before, word)])
    control = text.value(f"memref.load {before}[{zero}] : {word}")
    kept = text.value(f"arith.andi {control}, {text.constant(f'{~_ZEROING} : i32')} : i32")
    text.line(f"memref.store {kept}, {now}[{zero}] : {word}")
    text.call(_LOAD, [(now, word)])
    yield
    text.call(_LOAD, [(before, word)])
