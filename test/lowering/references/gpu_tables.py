"""Tables of costs of cards that there are not, for tests of what is chosen."""

import dataclasses
from pathlib import Path
from typing import Any

from mlir_fp8.lowering.gpu.xla.costs import costs_of, text_of
from mlir_fp8.lowering.gpu.xla.times import Timed


def table(folder: Path, *times: Timed, **rates: float | None) -> str:
    """A file with the H200's costs, other `rates`, and no times of products but `times`."""
    attention = {"attention": None, "attention_by_xla": None}
    changed: dict[str, Any] = {**attention, **rates, "times": times}
    made = dataclasses.replace(costs_of("h200"), **changed)
    file = folder / f"card{len(list(folder.iterdir()))}.json"
    file.write_text(text_of(made))
    return str(file)
