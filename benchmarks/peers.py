"""What the benchmarks compare with, where it is installed."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

Execute = Callable[[Sequence[Any]], list[Any]]
"""Runs a program on arrays of jax, and gives its results as such."""


def optional(name: str) -> Any:
    """The module `name`, or None. Not by statement: type checkers ask for what those import."""
    try:
        return import_module(name)
    except ImportError:
        return None


def xla_cpu() -> Callable[[str], Execute] | None:
    """XLA:CPU's compiler of StableHLO text; None without jax. XLA_FLAGS are read at the first."""
    if optional("jax") is None:
        return None
    client: Any = import_module("jax.extend.backend").get_backend("cpu")
    jaxlib: Any = import_module("jaxlib._jax")
    devices = jaxlib.DeviceList(tuple(client.local_devices()[:1]))

    def compile_(text: str) -> Execute:
        executable = client.compile_and_load(text, devices, jaxlib.CompileOptions())

        def execute(arrays: Sequence[Any]) -> list[Any]:
            results = executable.execute_sharded(list(arrays))
            return [part[0] for part in results.disassemble_into_single_device_arrays()]

        return execute

    return compile_
