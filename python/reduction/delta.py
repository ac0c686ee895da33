"""Delta debugging: the smallest part of a list for which something still holds."""

from collections.abc import Callable, Sequence
from itertools import pairwise


def minimized(
    items: Sequence[int],
    holds: Callable[[tuple[int, ...]], bool],
    most_pieces: int | None = None,
) -> tuple[int, ...]:
    """A part of `items`, for all of which `holds`, that holds and from which no item can go.

    With `most_pieces` no chunk can go of that many, which takes fewer trials.

    Zeller and Hildebrandt's ddmin, "Simplifying and Isolating Failure-Inducing Input", IEEE
    Transactions on Software Engineering 28 (2002): ever smaller chunks, each alone, then without.
    """
    tried: dict[tuple[int, ...], bool] = {}

    def tries(part: tuple[int, ...]) -> bool:
        if part not in tried:
            tried[part] = bool(part) and holds(part)
        return tried[part]

    left = tuple(items)
    pieces = 2
    while len(left) > 1:
        chunks = _chunks(left, pieces)
        rests = [tuple(each for each in left if each not in chunk) for chunk in chunks]
        if found := next(filter(tries, chunks), None):
            left, pieces = found, 2
        elif found := next(filter(tries, rests), None):
            left, pieces = found, max(pieces - 1, 2)
        elif pieces >= min(len(left), most_pieces or len(left)):
            break
        else:
            pieces = min(2 * pieces, len(left))
    return left


def _chunks(items: tuple[int, ...], pieces: int) -> list[tuple[int, ...]]:
    bounds = [len(items) * piece // pieces for piece in range(pieces + 1)]
    return [items[start:stop] for start, stop in pairwise(bounds)]
