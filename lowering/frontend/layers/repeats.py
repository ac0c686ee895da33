"""Repeats in a sequence of keys: parts that follow each other and are equal.

A period shows as the distance between equal runs of keys, which hashes find in one pass; whether
the keys repeat at that distance is one comparison of the sequence with itself, shifted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

_RUNS = (8, 32)
"""The lengths of runs of keys that are looked for."""
_PERIODS = 32
"""The most periods that are tried."""


@dataclass(frozen=True)
class Repeat:
    """Keys `start` to `end`, exclusive, that repeat with `period`, twice or more."""

    start: int
    end: int
    period: int

    @property
    def saved(self) -> int:
        """The keys that are left out if each part is there once."""
        return ((self.end - self.start) // self.period - 1) * self.period


def longest_repeat(keys: np.ndarray, least: int) -> Repeat | None:
    """The repeat that saves most keys, of a period of `least` or more.

    The period is the shortest one, or that many times that it is no less than `least`. `keys` are
    integers; time is in proportion to them, but for a sort.
    """
    periods = (_multiple(period, least) for period in _periods(keys, least))
    found = (repeat for period in periods for repeat in _repeats(keys, period))
    return max(found, key=lambda each: (each.saved, -each.period, -each.start), default=None)


def _multiple(period: int, least: int) -> int:
    return -(-least // period) * period if period < least else period


def _repeats(keys: np.ndarray, period: int) -> Iterator[Repeat]:
    if period >= len(keys):
        return
    edges = np.diff((keys[:-period] == keys[period:]).astype(np.int8), prepend=0, append=0)
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if end - start >= period:
            yield Repeat(start, end + period, period)


def _periods(keys: np.ndarray, least: int) -> list[int]:
    """The commonest distances between a run of keys and the next one equal to it."""
    found: dict[int, int] = {}
    for length in {min(length, least) for length in _RUNS}:
        if len(keys) <= length:
            continue
        hashes = _hashes(keys, length)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        gaps = np.diff(order)[ordered[1:] == ordered[:-1]]
        distances, counts = np.unique(gaps, return_counts=True)
        for distance, count in zip(distances.tolist(), counts.tolist(), strict=True):
            found[distance] = max(found.get(distance, 0), count)
    return sorted(found, key=lambda distance: -found[distance])[:_PERIODS]


def _hashes(keys: np.ndarray, length: int) -> np.ndarray:
    """Of each run of `length` keys."""
    mixed = (keys.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    count = len(keys) - length + 1
    hashes = np.zeros(count, np.uint64)
    for place in range(length):
        hashes = hashes * np.uint64(0xBF58476D1CE4E5B9) + mixed[place : place + count]
    return hashes
