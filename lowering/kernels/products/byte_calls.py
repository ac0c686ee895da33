"""Calls of the kernels that multiply packed bytes: by tiles of AMX or by vector registers."""

from collections.abc import Sequence

from mlir_fp8.lowering.kernels.products.amx_calls import permission_of
from mlir_fp8.lowering.kernels.products.amx_tile import amx_tile_text, intrinsics
from mlir_fp8.lowering.kernels.products.byte_tile import (
    SIGNED,
    byte_fallback_text,
    byte_intrinsics,
    byte_tile_text,
)
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import Argument


def call_byte_tile(parts: ProductParts, form: str, arguments: Sequence[Argument]) -> None:
    """Multiply a block of the left operand with one of the right one; `arguments` are those of
    `tile.tile_text`."""
    text, functions, target = parts.text, parts.functions, parts.target
    extensions = parts.product.left.byte_extension, parts.product.right.byte_extension
    if not target.tiles:
        _declare(parts)
        tile = byte_tile_text("NAME", target, form, extensions)
        text.call(functions.name_of("tile", tile), arguments)
        return
    signs = "".join("s" if each == SIGNED else "u" for each in extensions)
    for name, types in intrinsics(signs):
        functions.declare(name, types)
    tile = functions.name_of("tile", amx_tile_text("NAME", signs=signs))
    condition = permission_of(parts)
    if condition is None:
        text.call(tile, arguments)
        return
    _declare(parts)
    with text.when(condition):
        text.call(tile, arguments)
        text.otherwise()
        fallback = byte_fallback_text("NAME", target, extensions)
        text.call(functions.name_of("tile", fallback), arguments)


def _declare(parts: ProductParts) -> None:
    for name, types in byte_intrinsics(parts.target).items():
        parts.functions.declare(name, types)
