"""What is packed for AMX, multiplied by vector registers: where tiles may not be used, or would
lose numbers."""

from dataclasses import replace

from mlir_fp8.lowering.kernels.products.amx_tile import SIDE, STEP
from mlir_fp8.lowering.kernels.products.tile import Tile, multiply_add
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_ROWS = 8
"""Rows of the register tile, a divisor of `SIDE`, in which rows lie together."""


def amx_fallback_text(name: str, target: KernelTarget, *, in_f32: bool = False) -> str:
    """The function, with the parameters and the meaning of `amx_tile.amx_tile_text`.

    It multiplies pairs by `vdpbf16ps`, which loses what AMX does; with `in_f32` numbers of f32.
    """
    writer = _OfTilesInF32 if in_f32 else OfTiles
    return writer(replace(target, rows=_ROWS), "bf16").function(name)


class OfTiles(Tile):
    """The left operand lies in tiles of 16 rows of `STEP` pairs, two of them below each other."""

    def rows_at(self, row: str) -> list[str]:
        text = self.text
        rest = text.rem(row, SIDE)
        start = text.add(text.mul(text.sub(row, rest), "%depth"), text.mul(rest, STEP))
        return [text.add(start, i * STEP) for i in range(self.target.rows)]

    def along(self, depth: str) -> str:
        text = self.text
        rest = text.rem(depth, STEP)
        return text.add(text.mul(text.sub(depth, rest), SIDE), rest)


class _OfTilesInF32(OfTiles):
    """Each half of a word is the upper half of an f32 number."""

    def operand(self, value: str) -> tuple[str, ...]:
        text, words = self.text, f"vector<{self.target.lanes}xi32>"
        shift, mask = (text.constant(f"dense<{each}> : {words}") for each in (16, -65536))
        halves = (
            text.value(f"arith.shli {value}, {shift} : {words}"),
            text.value(f"arith.andi {value}, {mask} : {words}"),
        )
        return tuple(
            text.value(f"arith.bitcast {each} : {words} to {self.vector}") for each in halves
        )

    def added(self, left: tuple[str, ...], right: tuple[str, ...], total: str) -> str:
        for a, b in zip(left, right, strict=True):
            total = multiply_add(self.text, self.target, a, b, total, self.vector)
        return total
