"""What a product is: sizes, formats, tiles; and which of these a card runs."""

from dataclasses import dataclass, field

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.blocks import SPAN, Blocks
from mlir_fp8.lowering.gpu.kernels.product.epilogue_steps import ACTIVATIONS as ACTIVATIONS
from mlir_fp8.lowering.gpu.kernels.product.epilogue_steps import RESULTS as RESULTS
from mlir_fp8.lowering.gpu.kernels.product.epilogue_steps import Epilogue as Epilogue

FORMATS = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""By the names of PTX."""
ROWS = 64
"""Of a warpgroup's `wgmma`."""
WARPGROUP = 128
MAP = 128
"""Bytes of a tensor map."""
MOST_SHARED = 227 * 1024
_MOST_SIZE = 1 << 31


@dataclass(frozen=True)
class Product:
    """D[m, n] = epilogue(A[m, k] B[n, k]^T), row-major; A and B f8 codes, D of `epilogue.result`.

    Pointers of the kernel: A, B, then those that the epilogue has of a_scale, b_scale, bias,
    d_scale, and an i32 for amax; results: D, with `transposed` its transpose, with `amax` the same
    i32 (the bits of an f32), and `workspace` bytes for tensor maps.

    A block has `tile_m` x `tile_n` of D at a time, a warpgroup 64 rows of it; `stages` tiles of
    `tile_k` bytes of K are in shared memory. `blocks` run over all tiles, `group` tiles of rows
    before the next column, so that what they share stays in the L2 cache. Blocks of a `cluster` of
    2 are one below the other, and each loads half of the tile of B, for both.

    `exact_sums`: the tensor core adds FP8 products with about 14 bits; so after each `tile_k` its
    sums go to sums in f32 (DeepSeek-V3 Technical Report, arXiv:2412.19437, 3.3.2).
    `a_blocks` and `b_blocks`, which take the place of the epilogue's scales, multiply what goes.

    With a `gate` in the epilogue D is made of two products of A: by B, the gate, and by what is
    `up`: "apart", another matrix behind B and another scale behind b_scale; or "below", rows N to
    2N of B, with a scale of all of B. Half of `tile_n` are columns of each.

    Where D has few tiles, `split` blocks share the sums of each, see split.py.

    Of several `batches` each matrix, and each scale that is no tensor's, has its own, one behind
    the other.
    """

    m: int
    n: int
    k: int
    a_format: str = "f8E4M3FN"
    b_format: str = "f8E4M3FN"
    epilogue: Epilogue = field(default_factory=Epilogue)
    tile_m: int = 128
    tile_n: int = 256
    tile_k: int = SPAN
    stages: int = 4
    cluster: int = 1
    blocks: int = 132
    group: int = 8
    exact_sums: bool = False
    a_blocks: Blocks | None = None
    b_blocks: Blocks | None = None
    up: str = ""
    batches: int = 1
    split: int = 1

    @property
    def consumers(self) -> int:
        """Warpgroups that multiply; one more loads."""
        return self.tile_m // ROWS

    @property
    def threads(self) -> int:
        return WARPGROUP * (1 + self.consumers)

    @property
    def steps(self) -> int:
        """Tiles along K."""
        return -(-self.k // self.tile_k)

    @property
    def parts(self) -> int:
        """Of a tile along K, whose sums are scaled one by one."""
        blocks = [each.k for each in (self.a_blocks, self.b_blocks) if each is not None]
        return self.tile_k // min([self.tile_k, *blocks])

    @property
    def tiles_m(self) -> int:
        """Of a cluster each: tiles of rows."""
        return -(-self.m // (self.tile_m * self.cluster))

    @property
    def tile_columns(self) -> int:
        """Of D in a tile."""
        return self.tile_n // 2 if self.up else self.tile_n

    @property
    def share_columns(self) -> int:
        """Of a tile that a block finishes: of those that share its sums each has some."""
        return self.tile_columns // self.split

    @property
    def tiles_n(self) -> int:
        return -(-self.n // self.tile_columns)

    @property
    def a_rows(self) -> int:
        """Of all batches."""
        return self.batches * self.m

    @property
    def b_rows(self) -> int:
        return self.n * (2 if self.up == "below" else self.batches)

    @property
    def b_pieces(self) -> int:
        """Boxes of a tile of B: one for each block of a cluster, or of two products."""
        return 2 if self.up else self.cluster

    @property
    def maps(self) -> int:
        """Matrices that TMA loads."""
        return 3 if self.up == "apart" else 2

    @property
    def grid(self) -> int:
        """Blocks that have work."""
        tiles = self.batches * self.tiles_m * self.tiles_n
        return self.together * min(self.blocks // self.together, tiles)

    @property
    def together(self) -> int:
        """Blocks that a launch has in a cluster."""
        return self.cluster * self.split

    @property
    def a_bytes(self) -> int:
        return self.tile_m * self.tile_k

    @property
    def stage_bytes(self) -> int:
        return (self.tile_m + self.tile_n) * self.tile_k

    @property
    def shared_bytes(self) -> int:
        """Stages from a multiple of 1024 on, tensor maps, two barriers of each stage; sums."""
        shared_sums = 16 + 4 * self.tile_m * self.tile_n if self.split > 1 else 0
        return 1024 + self.stages * (self.stage_bytes + 16) + self.maps * MAP + shared_sums

    @property
    def workspace(self) -> int:
        """Bytes: the tensor maps of each block."""
        return self.maps * MAP * self.grid

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        self.epilogue.check()
        what = f"no product of {self.m}x{self.k} by {self.n}x{self.k}"
        for each in (self.a_format, self.b_format):
            if each not in FORMATS:
                raise Fp8Error(f"{what}: {each} is none of {', '.join(FORMATS)}")
        sizes = (self.m, self.n, self.k, self.a_rows, self.b_rows)
        if not all(0 < size < _MOST_SIZE for size in sizes):
            raise Fp8Error(f"{what}: sizes are from 1 to 2^31 - 1")
        if self.k % 16:
            raise Fp8Error(f"{what}: K is no multiple of 16, as the strides of TMA's tensors are")
        self._check_blocks(what)
        if self.batches > 1 and (self.up or self.epilogue.transposed):
            raise Fp8Error(f"{what}: batches have no gate and no transposed result")
        if self.up not in ("", "apart", "below") or bool(self.up) != bool(self.epilogue.gate):
            raise Fp8Error(f"{what}: a gate and what it multiplies, apart or below, go together")
        self._check_tiles(f"{what} in tiles of {self.tile_m}x{self.tile_n}x{self.tile_k}")

    def _check_split(self, what: str) -> None:
        if self.split == 1:
            return
        least = 64 if RESULTS[self.epilogue.result] == 1 else 32
        if self.split not in (2, 4, 8) or self.tile_n % (least * self.split):
            raise Fp8Error(f"{what}: no {self.split} blocks with {least} columns or more each")
        if self.up or self.cluster > 1 or self.blocks < self.split or self.steps < self.split:
            raise Fp8Error(
                f"{what}: {self.split} blocks share sums over {self.split} tiles of K or more, "
                "without a gate, and no tiles of B"
            )

    def _check_blocks(self, what: str) -> None:
        for side, blocks in (("a", self.a_blocks), ("b", self.b_blocks)):
            if blocks is None:
                continue
            if not self.exact_sums or self.up or getattr(self.epilogue, f"{side}_scale"):
                raise Fp8Error(
                    f"{what}: blocks scale exact sums, no gate, and are all of {side}'s scales"
                )
            size, rows = (self.m, self.a_rows) if side == "a" else (self.n, self.b_rows)
            if self.batches > 1 and blocks.rows < rows and size % blocks.rows:
                raise Fp8Error(f"{what}: {blocks.rows} rows of {side} are of more than one batch")
            blocks.check(what, self.b_rows if side == "b" else None, self.tile_n)

    def _check_tiles(self, what: str) -> None:
        if self.tile_m not in (64, 128) or self.tile_k != SPAN:
            raise Fp8Error(f"{what}: they are of 64 or 128 rows and {SPAN} bytes of K")
        if self.tile_n not in (64, 128, 192, 256):
            raise Fp8Error(f"{what}: they are of 64, 128, 192 or 256 columns")
        if self.up and self.tile_n not in (128, 256):
            raise Fp8Error(f"{what}: those of two products are of 128 or 256 columns")
        if self.exact_sums and self.tile_n > 128:
            raise Fp8Error(f"{what}: two sums of more than 128 columns are too many registers")
        if self.cluster not in (1, 2) or self.blocks < self.cluster or self.blocks % self.cluster:
            raise Fp8Error(f"{what}: no {self.blocks} blocks in clusters of {self.cluster}")
        self._check_split(what)
        if self.stages < 2 or self.group < 1:
            raise Fp8Error(f"{what}: {self.stages} stages and groups of {self.group} are too few")
        if self.shared_bytes > MOST_SHARED:
            raise Fp8Error(
                f"{what}: {self.stages} stages take {self.shared_bytes} bytes of shared memory, "
                f"a block has {MOST_SHARED}"
            )
