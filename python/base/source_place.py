"""The `file:line:column` that messages about source text start with."""

import re
from dataclasses import dataclass

_PLACED = re.compile(r"([^\n]+?):(\d+):(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A position in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def split_place(message: str) -> tuple[Place | None, str]:
    """The place that `message` starts with, if any, and the rest."""
    match = _PLACED.fullmatch(message)
    if match is None:
        return None, message
    file, line, column, rest = match.groups()
    return Place(file, int(line), int(column)), rest
