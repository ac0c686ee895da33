"""Measurements as Markdown tables, for docs/performance.md."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.bars import Verdict, verdicts
from benchmarks.records import Record, base_of, ratio
from benchmarks.tables import duration, machine_line, means, notes_of, speed, title

_IN_PHASES = ("pytorch",)
"""Suites of which each phase up to a call has a column."""
_PHASES = ("export s", "import s", "compile s")


def markdown(machine: Mapping[str, Any], records: Sequence[Record]) -> Iterator[str]:
    """Everything, as tables."""
    yield f"{machine_line(machine)}\n"
    judged = list(verdicts(records))
    if judged:
        yield from _table(["", "the bar", "measured", ""], [_verdict_row(each) for each in judged])
    for suite in dict.fromkeys(record.suite for record in records):
        yield f"\n### {suite}\n"
        own = [record for record in records if record.suite == suite]
        yield from _phases_table(own) if suite in _IN_PHASES else _suite_table(own)
    yield from _threads_table(records)


def _verdict_row(verdict: Verdict) -> list[str]:
    word = "reached" if verdict.is_reached else "missed"
    return [verdict.what, verdict.aim, verdict.measured, word]


def _suite_table(records: Sequence[Record]) -> Iterator[str]:
    """A row per case, a column per contender: ours with its time, others with their ratios."""
    ours_first = sorted(records, key=lambda record: not record.is_ours)
    columns = list(dict.fromkeys((record.contender, record.threads) for record in ours_first))
    several = len({threads for _, threads in columns}) > 1
    heads = [f"{name}, {threads}" if several else name for name, threads in columns]
    rows: dict[tuple[str, str], dict[tuple[str, int], Record]] = {}
    for record in records:
        row = rows.setdefault((record.case, record.size), {})
        row[record.contender, record.threads] = record
    body = [
        [" ".join(place).rstrip(), *(_cell(row.get(column), records) for column in columns)]
        for place, row in rows.items()
    ]
    averages = means(records, records[0].suite)
    if averages:
        known = {column: f"{mean:.2f} x" for column, (mean, _) in averages.items()}
        cells = (known.get(column, "") for column in columns)
        body.append(["geometric mean", *cells])
    yield from _table([", threads" if several else "", *heads], body)


def _phases_table(records: Sequence[Record]) -> Iterator[str]:
    """A row per case: how far off, seconds of phases and of a call; then others' calls."""
    others = list(dict.fromkeys(record.contender for record in records if not record.is_ours))
    phases = [name.removesuffix(" s") for name in _PHASES]
    rows: list[list[str]] = []
    for case in dict.fromkeys(record.case for record in records):
        by_name = {record.contender: record for record in records if record.case == case}
        ours = next(record for record in by_name.values() if record.is_ours)
        cells = [case, f"{max(ours.notes.get('relative L2', [0.0])):.1e}"]
        cells += [_phase(ours, name) for name in _PHASES]
        cells += [_call(each, ours) for each in (ours, *map(by_name.get, others))]
        rows.append(cells)
    yield from _table(["", "relative L2", *phases, "a call", *others], rows)


def _phase(record: Record, name: str) -> str:
    return duration(statistics.median(record.notes[name])) if name in record.notes else ""


def _call(record: Record | None, ours: Record) -> str:
    """Its time; beside another's how many times as long as ours it is, and what compiled it."""
    if record is None:
        return ""
    if record.refused or not record.seconds:
        return "refused"
    shown = duration(record.median)
    if record is ours:
        return shown
    compiled = _phase(record, "compile s")
    extra = f" (compiled in {compiled})" if compiled else ""
    return f"{shown}, {ratio(record, ours) or 0:.2f} x{extra}"


def _cell(record: Record | None, records: Sequence[Record]) -> str:
    if record is None:
        return ""
    if record.refused:
        return "refused"
    base = base_of(record, records)
    notes = notes_of(record).strip().replace(", ", "; ")
    extra = f" ({notes})" if notes else ""
    if base is None or base is record:
        return f"{duration(record.median)} {speed(record)}".rstrip() + extra
    return f"{ratio(record, base):.2f} x{extra}"


def _threads_table(records: Sequence[Record]) -> Iterator[str]:
    """What more threads give ours."""
    rows: list[list[str]] = []
    for record in records:
        if not record.is_ours or record.threads == 1 or not record.seconds:
            continue
        one = [
            each
            for each in records
            if _place(each) == _place(record) and each.threads == 1 and each.seconds
        ]
        if one:
            times = f"{one[0].median / record.median:.2f} x"
            rows.append([title(record), str(record.threads), duration(one[0].median), times])
    if rows:
        yield "\n### threads\n"
        yield from _table(["", "threads", "on one", "faster"], rows)


def _place(record: Record) -> tuple[str, str, str, str]:
    return record.suite, record.case, record.size, record.contender


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
