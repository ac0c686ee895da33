"""Scales of an operand in blocks along K: which number is that of a row and a part of K."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error

SPAN = 128
"""Bytes of a row in a tile of shared memory: what the 128-byte swizzle repeats after."""
_PARTS = (32, 64)
"""Of K within a tile that blocks may be of: what one `wgmma` or two of them add."""


@dataclass(frozen=True)
class Blocks:
    """`rows` of an operand and `k` of K have one scale, an f32 that multiplies.

    In memory they are a matrix of one line for each `rows`, or with `by_k` one for each `k`.
    """

    rows: int
    k: int = SPAN
    by_k: bool = False

    def counts(self, rows: int, k: int) -> tuple[int, int]:
        """How many there are along the rows of an operand, and along K."""
        return -(-rows // self.rows), -(-k // self.k)

    def number(self, rows: int, k: int) -> int:
        down, along = self.counts(rows, k)
        return down * along

    def check(self, what: str, columns: int | None, tile_n: int) -> None:
        """Refuse those that change within what is added at once; with `columns`, those of B, those
        that change within a tile of D, unless single columns have them side by side.
        """
        if self.rows < 1 or (self.k not in _PARTS and (self.k < SPAN or self.k % SPAN)):
            raise Fp8Error(
                f"{what}: scales of {self.rows}x{self.k} are of no whole tiles of {SPAN} of K, "
                f"nor of {' or '.join(map(str, _PARTS))}"
            )
        if columns is None or (self.rows == 1 and self.by_k) or self.rows >= columns:
            return
        if self.rows % tile_n:
            raise Fp8Error(
                f"{what}: {self.rows} columns have a scale, not one or a multiple of {tile_n}"
            )
