"""Measurements as Markdown tables, for docs/performance.md."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.bars import Verdict, verdicts
from benchmarks.records import Record, base_of, ratio
from benchmarks.tables import duration, machine_line, means, notes_of, speed, title


def markdown(machine: Mapping[str, Any], records: Sequence[Record]) -> Iterator[str]:
    """Everything, as tables."""
    yield f"{machine_line(machine)}\n"
    judged = list(verdicts(records))
    if judged:
        yield from _table(["", "the bar", "measured", ""], [_verdict_row(each) for each in judged])
    for suite in dict.fromkeys(record.suite for record in records):
        yield f"\n### {suite}\n"
        yield from _suite_table([record for record in records if record.suite == suite])
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
