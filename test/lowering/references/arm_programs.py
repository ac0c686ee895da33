"""Programs for Arm, linked by a cross compiler and run by qemu's emulator of one process."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.compiling.entry import entry_function, signature
from mlir_fp8.tools import translate

TRIPLE = "aarch64-linux-gnu"
_COMPILER, _EMULATOR = f"{TRIPLE}-gcc", "qemu-aarch64"
needs_emulator = pytest.mark.skipif(
    not (shutil.which(_COMPILER) and shutil.which(_EMULATOR)),
    reason=f"needs {_COMPILER} and {_EMULATOR} (Debian's gcc-aarch64-linux-gnu and qemu-user)",
)


@dataclass(frozen=True)
class Processor:
    """What code is made for, and what qemu has."""

    mcpu: str
    emulated: str


PROCESSORS = [
    Processor("neoverse-v1", "max"),
    Processor("neoverse-n1", "neoverse-n1"),
    Processor("cortex-a57", "cortex-a57"),
]


def assembly(folder: Path, text: str, *options: str) -> str:
    (folder / "lib.mlir").write_text(text)
    out = folder / "lib.s"
    command = ["--emit=asm", str(folder / "lib.mlir"), "-o", str(out), f"--mtriple={TRIPLE}"]
    assert translate.main([*command, *options]) == 0
    return out.read_text()


def specs(text: str) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """The arguments and the results of @main."""
    module = mlir_fp8.load(text)
    with module.context:
        return signature(entry_function(module, "main"))


def linked(folder: Path, text: str, mcpu: str, threads: int = 1) -> Path:
    """A program that reads the arguments of @main and writes its results."""
    source, code, header = (folder / f"lib.{each}" for each in ("mlir", "o", "h"))
    source.write_text(text)
    command = ["--emit=obj", str(source), "-o", str(code), f"--c-header={header}"]
    command += [f"--mtriple={TRIPLE}", f"--mcpu={mcpu}", f"--threads={threads}"]
    assert translate.main(command) == 0
    arguments, results_ = specs(text)
    names = [f"ARG{i}" for i in range(len(arguments))]
    results = [f"RES{i}" for i in range(len(results_))]
    lines = [
        f"static unsigned char {each}[LIB_MAIN_{each}_BYTES] __attribute__((aligned(8)));"
        for each in names + results
    ]
    passed = ", ".join(f"(void *){each}" for each in names + results)
    reads = [f"  if (fread({each}, sizeof {each}, 1, stdin) != 1) return 1;" for each in names]
    writes = [f"  fwrite({each}, sizeof {each}, 1, stdout);" for each in results]
    calls = f"  lib_main({passed});"
    body = "\n".join([*reads, calls, *writes, "  return 0;"])
    driver = folder / "main.c"
    head = '#include <stdio.h>\n#include "lib.h"\n'
    driver.write_text(head + "\n".join(lines) + f"\nint main(void) {{\n{body}\n}}\n")
    out = folder / "main"
    command = [_COMPILER, "-static", "-Wall", "-Werror", str(driver), str(code), "-o", str(out)]
    subprocess.run([*command, "-lm", "-pthread"], check=True)
    return out


def run(binary: Path, cpu: str, arrays: Sequence[np.ndarray]) -> subprocess.CompletedProcess[bytes]:
    command = [_EMULATOR, "-cpu", cpu, str(binary)]
    data = b"".join(each.tobytes() for each in arrays)
    return subprocess.run(command, input=data, capture_output=True, check=False, timeout=300)


def called(
    folder: Path, text: str, processor: Processor, arrays: Sequence[np.ndarray], threads: int = 1
) -> list[np.ndarray]:
    """The results of @main under qemu."""
    done = run(linked(folder, text, processor.mcpu, threads), processor.emulated, arrays)
    assert done.returncode == 0, done.stderr
    found, start = [], 0
    for spec in specs(text)[1]:
        size = int(np.prod(spec.shape)) * spec.dtype.itemsize
        part = np.frombuffer(done.stdout[start : start + size], spec.dtype)
        found.append(part.reshape(spec.shape))
        start += size
    assert start == len(done.stdout)
    return found
