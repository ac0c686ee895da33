"""The compilers of StableHLO text that are measured: ours, XLA:CPU and IREE."""

from collections.abc import Iterator

from benchmarks.cases import OURS
from benchmarks.engine import Engine, Program
from benchmarks.plan import Plan


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
