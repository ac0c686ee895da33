"""Run a module in XLA, on the CPU or a GPU, through jax, in a process of its own.

XLA aborts on some modules, logs to stderr, and reads its flags once, when it starts: so a worker
(`xla_worker`) imports jax, never the caller. It is started for the first module and stays, since
jax takes a second to import; there is one for the CPU and one for GPUs. Both sides meet in a
folder.
"""

import atexit
import contextlib
import fcntl
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mlir_fp8.arrays.npz import load_arrays, save_arrays
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.judging import xla_worker
from mlir_fp8.xla.devices import check_device_name

if TYPE_CHECKING:
    from torch_mlir import ir

PATIENCE = 300.0
"""Seconds after which a judge in a process of its own is given up."""

_COMMAND = ["-P", "-m", "mlir_fp8.judging.xla_worker"]
_FATAL = re.compile(r"^F\d{4} .*?\] (.*)$", re.MULTILINE)
# How long a worker that closed its end of the pipe may take to be gone.
_LAST_BREATH = 10.0


def run_in_xla(
    module: "ir.Module",
    arrays: Sequence[np.ndarray],
    entry: str,
    *,
    device: str = "cpu",
    seconds: float = PATIENCE,
) -> tuple[np.ndarray, ...]:
    """The results of `entry` on `arrays`, computed by XLA on `device` without excess precision.

    Raises `Fp8Error` where jax or the device is missing, XLA refuses the module or `seconds` are
    not enough. The module itself is left as it is. Calls from several threads take turns.
    """
    check_device_name(device)
    if find_spec("jax") is None:
        raise Fp8Error("jax is not installed: install mlir-fp8[xla]")
    from mlir_fp8.simulation.grid import several_devices

    grid = several_devices(module)
    if grid is not None:
        return _on_devices(module, arrays, entry, device, grid[0] * grid[1], seconds)
    from mlir_fp8.judging.quantized_types import in_integers
    from mlir_fp8.xla.making import artifact_of

    artifact, specs = artifact_of(in_integers(module), entry)
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as name:
        folder = Path(name)
        (folder / xla_worker.ARTIFACT).write_bytes(artifact)
        described = [(spec.shape, spec.element) for spec in specs]
        (folder / xla_worker.SPECS).write_text(json.dumps(described))
        save_arrays(folder / xla_worker.ARGUMENTS, arrays)
        _WORKERS[device.partition(":")[0]].run(folder, device, seconds)
        refusal = folder / xla_worker.REFUSAL
        if refusal.exists():
            raise Fp8Error(refusal.read_text())
        return load_arrays(folder / xla_worker.RESULTS)


def _on_devices(
    module: "ir.Module",
    arrays: Sequence[np.ndarray],
    entry: str,
    device: str,
    count: int,
    seconds: float,
) -> tuple[np.ndarray, ...]:
    """As `run_in_xla`, on several devices of the CPU, in a process that has as many."""
    if device != "cpu":
        raise Fp8Error(f"the module is for {count} devices: that judge is on the CPU alone")
    from mlir_fp8.compiling.execution import bytecode
    from mlir_fp8.xla.options import XlaOptions
    from mlir_fp8.xla.processes import run_in_processes

    source = bytecode(module), "<module>"
    options = XlaOptions(entry=entry)
    return run_in_processes(
        source, arrays, options, count, devices=count, processes=1, seconds=seconds
    )


class _Worker:
    """A process that XLA lives in: started when first asked, again after it died."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = -1

    def run(self, folder: Path, device: str, seconds: float) -> None:
        """Let the worker fill `folder`; an `Fp8Error` where it dies or `seconds` are not enough."""
        with self._lock:
            deadline = time.monotonic() + seconds
            try:
                process = self._started()
                os.ftruncate(self._log, 0)
                answer = _ask(process, json.dumps([seconds, str(folder), device]), deadline)
            except BaseException:
                self.end()  # else its answer would be taken for that of the next question
                raise
            if answer is None:
                self.end()
                raise Fp8Error(f"XLA did not finish in {seconds:g} s")
            if not answer:
                raise Fp8Error(self._last_words(process))

    def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with process:
            process.wait()
        os.close(self._log)

    def forget(self) -> None:
        """In a forked child: the process, and the lock that a thread may hold, are the parent's."""
        self._lock = threading.Lock()
        process, self._process = self._process, None
        if process is None:
            return
        # The worker ends when nobody holds the other end of its input any more.
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        os.close(self._log)
        process.returncode = 0  # nothing to wait for, and no warning that it still runs

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            path = os.pathsep.join(entry or "." for entry in sys.path)
            # Without a name, so that nothing is left of it however this process ends.
            with tempfile.TemporaryFile() as log:
                self._log = os.dup(log.fileno())
            # Appending, so that the log can be cut while the worker has it open.
            flags = fcntl.fcntl(self._log, fcntl.F_GETFL)
            fcntl.fcntl(self._log, fcntl.F_SETFL, flags | os.O_APPEND)
            self._process = subprocess.Popen(
                [sys.executable, *_COMMAND],
                env=os.environ | {**self._environment, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
            )
        return self._process

    def _last_words(self, process: "subprocess.Popen[bytes]") -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_BREATH)
        log = os.pread(self._log, os.fstat(self._log).st_size, 0).decode(errors="replace")
        self.end()
        fatal = _FATAL.search(log)
        status = process.returncode
        if fatal:
            return f"XLA aborted: {fatal[1].strip()}"
        if status < 0:
            return f"XLA died of {signal.Signals(-status).name}"
        last = (log.strip() or "it said nothing").splitlines()[-1]
        return f"XLA ended with status {status}: {last}"


def _ask(process: "subprocess.Popen[bytes]", question: str, deadline: float) -> bytes | None:
    """What the worker answers: nothing where it died, None where it does not by `deadline`."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(f"{question}\n".encode())
    poll = select.poll()
    poll.register(process.stdout, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        return None
    return os.read(process.stdout.fileno(), 1)


# A worker on a GPU takes what memory it needs, not three quarters of it.
_WORKERS = {
    "cpu": _Worker({"JAX_PLATFORMS": "cpu"}),
    "gpu": _Worker({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
}


def _end_workers() -> None:
    for worker in _WORKERS.values():
        worker.end()


def _forget_workers() -> None:
    for worker in _WORKERS.values():
        worker.forget()


atexit.register(_end_workers)
os.register_at_fork(after_in_child=_forget_workers)
