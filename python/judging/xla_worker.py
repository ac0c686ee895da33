"""The process that runs modules in XLA, on the CPU or a GPU, fed by `xla_judge`.

`python -m mlir_fp8.judging.xla_worker` starts it. A line of standard input asks for a run:
`[seconds, folder, device]`. The folder holds a portable artifact, its arguments and the types of
its results; it gets the results or a one-line refusal, then a line of standard output answers. The
process ends when its standard input does.
"""

import contextlib
import json
import os
import queue
import shutil
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mlir_fp8.arrays.npz import load_arrays, save_arrays
from mlir_fp8.arrays.tensor_specs import TensorSpec, element_name
from mlir_fp8.xla.devices import find_device
from mlir_fp8.xla.exported import artifact_call
from mlir_fp8.xla.failures import reason_of

ARTIFACT, ARGUMENTS, SPECS = "module.mlirbc", "in.npz", "results.json"
RESULTS, REFUSAL = "out.npz", "refusal"
# By default XLA keeps f32 where a module rounds to bf16 or f8 and back.
_STRICT = {"xla_allow_excess_precision": False}


def main() -> None:
    """Serve until standard input ends."""
    # Ctrl-C in a terminal is for the process that asks; its end is ours.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    # A thread of its own sees the end of the asking process while XLA compiles.
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever libraries print is for the log
    while True:
        seconds, folder, device = json.loads(requests.get())
        # Should XLA hold Python's lock, that thread sees nothing.
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
        _serve(Path(folder), device)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(answers, b"\n")


def _listen(requests: queue.SimpleQueue[str]) -> None:
    folder: str | None = None
    with contextlib.suppress(OSError):
        for line in sys.stdin:
            requests.put(line)
            folder = json.loads(line)[1]
    if folder is not None:
        # Killed while it waited, the asking process could not.
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _serve(folder: Path, device: str) -> None:
    try:
        specs = [
            TensorSpec(tuple(shape), element)
            for shape, element in json.loads((folder / SPECS).read_text())
        ]
        artifact = (folder / ARTIFACT).read_bytes()
        arrays = load_arrays(folder / ARGUMENTS)
        save_arrays(folder / RESULTS, _execute(artifact, arrays, specs, device))
    except Exception as error:  # jax and XLA raise whatever they please
        (folder / REFUSAL).write_text(f"XLA: {reason_of(error, device)}")


def _execute(
    artifact: bytes, arrays: Sequence[np.ndarray], specs: Sequence[TensorSpec], device: str
) -> list[np.ndarray]:
    # Not by statement: a type checker would ask for what is not everywhere installed.
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)  # else f32 is made of f64
    place = find_device(device)
    given = [TensorSpec(each.shape, element_name(each.dtype) or "") for each in arrays]
    call = artifact_call(artifact, given, specs)
    try:
        only = jax.sharding.SingleDeviceSharding(place)
        jitted = jax.jit(call, compiler_options=_STRICT, out_shardings=only)
        return [np.asarray(result) for result in jitted(*arrays)]
    finally:
        jax.clear_caches()  # no module comes twice, and thousands may come


if __name__ == "__main__":
    main()
