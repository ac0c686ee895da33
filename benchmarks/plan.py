"""What a run is asked to measure."""

import os
from dataclasses import dataclass, field


def all_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Plan:
    """The options of a run, as suites need them."""

    threads: tuple[int, ...] = (1,)
    """How many threads contenders get: each has a turn per number."""
    peers: frozenset[str] = frozenset()
    """Which peers are asked, by the names in `benchmarks.peers`."""
    quick: bool = False
    """Tiny sizes, to see that everything works."""
    growth: bool = False
    """How time grows with size, instead of the usual sizes."""
    seconds: float = 0.25
    """Of rounds per contender, within the rounds that a case allows."""
    rounds: int | None = None
    """Exactly so many rounds, instead."""
    slow: set[tuple[str, str, str, int]] = field(default_factory=set)
    """Suite, case, contender and threads too slow for a larger size; filled on the way."""
