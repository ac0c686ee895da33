"""Which casts have AVX2 code of their own."""

import platform

from mlir_fp8.compiling.native.avx2_decode import decoding
from mlir_fp8.compiling.native.avx2_encode import Block, encoding
from mlir_fp8.compiling.native.avx2_lookup import lookup
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_LANES = 8
"""f32 numbers in a register of AVX2; processors with wider ones have it too."""


def is_x86() -> bool:
    """Whether the host is x86-64."""
    return platform.machine() in ("x86_64", "AMD64")


def block(source: str, target: str, *, saturate: bool, processor: KernelTarget) -> Block | None:
    """The code that casts a block of MLIR type `source` to `target` on `processor`; None where the
    arith dialect's lowering is all there is."""
    if not is_x86() or processor.lanes < _LANES or not {source, target} <= FORMATS.keys():
        return None
    held, given = FORMATS[source], FORMATS[target]
    if not held.is_small:
        return encoding(held, given, saturate=saturate) if given.is_small else None
    return lookup(held, given, saturate=saturate) or decoding(held, given)
