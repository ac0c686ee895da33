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
from mlir_fp8.lowering.kernels.products.last_places import LastPlaces
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
    text, permission = parts.text, permission_of(parts)
    left, right, c, place, stride, rows, columns, panel, *rest = arguments
    if not (places.seeks("left") or places.seeks("right")):
        _call(parts, arguments, permission, is_sought=False)
        return
    if not places.seeks("right"):
        fits = places.fit(block, right[0], text.index(0))
        _call(parts, arguments, _both(parts, fits, permission), is_sought=True)
        return
    zero, side = text.index(0), text.index(SIDE)
    bytes_ = text.value(f"memref.cast {right[0]} : memref<1xi8> to memref<?xi8>")
    with text.loop(zero, columns[0], side) as column:
        number = text.div(column, SIDE)
        begin = text.mul(text.mul(number, panel[0]), 4)
        view = text.value(f"memref.view {bytes_}[{begin}][] : memref<?xi8> to memref<1xi8>")
        count = text.minimum(text.sub(columns[0], column), side)
        start = text.add(place[0], column)
        sizes = [(each, "index") for each in (start, stride[0], rows[0], count, panel[0])]
        fits = _both(parts, places.fit(block, right[0], number), permission)
        _call(parts, [left, (view, right[1]), c, *sizes, *rest], fits, is_sought=True)


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


def _both(parts: ProductParts, first: str, second: str | None) -> str:
    return first if second is None else parts.text.value(f"arith.andi {first}, {second} : i1")
