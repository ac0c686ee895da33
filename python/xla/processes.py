"""A sharded module on several processes of this machine, by `jax.distributed` over the loopback.

Each has its share of the devices of the CPU; collectives between them go by Gloo. This process only
starts them and waits: where one dies, the others would wait for it, and are ended.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.npz import load_arrays, save_arrays
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.xla.options import XlaOptions
from mlir_fp8.xla.process_worker import ARGUMENTS, MODULE, PLAN, REFUSAL, RESULTS

_COMMAND = ["-P", "-m", "mlir_fp8.xla.process_worker"]
_OFTEN = 0.05


def run_in_processes(
    source: tuple[bytes, str],
    arrays: Sequence[np.ndarray],
    options: XlaOptions,
    mesh: object,
    *,
    devices: int,
    processes: int,
    seconds: float = 600.0,
) -> tuple[np.ndarray, ...]:
    """The results of the module in `source`, of `devices` in all, as `ShardedModule` gives them.

    Raises `Fp8Error` in one line where a process dies, refuses the module, or `seconds` are over.
    """
    if devices % processes:
        raise Fp8Error(f"{devices} devices cannot be shared by {processes} processes evenly")
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as name:
        folder = Path(name)
        (folder / MODULE).write_bytes(source[0])
        save_arrays(folder / ARGUMENTS, arrays)
        plan = {
            "name": source[1],
            "mesh": mesh,
            "devices": devices // processes,
            "processes": processes,
            "address": f"127.0.0.1:{_free_port()}",
            "options": asdict(options),
        }
        (folder / PLAN).write_text(json.dumps(plan))
        running = [_started(folder, number) for number in range(processes)]
        try:
            _wait(running, folder, time.monotonic() + seconds)
        finally:
            for process in running:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
        return load_arrays(folder / RESULTS)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _started(folder: Path, number: int) -> "subprocess.Popen[bytes]":
    path = os.pathsep.join(entry or "." for entry in sys.path)
    environment = os.environ | {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu"}
    with (folder / f"log{number}").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, *_COMMAND, str(folder), str(number)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _wait(running: Sequence["subprocess.Popen[bytes]"], folder: Path, deadline: float) -> None:
    while None in (statuses := [process.poll() for process in running]):
        if any(statuses):
            break
        if time.monotonic() > deadline:
            raise Fp8Error(f"{len(running)} processes did not finish in time")
        time.sleep(_OFTEN)
    failed = [(number, each.returncode) for number, each in enumerate(running) if each.returncode]
    if failed:  # a signal is the cause, and what others say of it the consequence
        number, status = min(failed, key=lambda each: each[1] > 0)
        raise Fp8Error(_reason(folder, number, len(running), status))


def _reason(folder: Path, number: int, count: int, status: int) -> str:
    refusal = folder / f"{REFUSAL}{number}"
    if status > 0 and refusal.exists():
        return refusal.read_text()
    what = f"process {number} of {count}" if count > 1 else "XLA's process"
    if status < 0:
        return f"{what} died of {signal.Signals(-status).name}, and the run with it"
    said = (folder / f"log{number}").read_text(errors="replace").strip().splitlines()
    return f"{what} ended with status {status}: {said[-1] if said else 'it said nothing'}"
