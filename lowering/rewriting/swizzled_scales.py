"""Scales of blocks out of the tiles that Blackwell's kernels read, as StableHLO text."""

from collections.abc import Callable, Sequence

TILE = (128, 4)
"""Rows and blocks of scales that lie together (cuBLAS, "1D Block Scaling Factors Layout")."""
_INSIDE = (32, 4, 4)
"""Rows modulo 32, rows over 32, blocks."""

Let = Callable[[str], str]
"""From the text of an op to the name of its result."""


def whole_tiles(counts: Sequence[int]) -> list[int]:
    """Rows and blocks of whole tiles."""
    return [count + -count % size for count, size in zip(counts, TILE, strict=True)]


def unswizzled(let: Let, name: str, type_: str, element: str, counts: Sequence[int]) -> str:
    """The scales `[rows, blocks]` of the value `name`, of as many elements as whole tiles have."""
    whole = whole_tiles(counts)
    tiles = [whole[0] // TILE[0], whole[1] // TILE[1]]
    apart = tensor([*tiles, *_INSIDE], element)
    together = tensor([tiles[0], 4, 32, tiles[1], 4], element)
    value = let(f"stablehlo.reshape {name} : ({type_}) -> {apart}")
    value = let(f"stablehlo.transpose {value}, dims = [0, 3, 2, 1, 4] : ({apart}) -> {together}")
    value = let(f"stablehlo.reshape {value} : ({together}) -> {tensor(whole, element)}")
    return cut(let, value, element, whole, counts)


def cut(let: Let, name: str, element: str, whole: Sequence[int], counts: Sequence[int]) -> str:
    """The first rows and columns of a matrix."""
    if list(whole) == list(counts):
        return name
    types = f"({tensor(whole, element)}) -> {tensor(counts, element)}"
    return let(f"stablehlo.slice {name} [0:{counts[0]}, 0:{counts[1]}] : {types}")


def spread(let: Let, name: str, element: str, counts: Sequence[int], blocks: Sequence[int]) -> str:
    """A matrix of scales, one for each of `blocks` elements, as f32 numbers for each element."""
    wide = tensor(counts, "f32")
    if element != "f32":
        name = let(f"stablehlo.convert {name} : ({tensor(counts, element)}) -> {wide}")
    parts = tensor([counts[0], blocks[0], counts[1], blocks[1]], "f32")
    sizes = [count * block for count, block in zip(counts, blocks, strict=True)]
    made = let(f"stablehlo.broadcast_in_dim {name}, dims = [0, 2] : ({wide}) -> {parts}")
    return let(f"stablehlo.reshape {made} : ({parts}) -> {tensor(sizes, 'f32')}")


def tensor(sizes: Sequence[int], element: str) -> str:
    """The text of a type."""
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
