"""Shared libraries, by whatever C compiler is there."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error


def shared_library(code: bytes, *, has_threads: bool = False) -> bytes:
    """The object file `code` of this machine as a shared library that needs libc and libm alone.

    One whose threads sleep in its code, `has_threads`, stays loaded where linkers can ask for that.
    CC names the compiler; else it is cc, gcc or clang, else the Python package ziglang's.
    """
    with tempfile.TemporaryDirectory(prefix="mlir-fp8-") as name:
        source, result = Path(name) / "code.o", Path(name) / "code.so"
        source.write_bytes(code)
        command = [*c_compiler(), "-shared", "-o", str(result), str(source), "-lm"]
        if has_threads:
            command += ["-pthread"] if sys.platform == "darwin" else ["-pthread", "-Wl,-z,nodelete"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise Fp8Error(f"cannot start '{command[0]}': {error.strerror}") from None
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Fp8Error(f"'{command[0]}' cannot link the shared library: {reason}")
        return result.read_bytes()


def c_compiler() -> list[str]:
    """The command of a C compiler of this machine."""
    given = os.environ.get("CC")
    if given:
        return shlex.split(given)
    for name in ("cc", "gcc", "clang"):
        found = shutil.which(name)
        if found:
            return [found]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise Fp8Error(
        "a shared library needs a C compiler to link it: set CC, or pip install ziglang; "
        "--emit=obj needs none"
    )
