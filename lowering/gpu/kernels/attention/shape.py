"""What an attention is: sizes, formats, which keys a query sees; and which of these a card runs."""

from dataclasses import dataclass

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.product.shape import (
    FORMATS,
    MAP,
    MOST_SHARED,
    RESULTS,
    ROWS,
    SPAN,
    WARPGROUP,
)

KEYS = SPAN
"""Of a tile: a row of the transpose of V is what the swizzle repeats after."""
BLIND = ("nan", "zero", "mean")
_GROUP = 16
"""Keys whose order in a tile is another, so that scores are where the second product wants them."""
_CACHED = 24 << 20
"""Bytes of K and V that may stay in the L2 cache while all rows read them."""
_MOST_SIZE = 1 << 29


@dataclass(frozen=True)
class Ring:
    """Stages of one operand, as a pipeline is told of them."""

    stages: int
    stage_bytes: int
    consumers: int
    cluster: int = 1
    maps: int = 1

    @property
    def bytes(self) -> int:
        """Stages, maps and barriers, up to the next multiple of 1024."""
        whole = self.stages * (self.stage_bytes + 16) + self.maps * MAP
        return -(-whole // 1024) * 1024


@dataclass(frozen=True)
class Attention:
    """O = out_factor * P V / sum(e), e = 2^(score_factor Q K^T - m), P = e to f8: see `softmax`.

    Pointers of the kernel: Q [batch, heads, rows, depth], K [batch, shared, stored_keys, depth],
    the transpose of V [batch, shared, width, stored_keys], all f8 codes; `score_factor` and
    `out_factor`, f32 [batch, heads], of which the first has log2(e) in it; with `offsets` so many
    i32, one for all or one for each of the batch: the positions of first queries. Results: O
    [batch, heads, rows, width] of `result`, with `lse` f32 [batch, heads, rows], and `workspace`
    bytes for tensor maps. Keys beyond
    `keys` are never seen.

    `causal` hides keys behind a query's position, `window` those so far before it, 0 none. A query
    that sees none is NaN, 0, or the mean of all keys (`blind`: nan, zero, mean).

    A block has `consumers` x 64 queries at a time, whose scores on 128 keys are in registers;
    `stages` tiles of K and of V are in shared memory. `blocks` run over all such tiles.
    """

    batch: int
    heads: int
    shared: int
    rows: int
    keys: int
    depth: int
    width: int
    q_format: str = "f8E4M3FN"
    k_format: str = "f8E4M3FN"
    v_format: str = "f8E4M3FN"
    p_format: str = "f8E4M3FN"
    result: str = "bf16"
    causal: bool = False
    window: int = 0
    offsets: int = 0
    blind: str = "nan"
    lse: bool = False
    """Whether the kernel gives log(sum(exp(scores))) too."""
    row_step: int = 1
    """How far apart the positions of rows are: 0 where all are heads of one query."""
    consumers: int = 2
    stages: int = 4
    blocks: int = 132

    @property
    def stored_keys(self) -> int:
        return -(-self.keys // _GROUP) * _GROUP

    @property
    def tile_rows(self) -> int:
        return ROWS * self.consumers

    @property
    def tile_width(self) -> int:
        """Rows of the transpose of V in a tile, columns of a result: as `wgmma` has them."""
        return 64 if self.width <= 64 else 128

    @property
    def threads(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    @property
    def row_tiles(self) -> int:
        return -(-self.rows // self.tile_rows)

    @property
    def key_tiles(self) -> int:
        return -(-self.keys // KEYS)

    @property
    def all_heads(self) -> int:
        return self.batch * self.heads

    @property
    def head_group(self) -> int:
        """Heads whose rows come one after the other, so that K and V stay in the L2 cache."""
        each = max(1, self.heads // self.shared)
        fitting = max(1, _CACHED // (self.stored_keys * (self.depth + self.width)))
        return min(self.all_heads, fitting * each)

    @property
    def grid(self) -> int:
        return min(self.blocks, self.row_tiles * self.all_heads)

    @property
    def q_ring(self) -> Ring:
        return Ring(2, self.tile_rows * SPAN, self.consumers)

    @property
    def k_ring(self) -> Ring:
        return Ring(self.stages, KEYS * SPAN, self.consumers)

    @property
    def v_ring(self) -> Ring:
        return Ring(self.stages, self.tile_width * SPAN, self.consumers)

    @property
    def rings(self) -> tuple[Ring, Ring, Ring]:
        return self.q_ring, self.k_ring, self.v_ring

    @property
    def shared_bytes(self) -> int:
        """A launch's own memory is where the kernel declares that it is: at a multiple of 1024."""
        return sum(each.bytes for each in self.rings)

    @property
    def workspace(self) -> int:
        """Bytes: a tensor map of each operand for each block."""
        return len(self.rings) * MAP * self.grid

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        what = f"no attention of {self.rows}x{self.depth} by {self.keys} keys"
        sizes = (self.batch, self.heads, self.shared, self.rows, self.keys, self.depth, self.width)
        if not all(0 < size < _MOST_SIZE for size in sizes) or self.heads % self.shared:
            raise Fp8Error(f"{what}: sizes are from 1 to 2^29, heads a multiple of those of K")
        for each in (self.q_format, self.k_format, self.v_format, self.p_format):
            if each not in FORMATS:
                raise Fp8Error(f"{what}: {each} is none of {', '.join(FORMATS)}")
        if self.result not in ELEMENTS:
            raise Fp8Error(f"{what}: a result of {self.result} is none of {', '.join(ELEMENTS)}")
        if self.depth > SPAN or self.width > 128:
            raise Fp8Error(f"{what}: heads of more than 128 numbers take too many registers")
        if self.depth % 16:
            raise Fp8Error(f"{what}: heads of Q and K are no multiple of 16, as strides of TMA are")
        self._check_positions(what)
        if self.row_tiles * self.all_heads >= _MOST_SIZE:
            raise Fp8Error(f"{what}: {self.all_heads} heads have too many tiles of rows")
        if self.consumers not in (1, 2) or self.blocks < 1 or self.stages < 2:
            raise Fp8Error(f"{what}: 1 or 2 warpgroups multiply, with 2 stages or more")
        if self.shared_bytes > MOST_SHARED:
            raise Fp8Error(
                f"{what}: {self.stages} stages take {self.shared_bytes} bytes of shared memory, "
                f"a block has {MOST_SHARED}"
            )

    def _check_positions(self, what: str) -> None:
        if not 0 <= self.window < _MOST_SIZE:
            raise Fp8Error(f"{what}: a window of {self.window} is not from 0 to 2^29")
        if self.offsets not in (0, 1, self.batch):
            raise Fp8Error(f"{what}: {self.offsets} offsets for a batch of {self.batch}")
        if self.row_step not in (0, 1):
            raise Fp8Error(f"{what}: positions of rows are 0 or 1 apart, not {self.row_step}")
        if self.blind not in BLIND:
            raise Fp8Error(f"{what}: queries without keys are one of {', '.join(BLIND)}")
        if self.lse and self.blind == "mean":
            raise Fp8Error(f"{what}: no lse is known of queries that get the mean of all keys")

    @property
    def result_bytes(self) -> int:
        return self.all_heads * self.rows * self.width * RESULTS[self.result]
