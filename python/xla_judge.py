"""Run a module in XLA's CPU backend, through jax, in a process of its own.

XLA aborts on modules that it takes for impossible, logs to stderr, and reads its flags once, when
it starts: so it is `python -m mlir_fp8.xla_judge FOLDER` that imports jax, never the caller. Both
sides meet in files of FOLDER.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlir_fp8.arrays import restored, stored
from mlir_fp8.errors import Fp8Error

if TYPE_CHECKING:
    from torch_mlir import ir

PATIENCE = 300.0
"""Seconds after which a judge in a process of its own is given up."""

_ARTIFACT, _ARGUMENTS, _RESULTS, _REFUSAL = "module.mlirbc", "in.npz", "out.npz", "refusal"
# By default XLA keeps f32 where a module rounds to bf16 or f8 and back.
_STRICT = "--xla_allow_excess_precision=false"
_FATAL = re.compile(r"^F\d{4} .*?\] (.*)$", re.MULTILINE)


def run_in_xla(
    module: "ir.Module", arrays: Sequence[np.ndarray], entry: str, *, seconds: float = PATIENCE
) -> tuple[np.ndarray, ...]:
    """The results of `entry` on `arrays`, computed by XLA:CPU without excess precision.

    Raises `Fp8Error` where jax is not installed, XLA refuses the module or `seconds` are not
    enough. The module itself is left as it is.
    """
    if find_spec("jax") is None:
        raise Fp8Error("jax is not installed: install mlir-fp8[xla]")
    artifact = _artifact(module, entry)
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as name:
        folder = Path(name)
        (folder / _ARTIFACT).write_bytes(artifact)
        _save(folder / _ARGUMENTS, arrays)
        _run_child(folder, seconds)
        return _load(folder / _RESULTS)


def _artifact(module: "ir.Module", entry: str) -> bytes:
    from mlir_fp8 import pipelines
    from mlir_fp8.artifacts.artifact import serialize
    from mlir_fp8.execution import copy_of, isolate_entry
    from mlir_fp8.interpreter.interpret import find_entry, make_main
    from mlir_fp8.passes.pass_pipeline import run_pipeline
    from mlir_fp8.reading.mhlo import bridge_version

    copy = copy_of(module)
    function = find_entry(copy, entry)
    if function is None:
        raise Fp8Error(f"there is no function '{entry}' to run")
    make_main(copy, function)
    with copy.context:
        isolate_entry(copy, function)
    # Functions that the entry does not call may be none for XLA.
    run_pipeline(copy, ["symbol-dce", *pipelines.to_stablehlo()])
    return serialize(copy, bridge_version())


def _run_child(folder: Path, seconds: float) -> None:
    flags = f"{os.environ.get('XLA_FLAGS', '')} {_STRICT}".strip()
    path = os.pathsep.join(entry or "." for entry in sys.path)
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mlir_fp8.xla_judge", str(folder)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Fp8Error(f"XLA did not finish in {seconds:g} s") from None
    if (folder / _REFUSAL).exists():
        raise Fp8Error((folder / _REFUSAL).read_text())
    if done.returncode:
        raise Fp8Error(_last_words(done.returncode, done.stdout.decode(errors="replace")))


def _last_words(status: int, log: str) -> str:
    fatal = _FATAL.search(log)
    if fatal:
        return f"XLA aborted: {fatal[1].strip()}"
    if status < 0:
        return f"XLA died of {signal.Signals(-status).name}"
    last = (log.strip() or "it said nothing").splitlines()[-1]
    return f"XLA ended with status {status}: {last}"


def _save(path: Path, arrays: Sequence[np.ndarray]) -> None:
    named = dict(stored(f"array{index}", array) for index, array in enumerate(arrays))
    np.savez(path, allow_pickle=False, **named)


def _load(path: Path) -> tuple[np.ndarray, ...]:
    with np.load(path, allow_pickle=False) as archive:
        return tuple(array for _, array in restored(archive))


def main(folder: Path) -> None:
    """The child's side: artifact and arguments in, results or a one-line refusal out."""
    try:
        results = _execute((folder / _ARTIFACT).read_bytes(), _load(folder / _ARGUMENTS))
    except Exception as error:  # jax and XLA raise whatever they please
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        (folder / _REFUSAL).write_text(f"XLA: {reason}")
        return
    _save(folder / _RESULTS, results)


def _execute(artifact: bytes, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    # Not by statement: a type checker would ask for what is not everywhere installed.
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)  # else device_put makes f32 of f64
    client: Any = import_module("jax.extend.backend").get_backend("cpu")
    jaxlib: Any = import_module("jaxlib._jax")
    devices = jaxlib.DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(artifact, devices, jaxlib.CompileOptions())
    results = executable.execute_sharded([jax.device_put(array) for array in arrays])
    return [np.asarray(part[0]) for part in results.disassemble_into_single_device_arrays()]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
