"""Rows of the table of kernels in a file of JSON, which the environment variable names."""

import json
import os
from dataclasses import asdict, fields
from pathlib import Path

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.kernels.products.choices_table import (
    KERNELS,
    Choice,
)

VARIABLE = "MLIR_FP8_KERNEL_CHOICES"
_PATTERNS = {"targets", "operands", "layout"}
_DEPTH_UNIT = 32
"""What depths are multiples of: a cache line of bf16."""


def choices_text() -> str:
    """What the file holds that `VARIABLE` names; nothing where it names none."""
    name = os.environ.get(VARIABLE)
    if not name:
        return ""
    try:
        return Path(name).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Fp8Error(f"{VARIABLE}={name}: cannot be read: {error}") from None


def given_choices() -> list[Choice]:
    """The rows of that file; `Fp8Error` where one is none."""
    text = choices_text()
    if not text:
        return []
    try:
        rows = json.loads(text)["kernels"]
        return [_choice(row) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = error if isinstance(error, _RowError) else "is not what `tune` writes"
        raise Fp8Error(f"{VARIABLE}={os.environ[VARIABLE]}: {reason}") from None


def written_choices(rows: list[Choice]) -> str:
    """The text of a file of `rows`, without what is by default."""
    found = [
        {name: value for name, value in asdict(row).items() if value != getattr(Choice, name)}
        for row in rows
    ]
    lines = ",\n".join(f"    {json.dumps(row)}" for row in found)
    return f'{{\n  "kernels": [\n{lines}\n  ]\n}}\n'


class _RowError(ValueError):
    pass


def _choice(row: dict[str, object]) -> Choice:
    known = {each.name: each for each in fields(Choice)}
    for name, value in row.items():
        if name not in known:
            raise _RowError(f"a row has '{name}' (there are: {', '.join(known)})")
        if not _is_right(name, value):
            raise _RowError(f"a row has {name} = {json.dumps(value)}")
    tile = row.get("tile")
    pair = {"tile": tuple(tile)} if isinstance(tile, list) else {}
    return Choice(**{**row, **pair})  # pyright: ignore[reportArgumentType]


def _is_right(name: str, value: object) -> bool:
    if name in _PATTERNS:
        return isinstance(value, str)
    if name == "kernel":
        return value in KERNELS
    if name == "tile":
        return isinstance(value, list) and len(value) == 2 and all(map(_is_size, value))
    if name == "depth":
        return _is_size(value, _DEPTH_UNIT)
    return _is_size(value) or (name == "least_right" and value == 0)


def _is_size(value: object, unit: int = 1) -> bool:
    return isinstance(value, int) and value is not True and value > 0 and value % unit == 0
