"""Measurements as text, case by case."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.bars import verdicts
from benchmarks.records import Record, base_of, ratio

FEW = 5
"""Fewer ratios have no mean worth showing."""


def case_lines(records: Sequence[Record]) -> Iterator[str]:
    """The contenders of one case, with how many times as long as ours each takes."""
    first = records[0]
    rounds = max(len(record.seconds) for record in records)
    yield f"{title(first)} ({first.clock} time, median of {rounds})"
    for record in records:
        name = f"  {record.contender:22}{record.threads:3} thread{'s' * (record.threads > 1):1} "
        if record.refused:
            yield f"{name} refused: {record.refused}"
            continue
        base = base_of(record, records)
        shown = f"{name}{duration(record.median):>11}{speed(record):>17}"
        if base is not None and base is not record:
            shown += f"{ratio(record, base):8.2f} x"
        if record.bar is not None:
            is_reached = (ratio(record, base) or 0) >= record.bar
            shown += f"  {'reached' if is_reached else 'MISSED'}: {record.bar:g}"
        yield (shown + notes_of(record)).rstrip()


def mean_lines(records: Sequence[Record]) -> Iterator[str]:
    """How many times as long as ours each contender takes over a suite's cases, on average."""
    for suite in dict.fromkeys(record.suite for record in records):
        for (name, threads), (mean, count) in means(records, suite).items():
            who = f"{suite}: {name:22}{threads:3} thread{'s' * (threads > 1):1}"
            yield f"{who} {mean:8.2f} x, geometric mean of {count}"


def verdict_lines(records: Sequence[Record]) -> Iterator[str]:
    """Which bars are reached."""
    for verdict in verdicts(records):
        word = "reached" if verdict.is_reached else "MISSED"
        yield f"{word:8} {verdict.measured:>12} of {verdict.aim:14} {verdict.what}"


def machine_line(machine: Mapping[str, Any]) -> str:
    """What a run was made on, in one line."""
    versions = (f"{name} {version}" for name, version in machine["versions"].items() if version)
    load = f"load {machine['load before']}"
    if "load after" in machine:
        load += f" before, {machine['load after']} after"
    features = " ".join(machine["features"])
    cores = f"{machine['cores']} cores, {machine['memory GiB']} GiB"
    return f"{machine['cpu']} ({features}), {cores}; {load}; {', '.join(versions)}."


def duration(seconds: float) -> str:
    """In the unit that suits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        shown = seconds * scale
        if shown >= 1:
            return f"{shown:.3g} {unit}" if shown < 100 else f"{shown:.0f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def speed(record: Record) -> str:
    """Work per second, where the case knows its work."""
    return f"{record.work / record.median / 1e9:.3g} G{record.unit}/s" if record.work else ""


def title(record: Record) -> str:
    """Of its case."""
    return f"{record.suite}: {record.case}" + (f", {record.size}" if record.size else "")


def notes_of(record: Record) -> str:
    """Medians of what else was measured."""
    found = (f"{name} {statistics.median(each):.3g}" for name, each in record.notes.items())
    shown = ", ".join(found)
    return f"   {shown}" if shown else ""


def means(records: Sequence[Record], suite: str) -> dict[tuple[str, int], tuple[float, int]]:
    """Of ratios, and of how many, by contender and threads, where there are enough."""
    found: dict[tuple[str, int], list[float]] = {}
    for record in records:
        times = ratio(record, base_of(record, records)) if record.suite == suite else None
        if times is not None and not record.is_ours:
            found.setdefault((record.contender, record.threads), []).append(times)
    return {
        who: (statistics.geometric_mean(times), len(times))
        for who, times in found.items()
        if len(times) >= FEW
    }
