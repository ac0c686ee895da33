"""Two iteration orders over the same elements of a buffer: the strides of one in the other."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.vector_code.expression import Leaf


@dataclass(frozen=True)
class SameElements:
    """For each dimension of an op, innermost first: the other op's dimensions that it walks.

    Each of these comes with its step and its trip count.
    """

    pieces: tuple[tuple[tuple[int, int, int], ...], ...]

    def leaf(self, leaf: Leaf) -> Leaf | None:
        """The other op's `leaf` in this op's dimensions; None where it is not strided."""
        strides = []
        for pieces in self.pieces:
            steps = [(leaf.strides[dimension] * step, count) for dimension, step, count in pieces]
            if any(b != a * count for (a, count), (b, _) in itertools.pairwise(steps)):
                return None
            strides.append(steps[0][0] if steps else 0)
        return Leaf(leaf.buffer, tuple(strides), leaf.offset)


def same_elements(
    mine: Leaf, sizes: Sequence[int], other: Leaf, other_sizes: Sequence[int]
) -> SameElements | None:
    """The relation of two leaves of one buffer; None unless both visit every element once."""
    if mine.offset != other.offset:
        return None
    pieces: list[list[tuple[int, int, int]]] = [[] for _ in sizes]
    left, right = _from_inside(mine, sizes), _from_inside(other, other_sizes)
    if any(stride == 0 for stride, *_ in [*left, *right]):
        return None
    while left and right:
        (stride, size, _, d), (other_stride, other_size, step, e) = left.pop(), right.pop()
        count = min(size, other_size)
        if stride != other_stride or size % count or other_size % count:
            return None
        pieces[d].append((e, step, count))
        if size > count:
            left.append((stride * count, size // count, 0, d))
        if other_size > count:
            right.append((other_stride * count, other_size // count, step * count, e))
    if left or right:
        return None
    return SameElements(tuple(map(tuple, pieces)))


def _from_inside(leaf: Leaf, sizes: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Stride, size, step and number of each dimension, by descending strides."""
    found = [
        (stride, size, 1, d)
        for d, (stride, size) in enumerate(zip(leaf.strides, sizes, strict=True))
        if size > 1
    ]
    return sorted(found, reverse=True)
