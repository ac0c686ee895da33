"""Which casts have AVX2 or AVX-512 code of their own."""

import platform
from dataclasses import dataclass

from mlir_fp8.compiling.native.x86_decode import decoding
from mlir_fp8.compiling.native.x86_encode import encoding
from mlir_fp8.compiling.native.x86_lookup import lookup
from mlir_fp8.compiling.native.x86_vectors import Block
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_LANES = 8
"""f32 numbers in a register of AVX2."""


@dataclass(frozen=True)
class WideBlock:
    """How a processor casts `size` elements at once: as many as a register has bytes."""

    convert: Block
    size: int
    has_tables: bool


def is_x86() -> bool:
    """Whether the host is x86-64."""
    return platform.machine() in ("x86_64", "AMD64")


def block(source: str, target: str, *, saturate: bool, processor: KernelTarget) -> WideBlock | None:
    """The code that casts a block of MLIR type `source` to `target` on `processor`; None where the
    arith dialect's lowering is all there is."""
    if not is_x86() or processor.lanes < _LANES or not {source, target} <= FORMATS.keys():
        return None
    found = _converting(source, target, saturate=saturate, has_tables=processor.byte_tables)
    if found is None:
        return None
    return WideBlock(found, 4 * processor.lanes, processor.byte_tables)


def _converting(source: str, target: str, *, saturate: bool, has_tables: bool) -> Block | None:
    held, given = FORMATS[source], FORMATS[target]
    if not held.is_small:
        return encoding(held, given, saturate=saturate) if given.is_small else None
    found = lookup(held, given, saturate=saturate)
    return found or decoding(held, given, has_tables=has_tables)
