"""The register tiling of the result of a convolution."""

from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.convolution import Convolution
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget

_MOST_ROWS = 8
"""Each row's address is in a general-purpose register; more would spill."""
_LEAST_FULL = 0.9
"""The least share of useful rows for which tiles lie along one loop."""
_BLOCK_TILES = 32


@dataclass(frozen=True)
class ConvolutionTiles:
    """How the result of a convolution is tiled.

    The units of parallel work are blocks of tiles times panels of columns, in row-major order.
    """

    convolution: Convolution
    rows: int
    vectors: int
    columns: int
    adds: bool
    """Whether the micro-kernel accumulates into the result."""

    @staticmethod
    def of(convolution: Convolution, target: KernelTarget, *, adds: bool) -> "ConvolutionTiles":
        vectors = -(-convolution.sizes[convolution.n] // target.lanes)
        # Tiles one vector wide where the last vector of wider ones would be padding.
        is_narrow = vectors in (1, 3)
        rows = _MOST_ROWS if is_narrow else min(target.rows, _MOST_ROWS)
        width = 1 if is_narrow else target.vectors
        return ConvolutionTiles(convolution, rows, width, width * target.lanes, adds)

    @property
    def panels(self) -> int:
        return -(-self.convolution.sizes[self.convolution.n] // self.columns)

    @property
    def along(self) -> bool:
        """Whether each tile lies along the innermost loop of m.

        The last two tiles then overlap and store some elements twice, so not while accumulating.
        """
        size = self.convolution.sizes[self.convolution.m[-1]]
        padded = -(-size // self.rows) * self.rows
        return not self.adds and size >= self.rows and size >= _LEAST_FULL * padded

    @property
    def run(self) -> int:
        """Tiles along the innermost loop of m, or all of them."""
        m = self.convolution.m
        return -(-self.convolution.size(m[-1:] if self.along else m) // self.rows)

    @property
    def tiles(self) -> int:
        return self.run * (self.convolution.size(self.convolution.m[:-1]) if self.along else 1)

    @property
    def block(self) -> int:
        return -(-self.tiles // -(-self.tiles // _BLOCK_TILES))

    @property
    def units(self) -> int:
        return -(-self.tiles // self.block) * self.panels

    def unit_work(self, steps: int) -> int:
        """Multiplications in one unit of `steps` reduction steps."""
        return self.block * self.rows * self.columns * steps
