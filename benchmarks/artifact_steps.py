"""One step with a large artifact: `python -m benchmarks.artifact_steps STEP FILE MIB`.

Prints "begin", waits for a line, does the step, prints its seconds and, where what was read or
written is right, "checked".
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.artifacts.portable import artifact_version
from mlir_fp8.base.context import make_context

CONSTANTS = 16
MIB = 1 << 20


def main() -> None:
    """Do the step that the command line names."""
    name, file, size = sys.argv[1:]
    if STEPS[name](Path(file), int(size)):
        print("checked")


def step(work: Callable[[], Any]) -> Any:
    """Time `work` when the measuring process is ready."""
    print("begin", flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    result = work()
    print(time.perf_counter() - started, flush=True)
    return result


def write(file: Path, size: int) -> bool:
    module = build(size)
    step(lambda: file.write_bytes(mlir_fp8.serialize(module)))
    return artifact_version(file.read_bytes()[:64]) is not None


def read(file: Path, size: int) -> bool:
    module = step(lambda: mlir_fp8.load(file))
    # Attributes are unique in a context: equal values are the same object.
    constants = list(module.body.operations[0].regions[0].blocks[0].operations)[:-1]
    with module.context:
        return len(constants) == CONSTANTS and all(
            operation.attributes["value"] == weights(index, size)
            for index, operation in enumerate(constants)
        )


def inspect(file: Path, size: int) -> bool:
    tool = [sys.executable, "-m", "mlir_fp8.tools.translate", "--inspect", str(file)]
    shown = step(lambda: subprocess.run(tool, capture_output=True, text=True, check=True))
    version = artifact_version(file.read_bytes()[:64])
    return version is not None and version in shown.stdout


def copy(file: Path, size: int) -> bool:
    other = file.with_suffix(".copy")
    step(lambda: shutil.copyfile(file, other))
    is_same = other.stat().st_size == file.stat().st_size
    other.unlink()
    return is_same


STEPS: dict[str, Callable[[Path, int], bool]] = {
    "write": write,
    "read": read,
    "inspect": inspect,
    "copy": copy,
}


def build(size: int) -> ir.Module:
    """A function that holds `size` MiB of constants."""
    context = make_context()
    with context, ir.Location.unknown():
        module = ir.Module.parse("func.func @main() { return }", context)
        block = module.body.operations[0].regions[0].blocks[0]
        place = ir.InsertionPoint(block.operations[0])
        for index in range(CONSTANTS):
            value = weights(index, size)
            ir.Operation.create(
                "stablehlo.constant", results=[value.type], attributes={"value": value}, ip=place
            )
    return module


def weights(index: int, size: int) -> ir.DenseElementsAttr:
    """The values of one constant, in the current context."""
    element = ("bf16", "f8E4M3FN", "f8E5M2")[index % 3]
    codes = np.random.default_rng(index).bytes(size * MIB // CONSTANTS)
    array: Any = np.frombuffer(codes, np.int16 if element == "bf16" else np.int8)
    return ir.DenseElementsAttr.get(array, type=ir.Type.parse(element))


if __name__ == "__main__":
    main()
