"""Layouts of a weight's scales: how many elements along each dimension share one.

A layout gives a block size for each dimension: element `i` along it has the scale `i / block`, and
a block of 0 is the whole dimension. The last block may be smaller.
"""

from collections.abc import Collection, Sequence

from mlir_fp8.base.errors import Fp8Error

Blocks = tuple[int, ...]

_GROUPS = {"group32": 32, "group64": 64, "group128": 128}
LAYOUTS = ("tensor", "channel", "block", *_GROUPS)
_SQUARE = 128
_OF_RECIPE = "blocks"
"""What the name of a layout begins with that a recipe has, and no caller gives."""


def check_layout(name: str) -> None:
    """Refuse what is no name of a layout."""
    if name not in LAYOUTS:
        raise Fp8Error(f"'{name}' is no layout of scales: it is one of {', '.join(LAYOUTS)}")


def blocks_of(
    name: str, rank: int, summed: Collection[int], repeated: Collection[int] = ()
) -> Blocks:
    """The blocks of a weight of which a product contracts `summed`: others are channels.

    `repeated` are those that it batches over, as experts.
    """
    channels = [dim for dim in range(rank) if dim not in (*summed, *repeated)]
    if name == "tensor":
        return (0,) * rank
    blocks = [0 if dim in summed else 1 for dim in range(rank)]
    if name != "channel" and summed:
        # Of several contracted dimensions the last is the one that is stored next to itself.
        for dim in summed:
            blocks[dim] = 1
        blocks[max(summed)] = _GROUPS.get(name) or _of_recipe(name) or _SQUARE
    if name == "block" and channels:
        blocks[channels[-1]] = _SQUARE
    return tuple(blocks)


def recipe_layout(block: int) -> str:
    """The layout of a recipe with so many elements in a block, along what is summed."""
    return f"{_OF_RECIPE}{block}"


def _of_recipe(name: str) -> int:
    is_one = name.startswith(_OF_RECIPE)
    return int(name.removeprefix(_OF_RECIPE)) if is_one else 0


def table_blocks(name: str, rank: int) -> Blocks:
    """The blocks of a table whose rows, along dimension 0, are looked up: one scale for each.

    Of the layout of a recipe, blocks run along the last dimension.
    """
    if (block := _of_recipe(name)) and rank > 1:
        return (*([1] * (rank - 1)), block)
    return blocks_of("tensor" if name == "tensor" else "channel", rank, range(1, rank))


def scale_shape(shape: Sequence[int], blocks: Blocks) -> list[int]:
    """The shape of the scale: rank 0 where one block is all there is."""
    if not any(blocks):
        return []
    return [-(-size // block) if block else 1 for size, block in zip(shape, blocks, strict=True)]


def divides(shape: Sequence[int], blocks: Blocks) -> bool:
    """Whether all blocks are whole, as the ops of the `fp8` dialect have them.

    One block along a dimension that it exceeds is that dimension.
    """
    pairs = zip(shape, blocks, strict=True)
    return all(not block or size <= block or size % block == 0 for size, block in pairs)
