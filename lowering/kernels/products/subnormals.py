"""Subnormal numbers as they are, also in a process that counts them as zero, on x86."""

import contextlib
from collections.abc import Iterator

from mlir_fp8.lowering.kernels.products.product_parts import ProductParts

_LOAD, _STORE = "llvm.x86.sse.ldmxcsr", "llvm.x86.sse.stmxcsr"
_ZEROING = 0x8040
"""The bits of the control word that make results, and operands, zero instead of subnormal."""


@contextlib.contextmanager
def subnormals_kept(parts: ProductParts) -> Iterator[None]:
    """What is called inside keeps them; after that it is as it was."""
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
