"""What a product of few rows is, and how a card's blocks, warps and threads share it."""

from dataclasses import dataclass, field

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS, common_piece
from mlir_fp8.lowering.gpu.kernels.product.shape import FORMATS, MOST_SHARED, Epilogue
from mlir_fp8.lowering.gpu.kernels.text import WARP

MOST_ROWS = 64
STEP = 64
"""Elements of K that a warp multiplies at a time: 16 bytes of codes from each of four threads."""
TILE = 16
"""Columns of a warp's `mma`."""
GROUP = 8
"""Rows of one."""
LOAD = 16
"""Bytes."""
_PAD = 16
"""Bytes that a row of activations is apart from a multiple of all banks of shared memory."""
_MOST_SIZE = 1 << 31
_MOST_SUMS = 128
_MOST_THREADS = 1024
_SPLITS = (1, 2, 4, 8)
_WIDE_TILES = (2, 4, 8)


@dataclass(frozen=True)
class FewRows:
    """D[rows, n] = epilogue(A[rows, k] B[n, k]^T), row-major, 1 to 64 rows; B is f8 codes.

    B is [n, k] in memory, or without `k_major` [k, n], of which a thread has 2 `tiles` columns side
    by side.
    A is f8 codes of either format, f16, bf16 or f32. Pointers of the kernel: A, B, then those that
    the epilogue has of a_scale, b_scale and bias; the result: D. `Epilogue` says what its steps
    are; here without `amax`, `d_scale` and f8 results.

    All products are exact: f8 is exact in f16 and in bf16, and an f32 of A is the sum of three bf16
    numbers (but for bits below 2^-133). Tensor cores add them in f32, truncating; of `terms` in a
    warp, 16 at a time, the error is below (18 terms / 16 + along split) 2^-23 sum |a b|, where
    terms are k / (along split), three times that of an f32 A. Partial sums are added in a fixed
    order: the result is the same whenever it is computed.

    A warp has `tiles` of 16 columns; a block `across` warps side by side and `along` along K; the
    `split` blocks of a cluster divide K further. A thread has `stages` steps of 64 elements of K in
    flight, two loads of 16 bytes for each tile, or 16 of 2 `tiles` bytes; A is brought into shared
    memory for `steps` of them at a time. `blocks` are to fit on a multiprocessor.
    """

    rows: int
    n: int
    k: int
    a_type: str = "bf16"
    b_format: str = "f8E4M3FN"
    epilogue: Epilogue = field(default_factory=Epilogue)
    tiles: int = 1
    across: int = 1
    along: int = 8
    split: int = 1
    stages: int = 8
    steps: int = 2
    blocks: int = 0
    k_major: bool = True
    prefetch: int = 128
    """Bytes that a load brings into the L2 cache; 0: those it needs."""

    @property
    def threads(self) -> int:
        return WARP * self.across * self.along

    @property
    def columns(self) -> int:
        """Of a block."""
        return TILE * self.tiles * self.across

    @property
    def groups(self) -> int:
        """Of eight rows."""
        return -(-self.rows // GROUP)

    @property
    def loads(self) -> int:
        """Of a thread's step."""
        return 2 * self.tiles if self.k_major else LOAD

    @property
    def load_bytes(self) -> int:
        return LOAD if self.k_major else 2 * self.tiles

    @property
    def parts(self) -> int:
        """Narrower numbers that one of A is the sum of."""
        return 3 if self.a_type == "f32" else 1

    @property
    def multiplied(self) -> str:
        """What both operands are as they are multiplied: either has all f8."""
        return "bf16" if self.a_type in ("bf16", "f32") else "f16"

    @property
    def chunk(self) -> int:
        """Elements of K between two barriers of a block."""
        return STEP * self.steps * self.along

    @property
    def chunks(self) -> int:
        """Of a block."""
        return -(-self.k // (self.chunk * self.split))

    @property
    def piece(self) -> int:
        """The bytes of a load that are surely of one row."""
        return common_piece(self.k if self.k_major else self.n, self.load_bytes)

    @property
    def is_async(self) -> bool:
        """Whether loads are aligned, as copies into shared memory have to be."""
        return self.piece == self.load_bytes

    @property
    def stage_bytes(self) -> int:
        return self.load_bytes * self.loads * self.threads

    @property
    def row_bytes(self) -> int:
        """Of a row of one part of A, in shared memory."""
        return 2 * self.chunk + _PAD

    @property
    def part_bytes(self) -> int:
        return self.rows * self.row_bytes

    @property
    def buffer_bytes(self) -> int:
        """All parts of A; there are two such buffers."""
        return self.parts * self.part_bytes

    @property
    def partial_bytes(self) -> int:
        """Sums of all warps of a block, which come in the place of everything else."""
        return 4 * self.along * self.rows * self.columns

    @property
    def shared_bytes(self) -> int:
        return max(self.stages * self.stage_bytes + 2 * self.buffer_bytes, self.partial_bytes)

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        self.epilogue.check()
        what = f"no product of {self.rows} rows of {self.k} by {self.n}x{self.k}"
        if self.b_format not in FORMATS:
            raise Fp8Error(f"{what}: weights of {self.b_format}, not {' or '.join(FORMATS)}")
        if self.a_type not in (*FORMATS, *ELEMENTS):
            listed = ", ".join((*FORMATS, *ELEMENTS))
            raise Fp8Error(f"{what}: activations of {self.a_type}, none of {listed}")
        if not 1 <= self.rows <= MOST_ROWS:
            raise Fp8Error(f"{what}: there are from 1 to {MOST_ROWS} rows")
        if not all(0 < size < _MOST_SIZE for size in (self.n, self.k)):
            raise Fp8Error(f"{what}: sizes are from 1 to 2^31 - 1")
        steps = self.epilogue
        if steps.amax or steps.d_scale or steps.result not in ELEMENTS:
            raise Fp8Error(f"{what}: its result is not of {', '.join(ELEMENTS)} without a scale")
        self._check_shares(what)

    def _check_shares(self, what: str) -> None:
        counts = (self.tiles, self.across, self.along, self.steps, self.stages)
        if min(counts) < 1 or self.blocks < 0 or self.threads > _MOST_THREADS:
            raise Fp8Error(f"{what}: no block of {self.across} x {self.along} warps")
        if self.split not in _SPLITS:
            raise Fp8Error(f"{what}: K is divided among {_SPLITS} blocks, not {self.split}")
        if self.stages < 2 or self.stages % self.steps:
            raise Fp8Error(f"{what}: {self.stages} stages are no multiple of {self.steps} steps")
        if not self.k_major and self.tiles not in _WIDE_TILES:
            raise Fp8Error(f"{what}: of weights [k, n] a warp has {_WIDE_TILES} tiles")
        if self.prefetch not in (0, 128, 256):
            raise Fp8Error(f"{what}: a load brings 128 or 256 bytes, not {self.prefetch}")
        sums = 4 * self.tiles * self.groups
        if sums > _MOST_SUMS:
            raise Fp8Error(f"{what}: {sums} sums of a thread are more than {_MOST_SUMS}")
        if self.shared_bytes > MOST_SHARED:
            raise Fp8Error(
                f"{what}: it takes {self.shared_bytes} bytes of shared memory, a block has "
                f"{MOST_SHARED}"
            )
