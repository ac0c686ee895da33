"""Cases: a module with its arguments and the right results in comments, one file each.

`// arg 0x...` and `// result CHECK 0x...` hold the bytes of one array each, in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.compiling.entry import entry_signature

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A module, what it is given, what it should give and how that is compared."""

    text: str
    arrays: tuple[np.ndarray, ...]
    specs: tuple[TensorSpec, ...]
    checks: tuple[str, ...]
    expected: tuple[np.ndarray, ...]


def write(
    path: Path,
    what: str,
    text: str,
    arrays: Sequence[np.ndarray],
    results: Sequence[tuple[str, np.ndarray]],
) -> None:
    """`what` says what was wrong; `results` are right, each with its check."""
    lines = [f"// {what}"]
    lines += [f"// arg 0x{array.tobytes().hex()}" for array in arrays]
    lines += [f"// result {check} 0x{array.tobytes().hex()}" for check, array in results]
    path.write_text("\n".join([*lines, text]))


def read(path: Path) -> Case:
    """The case in a file that `write` made."""
    text = path.read_text()
    takes, gives = entry_signature(mlir_fp8.load(text))
    given = [line.split()[-1] for line in text.splitlines() if line.startswith("// arg 0x")]
    wanted = [line.split() for line in text.splitlines() if line.startswith("// result ")]
    return Case(
        text,
        tuple(_array(*pair) for pair in zip(given, takes, strict=True)),
        tuple(gives),
        tuple(check for *_, check, _ in wanted),
        tuple(_array(row[-1], spec) for row, spec in zip(wanted, gives, strict=True)),
    )


def _array(digits: str, spec: TensorSpec) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digits[2:]), spec.dtype).reshape(spec.shape)
