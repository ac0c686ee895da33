"""The jaxlib releases that are tried, and an environment for each of them."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Every release on PyPI with a wheel for Python 3.11, and after the last of those for 3.12.
ON_3_11 = """
0.4.13 0.4.18 0.4.19 0.4.20 0.4.21 0.4.22 0.4.23 0.4.24 0.4.25 0.4.26 0.4.27 0.4.28 0.4.29 0.4.30
0.4.31 0.4.33 0.4.34 0.4.35 0.4.36 0.4.38 0.5.0 0.5.1 0.5.3 0.6.0 0.6.1 0.6.2 0.7.0 0.7.1 0.7.2
0.8.0 0.8.1 0.8.2 0.8.3 0.9.0 0.9.0.1 0.9.1 0.9.2 0.10.0 0.10.1 0.10.2
"""
ON_3_12 = "0.11.0 0.11.1 0.11.2 0.12.0 0.12.0.1"


class SetupError(Exception):
    """Something is missing on this machine; the message says what."""


@dataclass(frozen=True)
class Release:
    """One jaxlib release, and what its MLIR bindings need beside it."""

    jaxlib: str
    python: str

    @property
    def requirements(self) -> list[str]:
        # jaxlib 0.4 was built against numpy 1.
        if self.jaxlib.startswith("0.4."):
            return [f"jaxlib=={self.jaxlib}", "numpy==1.26.4", "ml_dtypes==0.4.0"]
        return [f"jaxlib=={self.jaxlib}", "numpy==2.1.3", "ml_dtypes==0.5.3"]

    def environment(self, root: Path, interpreters: Sequence[Path]) -> Path:
        """The Python of this release's environment under `root`, made where it is missing."""
        folder = root / self.jaxlib
        python = folder / "bin" / "python"
        installed = folder / "installed"
        if installed.exists():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run([self._interpreter(interpreters), "-m", "venv", "--without-pip", folder])
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        # Without dependencies: scipy and the rest are not for MLIR.
        _run([*pip, "--no-deps", "--only-binary=:all:", *self.requirements])
        installed.touch()
        return python

    def _interpreter(self, interpreters: Sequence[Path]) -> Path:
        named = shutil.which(f"python{self.python}")
        for candidate in (*interpreters, Path(sys.executable), *([Path(named)] if named else [])):
            command = "import sys; print('%d.%d' % sys.version_info[:2])"
            # A shim of that name may refuse to run.
            asked = subprocess.run([candidate, "-c", command], capture_output=True, check=False)
            if asked.stdout.decode().strip() == self.python:
                return candidate
        raise SetupError(
            f"jaxlib {self.jaxlib} needs Python {self.python}: name one with --interpreter"
        )


RELEASES = [Release(jaxlib, "3.11") for jaxlib in ON_3_11.split()]
RELEASES += [Release(jaxlib, "3.12") for jaxlib in ON_3_12.split()]


def _run(command: Sequence[str | Path]) -> str:
    run = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if run.returncode:
        lines = (run.stderr or run.stdout).strip().splitlines()
        raise SetupError(f"{' '.join(map(str, command))}: {lines[-1] if lines else 'failed'}")
    return run.stdout
