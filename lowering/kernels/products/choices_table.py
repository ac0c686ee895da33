"""The table of kernels: which one a product gets, and its block sizes, by processor and shape.

The first row that fits is taken (`choices.py`). `python -m benchmarks tune` measures rows for the
processor at hand; a file of such rows (`choices_file.py`) goes before the table.
"""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

IN_PLACE, IN_PLACE_TILES, PACKED = "in-place", "in-place-tiles", "packed"
KERNELS = (IN_PLACE, IN_PLACE_TILES, PACKED)
"""The right operand is read once, as it lies, by all rows: by vector registers, or, bytes that are
contiguous along the sum, by tiles of AMX where these are whole; or both operands are packed."""
LAYOUTS = ("nk", "kn", "panels", "other")
"""The right operand is contiguous along the sum; along the columns, as the result is; in panels of
the register tile, which are packed; neither."""
OPERANDS = ("f32", "bf16", "fours", "codes", "i16", "i8", "i8-same")
"""What is multiplied: `packed_form.UNITS`; i8-same are bytes that are both signed or both not."""
MOST = 1 << 62


@dataclass(frozen=True)
class Choice:
    """Products that by patterns of `fnmatch` and bounds, and what they get."""

    targets: str = "*"
    operands: str = "*"
    layout: str = "*"
    most_rows: int = MOST
    """Rows of the left operand, m."""
    least_right: int = 0
    """Elements of the right operand, n * k."""
    kernel: str = PACKED
    tile: tuple[int, int] | None = None
    """Rows and vectors of a register tile; else the target's. AMX's and Arm's are what they are."""
    depth: int | None = None
    """Elements of the sum in a packed block; else the target's."""
    cached_bytes: int = 1 << 19
    """Of a packed block of either side: two and the results stay in the L2 cache."""
    block_rows: int = 192
    block_columns: int = 512
    """Of a block of results, which stays there until the epilogue has it."""
    least_columns: int = 1
    """Columns that a left block is loaded for at least."""
    item_rows: int = 128
    """Rows for which columns are packed again by another thread."""


# Packing columns again costs more where multiplying costs less.
_TILES = Choice("amx-*", least_columns=128, item_rows=512)
TABLE = (
    # Few rows wait for memory, whatever multiplies them.
    Choice("amx-*", "bf16", "nk", most_rows=4, kernel=IN_PLACE),
    Choice("amx-*", "bf16", "kn", most_rows=4, kernel=IN_PLACE),
    replace(_TILES, operands="bf16", depth=1024),
    Choice("amx-*", "i8*", "nk", most_rows=4, kernel=IN_PLACE),
    Choice("amx-*", "i8*", "nk", most_rows=16, kernel=IN_PLACE_TILES),
    Choice("*", "i[18]*", "nk", most_rows=16, kernel=IN_PLACE),
    Choice("amx-*", "i8*", "kn", most_rows=8, kernel=IN_PLACE),
    replace(_TILES, operands="i8*", depth=2048),
    Choice("*", "i[18]*", "kn", most_rows=12, kernel=IN_PLACE),
    # `vpdpbusd` takes off sums of columns, which are a row more of the tile.
    Choice("avx512-*", "i8-same", tile=(5, 4), depth=2048),
    Choice("avx2-vnni", "i8-same", tile=(4, 2), depth=2048),
    Choice("*", "i8*", depth=2048),
    Choice("*", "i16", depth=1024),
    # Most rows where the right operand does not stay in a cache.
    Choice("*", "*", "nk", most_rows=32, least_right=1 << 18, kernel=IN_PLACE),
    Choice("*", "*", "nk", most_rows=12, kernel=IN_PLACE),
    Choice("*", "*", "kn", most_rows=8, kernel=IN_PLACE),
    Choice(),
)


def packed_row(target: str, operands: str) -> Choice:
    """The row of products whose both operands are packed, for the name of a target."""
    row = next(
        row
        for row in TABLE
        if row.kernel == PACKED
        and fnmatchcase(target, row.targets)
        and fnmatchcase(operands, row.operands)
    )
    return replace(row, targets=target, operands=operands)
