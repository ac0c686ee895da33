"""Calls of the micro-kernels of `arm_tiles`; of f32 where `bfmmla` would lose subnormal numbers."""

from collections.abc import Sequence

from mlir_fp8.lowering.kernels.products.arm_tiles import (
    INTRINSICS,
    bfmmla_tile_text,
    fdot_tile_text,
    fours_in_f32_text,
)
from mlir_fp8.lowering.kernels.products.last_places import LastPlaces, call_by_panels
from mlir_fp8.lowering.kernels.products.packed_form import native_format
from mlir_fp8.lowering.kernels.products.product_parts import ProductParts
from mlir_fp8.lowering.kernels.vector_code.text import Argument

_WORD = 8
"""Bytes of four bf16 numbers."""


def call_bfmmla(
    parts: ProductParts,
    places: LastPlaces,
    block: tuple[str, str],
    arguments: Sequence[Argument],
) -> None:
    """Multiply a block of the left operand with one of the right one, as `amx_calls.call_amx`."""
    text, functions, target = parts.text, parts.functions, parts.target
    _declare(parts, "fours")
    tile = functions.name_of("tile", bfmmla_tile_text("NAME", target))

    def call(each: Sequence[Argument], fits: str | None) -> None:
        if fits is None:
            text.call(tile, each)
            return
        with text.when(fits):
            text.call(tile, each)
            text.otherwise()
            text.call(functions.name_of("tile", fours_in_f32_text("NAME", target)), each)

    call_by_panels(parts, places, block, arguments, (target.columns, _WORD), call)


def call_fdot(parts: ProductParts, arguments: Sequence[Argument]) -> None:
    """Multiply blocks of codes, whose formats the processor knows."""
    left, right = (native_format(each) for each in (parts.product.left, parts.product.right))
    assert left is not None and right is not None
    _declare(parts, "codes")
    tile = fdot_tile_text("NAME", parts.target, left, right)
    parts.text.call(parts.functions.name_of("tile", tile), arguments)


def _declare(parts: ProductParts, form: str) -> None:
    for name, types in INTRINSICS[form].items():
        parts.functions.declare(name, types)
