"""Measurements, and the file they are kept in."""

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases import OURS


@dataclass(frozen=True)
class Record:
    """One contender in one case."""

    suite: str
    case: str
    size: str
    contender: str
    threads: int
    clock: str
    """cpu: processor seconds of all threads; wall: what a clock on the wall shows."""
    seconds: list[float]
    """Of each round; empty where the contender refused."""
    notes: dict[str, list[float]]
    """What else was measured, each with its unit in its name."""
    work: float
    unit: str
    bar: float | None
    """How many times as long as ours it takes, at least, by the project's aims (bars.py)."""
    refused: str

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def is_ours(self) -> bool:
        return self.contender.split(",")[0] == OURS


def base_of(record: Record, records: Iterable[Record]) -> Record | None:
    """Ours, which `record` is compared with: of as many threads if there is one."""
    ours = [
        each
        for each in records
        if each.is_ours
        and each.seconds
        and (each.suite, each.case, each.size) == (record.suite, record.case, record.size)
    ]
    alike = [each for each in ours if each.threads == record.threads]
    return next(iter(alike or ours), None)


def ratio(record: Record, base: Record | None) -> float | None:
    """How many times as long as `base` it takes, by medians."""
    if base is None or not record.seconds or not base.seconds:
        return None
    return record.median / base.median


def write(file: Path, machine: Mapping[str, Any], records: Sequence[Record]) -> None:
    """All raw numbers as JSON."""
    content = {"machine": machine, "records": [asdict(record) for record in records]}
    file.write_text(json.dumps(content, indent=1) + "\n")


def read(file: Path) -> tuple[dict[str, Any], list[Record]]:
    """What `write` wrote; an error of Python for anything else."""
    content = json.loads(file.read_text())
    return content["machine"], [Record(**each) for each in content["records"]]
