"""A folder for the card: artifacts of all candidates, values to check, and the script."""

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.serialization.serialize import serialize
from mlir_fp8.tuning import card
from mlir_fp8.tuning.pieces import Piece

SCRIPTS = ("card.py", "run.py")


class Folder:
    """What is written; its index says what the script does with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index: dict[str, Any] = {"format": card.FORMAT}
        self._index |= {"checks": [], "rates": [], "times": []}
        path.mkdir(parents=True, exist_ok=True)
        (path / "index.json").unlink(missing_ok=True)  # what is cut short is no folder
        for script in SCRIPTS:
            shutil.copyfile(Path(__file__).parent / script, path / script)

    def close(self) -> None:
        (self._path / "index.json").write_text(json.dumps(self._index, indent=1) + "\n")

    def check(self, name: str, module: ir.Module, plain: ir.Module, specs: Any, seed: int) -> None:
        """Numbers of `module` on the card are to be those of `plain` by our own compiler."""
        results = compile_module(plain, threads=1)(*card.exact_arrays(specs, seed))
        wanted = results if isinstance(results, (tuple, list)) else [results]
        entry = {"name": name, "file": self._artifact(name, module), "arguments": specs}
        entry |= {"seed": seed, "digest": card.digest([np.asarray(each) for each in wanted])}
        self._index["checks"].append(entry)

    def rate(
        self, name: str, module: ir.Module, specs: Any, amount: int, unit: str = "GB/s"
    ) -> None:
        """What reads and writes so many bytes, or in TFLOP/s does so many operations."""
        entry = {"name": f"rate {name}", "rate": name, "file": self._artifact(name, module)}
        entry |= {"arguments": specs, "amount": amount, "unit": unit}
        self._index["rates"].append(entry)

    def time(
        self,
        work: Piece,
        kernel: str,
        kind: str,
        size: tuple[int, int, int],
        variants: Sequence[tuple[str, ir.Module]],
    ) -> None:
        """Variants of `work`, the first of them XLA's own; `size` is that in a table."""
        entry = {"name": f"{kernel} {work}", "kernel": kernel, "kind": kind, "size": size}
        entry |= {"copies": work.copies, "arguments": work.arguments()}
        entry["variants"] = [
            {"name": name, "file": self._artifact(f"{kernel} {work} {name}", module)}
            for name, module in variants
        ]
        self._index["times"].append(entry)

    def _artifact(self, name: str, module: ir.Module) -> str:
        file = "".join(each if each.isalnum() else "_" for each in name) + ".mlirbc.gz"
        (self._path / file).write_bytes(gzip.compress(serialize(module), 6))
        return file
