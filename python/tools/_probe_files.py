"""The files of `--probe-output-dir`: `probe1.npy` and so on, and `index.csv` that lists them.

Each line of the index is the probe's name, its type and its file. float8 and bfloat16, for which
numpy has no type, are stored as unsigned integers; the type in the index says what they are.
"""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import stored
from mlir_fp8.interpreter.record import Recorded
from mlir_fp8.tools._command import write_output

_INDEX = "index.csv"


def write_probes(directory: Path, probes: Sequence[Recorded]) -> None:
    """Write the probes in order; an index that is there is replaced."""
    lines: list[str] = []
    for number, probe in enumerate(probes, start=1):
        path = directory / f"probe{number}.npy"
        buffer = io.BytesIO()
        np.save(buffer, stored("", probe.array)[1], allow_pickle=False)
        write_output(str(path), buffer.getvalue())
        lines.append(f"{probe.name},{probe.spec},{path}\n")
    write_output(str(directory / _INDEX), "".join(lines).encode())
