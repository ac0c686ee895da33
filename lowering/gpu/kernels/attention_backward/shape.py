"""What the gradients of an attention are: sizes, which keys a query sees; and what a card runs."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.attention.shape import Ring
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, MOST_SHARED, ROWS, SPAN, WARPGROUP

ELEMENTS = ("bf16", "f16")
COLUMNS = 64
"""Rows that go by at a time: with more, sums and scores take too many registers."""
HALF = SPAN // 2
"""Numbers of a head in a tile's row of 128 bytes; longer heads have two such tiles."""
PADDED = 128
"""Statistics of rows are there for a multiple of so many."""
_STATISTICS = 1024
"""Bytes of a stage for those of its queries: tiles stay at multiples of 1024."""
_CACHED = 24 << 20
"""Bytes of streamed heads that may stay in the L2 cache while all tiles read them."""
_MOST_SIZE = 1 << 29


@dataclass(frozen=True)
class AttentionBackward:
    """Of O = P V, P = exp(scale Q K^T - lse): dK and dV, or with `of` "queries" dQ.

    dV = P^T dO, dS = P (dO V^T - delta), dQ = scale dS K, dK = scale dS^T Q; P and dS are rounded
    to `element`, bf16 or f16, before they are multiplied, sums are in f32.

    Pointers of the kernel: Q [batch, heads, rows, depth], K [batch, shared, keys, depth],
    V [batch, shared, keys, width], dO [batch, heads, rows, width], all of `element`; `lse` and
    `delta`, f32 [batch, heads, stored_rows], of which lse is in units of log 2, and +infinity and 0
    are behind `rows`. Results: dK and dV, or dQ, in the shapes of K, V and Q; and `workspace` bytes
    for tensor maps. `causal` hides keys behind a query's number.

    A block holds `consumers` x 64 keys (queries) with their K and V (Q and dO) in one of
    `held_stages`; 64 queries (keys) at a time, with their Q and dO (K and V), go through
    `stages` beside. `blocks` run over all such tiles.
    """

    batch: int
    heads: int
    shared: int
    rows: int
    keys: int
    depth: int
    width: int
    scale: float = 1.0
    element: str = "bf16"
    causal: bool = False
    of: str = "keys"
    consumers: int = 2
    held_stages: int = 1
    stages: int = 4
    blocks: int = 132

    @property
    def is_of_keys(self) -> bool:
        return self.of == "keys"

    @property
    def stored_rows(self) -> int:
        return -(-self.rows // PADDED) * PADDED

    @property
    def group(self) -> int:
        """Heads of Q that share one of K and V."""
        return self.heads // self.shared

    @property
    def all_heads(self) -> int:
        return self.batch * self.heads

    @property
    def held_heads(self) -> int:
        """Those of what a block holds."""
        return self.batch * (self.shared if self.is_of_keys else self.heads)

    @property
    def tile_depth(self) -> int:
        """Columns of dQ and dK in a tile, as `wgmma` has them."""
        return _tile(self.depth)

    @property
    def tile_width(self) -> int:
        return _tile(self.width)

    @property
    def held(self) -> int:
        """Rows that a block holds."""
        return ROWS * self.consumers

    @property
    def held_size(self) -> int:
        return self.keys if self.is_of_keys else self.rows

    @property
    def streamed_size(self) -> int:
        return self.rows if self.is_of_keys else self.keys

    @property
    def held_tiles(self) -> int:
        return -(-self.held_size // self.held)

    @property
    def streamed_tiles(self) -> int:
        return -(-self.streamed_size // COLUMNS)

    @property
    def threads(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    @property
    def head_group(self) -> int:
        """Held heads whose tiles come one after the other, so that streamed ones stay in L2."""
        each = self.streamed_size * 2 * (self.depth + self.width)
        each *= self.group if self.is_of_keys else 1
        return min(self.held_heads, max(1, _CACHED // each))

    @property
    def grid(self) -> int:
        return min(self.blocks, self.held_tiles * self.held_heads)

    @property
    def held_ring(self) -> Ring:
        size = self.held * 2 * (self.tile_depth + self.tile_width)
        return Ring(self.held_stages, size, self.consumers, maps=2)

    @property
    def streamed_ring(self) -> Ring:
        statistics = _STATISTICS if self.is_of_keys else 0
        size = COLUMNS * 2 * (self.tile_depth + self.tile_width) + statistics
        return Ring(self.stages, size, self.consumers, maps=2)

    @property
    def rings(self) -> tuple[Ring, Ring]:
        return self.held_ring, self.streamed_ring

    @property
    def shared_bytes(self) -> int:
        """A launch's own memory is where the kernel declares that it is: at a multiple of 1024."""
        return sum(each.bytes for each in self.rings)

    @property
    def maps(self) -> int:
        """Tensors that TMA loads: Q, K, V, dO."""
        return sum(each.maps for each in self.rings)

    @property
    def workspace(self) -> int:
        """Bytes: a tensor map of each operand for each block."""
        return self.maps * MAP * self.grid

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        what = f"no gradients of an attention of {self.rows}x{self.depth} by {self.keys} keys"
        sizes = (self.batch, self.heads, self.shared, self.rows, self.keys, self.depth, self.width)
        if not all(0 < size < _MOST_SIZE for size in sizes) or self.heads % self.shared:
            raise Fp8Error(f"{what}: sizes are from 1 to 2^29, heads a multiple of those of K")
        if self.element not in ELEMENTS:
            raise Fp8Error(f"{what}: {self.element} is none of {', '.join(ELEMENTS)}")
        if max(self.depth, self.width) > 128:
            raise Fp8Error(f"{what}: heads of more than 128 numbers take too many registers")
        if self.depth % 8 or self.width % 8:
            raise Fp8Error(f"{what}: heads are no multiple of 8 numbers, as strides of TMA are")
        if self.of not in ("keys", "queries"):
            raise Fp8Error(f"{what}: they are of keys or queries, not of {self.of}")
        tiles = self.held_tiles * self.held_heads * self.group
        if max(tiles, self.all_heads * self.stored_rows) >= _MOST_SIZE:
            raise Fp8Error(f"{what}: {self.all_heads} heads have too many rows")
        if self.consumers not in (1, 2) or self.blocks < 1:
            raise Fp8Error(f"{what}: 1 or 2 warpgroups multiply")
        if self.stages < 2 or self.held_stages < 1:
            raise Fp8Error(f"{what}: 2 stages or more are streamed, 1 or more held")
        if self.shared_bytes > MOST_SHARED:
            raise Fp8Error(
                f"{what}: {self.stages} stages take {self.shared_bytes} bytes of shared memory, "
                f"a block has {MOST_SHARED}"
            )


def _tile(size: int) -> int:
    return HALF if size <= HALF else 2 * HALF
