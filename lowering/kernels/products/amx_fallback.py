"""What is packed for AMX, multiplied by vector registers: for processes that may not use tiles."""

from dataclasses import replace

from mlir_fp8.lowering.kernels.products.amx_tile import SIDE, STEP
from mlir_fp8.lowering.kernels.products.tile import Tile
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_ROWS = 8
"""Rows of the register tile, a divisor of `SIDE`, in which rows lie together."""


def amx_fallback_text(name: str, target: KernelTarget) -> str:
    """The function, with the parameters and the meaning of `amx_tile.amx_tile_text`."""
    return _OfTiles(replace(target, rows=_ROWS), "bf16").function(name)


class _OfTiles(Tile):
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
