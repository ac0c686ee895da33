"""XLA:CPU, on as many threads as it is told.

XLA's number of threads is fixed when its client is made: its thread pool has one per core
(`--xla_cpu_multi_thread_eigen=false` and `intra_op_parallelism_threads=1` in XLA_FLAGS change
nothing of that). So each number of threads has a client of its own, made and compiled with while
the process may use so many cores; its threads may then run on all.
"""

import contextlib
import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.engine import Engine, Program
from benchmarks.peers import module
from benchmarks.plan import all_cores

# Rounding where the module says so, as ours does. XLA reads its flags once.
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # else it says that it has one device


def engine(threads: int) -> Engine:
    """XLA:CPU's compiler of StableHLO text."""
    return Engine(
        "XLA:CPU",
        threads,
        lambda text: compile_(text, threads),
        lambda executable, arrays: _bound(executable, arrays, threads),
    )


def compile_(text: str, threads: int) -> Any:
    """A loaded executable."""
    jaxlib, client = module("jaxlib._jax"), _client(threads)
    devices = jaxlib.DeviceList(tuple(client.local_devices()[:1]))
    with _cores(threads):
        return client.compile_and_load(text, devices, jaxlib.CompileOptions())


def placed(arrays: Sequence[np.ndarray], threads: int) -> list[Any]:
    """`arrays` on the device, without a copy where they are aligned."""
    jax, (device, *_) = module("jax"), _client(threads).local_devices()
    return [jax.block_until_ready(jax.device_put(array, device)) for array in arrays]


def _bound(executable: Any, arrays: Sequence[np.ndarray], threads: int) -> Program:
    arguments = placed(arrays, threads)

    def run() -> list[Any]:
        results = executable.execute_sharded(arguments)
        parts = results.disassemble_into_single_device_arrays()
        return [part[0].block_until_ready() for part in parts]

    return Program(run, lambda results: [np.asarray(result) for result in results])


@functools.cache
def _client(threads: int) -> Any:
    jax = module("jax")
    jax.config.update("jax_enable_x64", True)  # else f32 is made of f64
    with _cores(threads):
        return module("jaxlib.xla_client").make_cpu_client()


@contextlib.contextmanager
def _cores(threads: int) -> Iterator[None]:
    """While this lasts the process may use so many cores; threads that it starts then, all."""
    if threads == all_cores():
        yield
        return
    if not hasattr(os, "sched_setaffinity"):
        raise RuntimeError("its threads can be limited on Linux only")
    cores, before = os.sched_getaffinity(0), _threads()
    os.sched_setaffinity(0, sorted(cores)[:threads])
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for thread in _threads() - before:
            with contextlib.suppress(OSError):  # it has ended
                os.sched_setaffinity(thread, cores)


def _threads() -> set[int]:
    return {int(folder.name) for folder in Path("/proc/self/task").iterdir()}
