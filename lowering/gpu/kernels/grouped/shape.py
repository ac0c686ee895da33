"""What a grouped product is: one product's tiles and steps, and what belongs to groups."""

import dataclasses
from collections.abc import Sequence

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, Epilogue, Product

RAGGED = ("rows", "sums")
_MOST_ROWS = 1 << 31


@dataclasses.dataclass(frozen=True)
class Grouped:
    """Products of `groups` parts of what is ragged, by their sizes, one after the other.

    "rows": D[i] = epilogue(A[i] B[g]^T) for the rows i of the group g. A is [m, k], B
    [groups, n, k], D [m, n]. The sums of rows behind the last group are 0.

    With `b_turned` B is [n, groups, k], K a multiple of what a stage has of it.

    "sums": D[g] = epilogue(A[:, part] B[:, part]^T) for the part of K that the group g has. A is
    [m, k], B [n, k], D [groups, m, n]. The sums of empty groups are 0.

    Pointers of the kernel: A, B, the groups' sizes (i32), a_scale and b_scale where there are such;
    results: D, and `workspace` bytes for tensor maps. A size counts as 0 where it is negative, and
    as what is left of all rows, or of K, where it is more.

    Of the epilogue of `product` there are scales and types. A "column" scale has, where rows are
    ragged, `groups` x n numbers. `of_groups` ("a", "b") names operands with a scale for each group
    in the place of the epilogue's; it is 0 for rows of no group.
    """

    product: Product
    groups: int
    ragged: str = "rows"
    of_groups: Sequence[str] = ()
    b_turned: bool = False

    @property
    def has_ragged_rows(self) -> bool:
        return self.ragged == "rows"

    @property
    def size(self) -> int:
        """Of what is ragged."""
        return self.product.m if self.has_ragged_rows else self.product.k

    @property
    def tile_rows(self) -> int:
        """Of a cluster."""
        return self.product.tile_m * self.product.cluster

    @property
    def grid(self) -> int:
        """Blocks that may have work: where rows are ragged, each group may begin one more tile."""
        shape = self.product
        if self.has_ragged_rows:
            most = (shape.m // self.tile_rows + self.groups + 1) * shape.tiles_n
        else:
            most = self.groups * shape.tiles_m * shape.tiles_n
        return shape.cluster * min(shape.blocks // shape.cluster, most)

    @property
    def maps(self) -> int:
        """Pairs of tensor maps of a block: parts of K end where their maps do."""
        return 1 if self.has_ragged_rows else self.groups

    @property
    def workspace(self) -> int:
        return 2 * MAP * self.maps * self.grid

    def check(self) -> None:
        """Refuse what cannot run, before it is launched."""
        self.product.check()
        what = f"no product of {self.groups} groups"
        if self.ragged not in RAGGED:
            raise Fp8Error(f"{what} of {self.ragged}: one of {', '.join(RAGGED)}")
        if self.groups < 1 or self.groups * self.product.n >= _MOST_ROWS:
            raise Fp8Error(f"{what} of {self.product.n} columns: 1 to 2^31 - 1 of all groups")
        if self.b_turned and (not self.has_ragged_rows or self.product.k % self.product.tile_k):
            raise Fp8Error(f"{what} whose B is turned, and K no multiple of {self.product.tile_k}")
        steps = self.product.epilogue
        for side in self.of_groups:
            if side not in ("a", "b"):
                raise Fp8Error(f"{what} with scales of {side}: of a or b")
            if getattr(steps, f"{side}_scale"):
                raise Fp8Error(f"{what} with two scales of {side}: of groups, or others")
        scales = Epilogue(steps.a_scale, steps.b_scale, steps.dot_type, steps.type)
        if dataclasses.replace(scales, result=steps.result) != steps:
            raise Fp8Error(f"{what} with an epilogue: there are scales and types")
