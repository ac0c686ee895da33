"""What compilers of StableHLO text have in common."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Check, Contender, refusing


class Program(NamedTuple):
    """A compiled module with its arguments in place."""

    run: Callable[[], Any]
    results: Callable[[Any], list[np.ndarray]]
    """Those of what `run` returned, which ends when they are computed."""


@dataclass(frozen=True)
class Engine:
    """What compiles StableHLO text and runs it."""

    name: str
    threads: int
    compile: Callable[[str], Any]
    bind: Callable[[Any, Sequence[np.ndarray]], Program]
    is_strict: bool = True
    """Whether it rounds where the module says so, and sums in f32."""

    def contender(self, text: str, arrays: Sequence[np.ndarray], check: Check) -> Contender:
        """One that runs `text` on `arrays`; `check` takes the results."""
        try:
            program = self.bind(_executable(self.compile, text), arrays)
        except Exception as error:  # peers raise whatever they please
            return refusing(self.name, self.threads, error)
        return Contender(
            self.name, program.run, lambda found: check(program.results(found)), self.threads
        )


@functools.lru_cache(maxsize=1)
def _executable(compile_: Callable[[str], Any], text: str) -> Any:
    """IREE's code is the same on all numbers of threads, and takes long."""
    return compile_(text)
