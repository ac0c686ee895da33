"""Calls of the kernels that multiply what is packed for AMX: by tiles, or by vector registers where
tiles may not be used or would lose subnormal numbers."""

from collections.abc import Sequence

from mlir_fp8.lowering.kernels.products.amx_fallback import amx_fallback_text
from mlir_fp8.lowering.kernels.products.amx_tile import (
    SIDE,
    SYSTEM_CALL,
    SYSTEM_CALL_TYPE,
    amx_tile_text,
    intrinsics,
    permission_text,
)
from mlir_fp8.lowering.kernels.products.last_places import LastPlaces, call_by_panels
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import Argument


def call_amx(
    parts: ProductParts,
    places: LastPlaces,
    block: tuple[str, str],
    arguments: Sequence[Argument],
) -> None:
    """Multiply a block of the left operand with one of the right one, each of whose panels has its
    own way; `arguments` are those of `amx_tile.amx_tile_text`, `block` is the left buffer and the
    number of the block in it."""
    permission = permission_of(parts)

    def call(each: Sequence[Argument], fits: str | None) -> None:
        _call(parts, each, _both(parts, fits, permission), is_sought=fits is not None)

    call_by_panels(parts, places, block, arguments, (SIDE, 4), call)


def _call(
    parts: ProductParts, arguments: Sequence[Argument], condition: str | None, *, is_sought: bool
) -> None:
    """By tiles if the i1 `condition` holds, or there is none."""
    text, functions = parts.text, parts.functions
    for name, types in intrinsics():
        functions.declare(name, types)
    tile = functions.name_of("tile", amx_tile_text("NAME", sums_apart=is_sought))
    if condition is None:
        text.call(tile, arguments)
        return
    with text.when(condition):
        text.call(tile, arguments)
        text.otherwise()
        fallback = amx_fallback_text("NAME", parts.target, in_f32=is_sought)
        text.call(functions.name_of("tile", fallback), arguments)


def permission_of(parts: ProductParts) -> str | None:
    """An i1: whether the process may use tiles; None where it is known to."""
    if not parts.target.asks:
        return None
    parts.functions.declare(SYSTEM_CALL, SYSTEM_CALL_TYPE)
    permission = parts.functions.name_of("permission", permission_text("NAME"))
    return parts.text.value(f"func.call @{permission}() : () -> i1")


def _both(parts: ProductParts, first: str | None, second: str | None) -> str | None:
    if first is None or second is None:
        return first or second
    return parts.text.value(f"arith.andi {first}, {second} : i1")
