"""Compilers of StableHLO text: ours, XLA:CPU and IREE, in one form."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import OURS, Check, Contender, refusing
from benchmarks.plan import Plan


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


def ours(threads: int) -> Engine:
    """mlir-fp8, compiling anew each time."""
    import mlir_fp8

    return Engine(
        OURS,
        threads,
        lambda text: mlir_fp8.compile(text, threads=threads, cache=False),
        lambda compiled, arrays: Program(lambda: compiled(*arrays), list),
    )


def engines(plan: Plan) -> Iterator[Engine]:
    """Ours, then peers, each for every number of threads."""
    for threads in plan.threads:
        yield ours(threads)
    if "xla" in plan.peers:
        from benchmarks.peers import xla_cpu

        yield from map(xla_cpu.engine, plan.threads)
    if "iree" in plan.peers:
        from benchmarks.peers import iree_cpu

        yield from map(iree_cpu.engine, plan.threads)
