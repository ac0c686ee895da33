"""NVIDIA's assembler, where it is installed: PTX to the code of one chip."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error

_SECONDS = 300.0


def assembler() -> str | None:
    """`ptxas` in the PATH, or where NVIDIA's wheels have it (`nvidia-cuda-nvcc`)."""
    wheels = (file for place in sys.path for file in Path(place).glob("nvidia/*/bin/ptxas"))
    return shutil.which("ptxas") or next(map(str, wheels), None)


def cubin_of(ptx: str, chip: str, command: str) -> bytes:
    """The ELF image that the assembler `command` makes of PTX.

    Raises `Fp8Error` with its first line where it refuses.
    """
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-ptxas-") as folder:
        source, image = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        asked = [command, f"-arch={chip}", str(source), "-o", str(image)]
        try:
            done = subprocess.run(
                asked, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Fp8Error(f"{command} does not assemble: {error}") from error
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
            raise Fp8Error(f"{command} does not assemble for {chip}: {said[0]}")
        return image.read_bytes()
