"""Where the choices of a random program come from: a seed, or hypothesis, which can shrink them."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    """What a program is made from."""

    def one_of(self, items: Sequence[T]) -> T:
        """One of `items`; the first is the simplest."""
        ...

    def integer(self, least: int, most: int) -> int:
        """A number from `least` to `most`, both included."""
        ...

    def permutation(self, count: int) -> list[int]:
        """The numbers below `count` in any order."""
        ...


class Seeded:
    """The same choices for the same seed, on every version of everything."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def one_of(self, items: Sequence[T]) -> T:
        return items[self._random.randrange(len(items))]

    def integer(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def permutation(self, count: int) -> list[int]:
        numbers = list(range(count))
        self._random.shuffle(numbers)
        return numbers


class Drawn:
    """Choices of hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw

    def one_of(self, items: Sequence[T]) -> T:
        return self._draw(st.sampled_from(items))

    def integer(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def permutation(self, count: int) -> list[int]:
        return self._draw(st.permutations(range(count)))
