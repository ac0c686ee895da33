"""What a product is: sizes, formats, tiles, epilogue; and which of these a card runs."""

from dataclasses import dataclass, field

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.product.blocks import SPAN, Blocks

FORMATS = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
"""By the names of PTX."""
ROWS = 64
"""Of a warpgroup's `wgmma`."""
WARPGROUP = 128
MAP = 128
"""Bytes of a tensor map."""
MOST_SHARED = 227 * 1024
ACTIVATIONS = ("none", "relu", "gelu_tanh", "silu")
RESULTS = {"f32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "f8E5M2": 1}
"""Element types of D, with their bytes."""
_MOST_SIZE = 1 << 31


@dataclass(frozen=True)
class Epilogue:
    """What becomes of a sum, in the order of `fp8.scaled_dot`'s steps; each rounds as that says.

    The f32 sum times `a_scale` ("tensor", or "row": M numbers), then times `b_scale` ("tensor", or
    "column": N numbers), all f32; rounded to `dot_type`, from there in `type` (f32, bf16 or f16):
    times `alpha`; plus a bias of N numbers, of the type `bias`; `activation`; `amax` of these; by
    `d_scale`, f32 ("divide" or "multiply"); converted to `result`, saturated where that is an f8.
    Empty texts are steps that are left out.

    "gelu_tanh" in f32 is x * sigmoid(2 u), which x * (0.5 * (1 + tanh(u))) is: nearer to the real
    function below 0, where the sum cancels; both within 4e-7 |x|. "silu" is x * sigmoid(x). Both
    take the sigmoid from approximations in f32, which in bf16 and f16 may round the other way.
    """

    a_scale: str = ""
    b_scale: str = ""
    dot_type: str = "f32"
    type: str = "f32"
    alpha: float | None = None
    bias: str = ""
    activation: str = "none"
    amax: bool = False
    d_scale: str = ""
    result: str = "f32"
    transposed: bool = False
    """Whether the transpose of D, an f8, is stored too."""

    def check(self) -> None:
        """Refuse words that are none of these."""
        words = {
            "a_scale": ("", "tensor", "row"),
            "b_scale": ("", "tensor", "column"),
            "dot_type": tuple(ELEMENTS),
            "type": tuple(ELEMENTS),
            "bias": ("", *ELEMENTS),
            "activation": ACTIVATIONS,
            "d_scale": ("", "divide", "multiply"),
            "result": tuple(RESULTS),
        }
        for name, known in words.items():
            if getattr(self, name) not in known:
                listed = ", ".join(each for each in known if each)
                raise Fp8Error(f"no product with {name} '{getattr(self, name)}': one of {listed}")
        if self.transposed and RESULTS[self.result] != 1:
            raise Fp8Error(f"no product with a transposed result of {self.result}: an f8 has one")


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
    def tiles_m(self) -> int:
        """Of a cluster each: tiles of rows."""
        return -(-self.m // (self.tile_m * self.cluster))

    @property
    def tiles_n(self) -> int:
        return -(-self.n // self.tile_n)

    @property
    def grid(self) -> int:
        """Blocks that have work."""
        return self.cluster * min(self.blocks // self.cluster, self.tiles_m * self.tiles_n)

    @property
    def a_bytes(self) -> int:
        return self.tile_m * self.tile_k

    @property
    def stage_bytes(self) -> int:
        return (self.tile_m + self.tile_n) * self.tile_k

    @property
    def shared_bytes(self) -> int:
        """Stages from a multiple of 1024 on, two tensor maps, two barriers of each stage."""
        return 1024 + self.stages * self.stage_bytes + 2 * MAP + 16 * self.stages

    @property
    def workspace(self) -> int:
        """Bytes: two tensor maps of each block."""
        return 2 * MAP * self.grid

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        self.epilogue.check()
        what = f"no product of {self.m}x{self.k} by {self.n}x{self.k}"
        for each in (self.a_format, self.b_format):
            if each not in FORMATS:
                raise Fp8Error(f"{what}: {each} is none of {', '.join(FORMATS)}")
        if not all(0 < size < _MOST_SIZE for size in (self.m, self.n, self.k)):
            raise Fp8Error(f"{what}: sizes are from 1 to 2^31 - 1")
        if self.k % 16:
            raise Fp8Error(f"{what}: K is no multiple of 16, as the strides of TMA's tensors are")
        self._check_blocks(what)
        self._check_tiles(f"{what} in tiles of {self.tile_m}x{self.tile_n}x{self.tile_k}")

    def _check_blocks(self, what: str) -> None:
        for side, blocks in (("a", self.a_blocks), ("b", self.b_blocks)):
            if blocks is None:
                continue
            if not self.exact_sums or getattr(self.epilogue, f"{side}_scale"):
                raise Fp8Error(f"{what}: blocks scale exact sums, and are all of {side}'s scales")
            blocks.check(what, self.n if side == "b" else None, self.tile_n)

    def _check_tiles(self, what: str) -> None:
        if self.tile_m not in (64, 128) or self.tile_k != SPAN:
            raise Fp8Error(f"{what}: they are of 64 or 128 rows and {SPAN} bytes of K")
        if self.tile_n not in (64, 128, 192, 256):
            raise Fp8Error(f"{what}: they are of 64, 128, 192 or 256 columns")
        if self.exact_sums and self.tile_n > 128:
            raise Fp8Error(f"{what}: two sums of more than 128 columns are too many registers")
        if self.cluster not in (1, 2) or self.blocks < self.cluster or self.blocks % self.cluster:
            raise Fp8Error(f"{what}: no {self.blocks} blocks in clusters of {self.cluster}")
        if self.stages < 2 or self.group < 1:
            raise Fp8Error(f"{what}: {self.stages} stages and groups of {self.group} are too few")
        if self.shared_bytes > MOST_SHARED:
            raise Fp8Error(
                f"{what}: {self.stages} stages take {self.shared_bytes} bytes of shared memory, "
                f"a block has {MOST_SHARED}"
            )
