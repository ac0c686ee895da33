"""IREE: its llvm-cpu code for this processor, run by its own threads or, for one, without any."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.engine import Engine, Program
from benchmarks.peers import module


def engine(threads: int) -> Engine:
    """IREE's compiler of StableHLO text."""
    return Engine(
        "IREE",
        threads,
        compile_,
        lambda code, arrays: _bound(code, arrays, _device(threads)),
        is_strict=False,  # it rounds sums in bf16
    )


def compile_(text: str) -> bytes:
    """A module of IREE's virtual machine. Raises RuntimeError with the first error."""
    compiler = module("iree.compiler")
    options = {"target_backends": ["llvm-cpu"], "input_type": "stablehlo"}
    try:
        return compiler.compile_str(text, extra_args=["--iree-llvmcpu-target-cpu=host"], **options)
    except compiler.CompilerToolError as error:
        errors = [line for line in str(error).splitlines() if "error: " in line]
        reason = errors[0].partition("error: ")[2] if errors else "its compiler fails"
        raise RuntimeError(reason) from None


@functools.cache
def _device(threads: int) -> Any:
    """One device per number of threads: flags are read when a driver is made."""
    runtime = module("iree.runtime")
    if threads == 1:
        return runtime.get_device("local-sync")
    runtime.flags.parse_flags(f"--task_topology_group_count={threads}")
    # Not `get_driver`, which gives the one that was made first.
    driver = module("iree.runtime._binding").create_hal_driver("local-task")
    return driver.create_default_device()


def _bound(code: bytes, arrays: Sequence[np.ndarray], device: Any) -> Program:
    runtime = module("iree.runtime")
    context = runtime.SystemContext(config=runtime.Config(device=device))
    loaded = runtime.VmModule.copy_buffer(context.instance, code)
    context.add_vm_module(loaded)
    function = context.modules[loaded.name]["main"]
    arguments = [runtime.asdevicearray(device, array) for array in arrays]

    def results(found: Any) -> list[np.ndarray]:
        several = found if isinstance(found, list | tuple) else [found]
        return [np.asarray(each.to_host()) for each in several]

    return Program(lambda: function(*arguments), results)
