"""Measurements as text, case by case, and as the Markdown tables of docs/performance.md."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.bars import Verdict, verdicts
from benchmarks.records import Record, base_of, ratio


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
        shown = f"{name}{duration(record.median):>11}{speed(record):>16}"
        if base is not None and base is not record:
            shown += f"{ratio(record, base):8.2f} x"
        if record.bar is not None:
            is_reached = (ratio(record, base) or 0) >= record.bar
            shown += f"  {'reached' if is_reached else 'MISSED'}: {record.bar:g}"
        yield (shown + _notes(record)).rstrip()


def verdict_lines(records: Sequence[Record]) -> Iterator[str]:
    """Which bars are reached."""
    for verdict in verdicts(records):
        word = "reached" if verdict.is_reached else "MISSED"
        yield f"{word:8} {verdict.measured:>12} of {verdict.aim:14} {verdict.what}"


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
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 1000 else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"


def speed(record: Record) -> str:
    """Work per second, where the case knows its work."""
    return f"{record.work / record.median / 1e9:.3g} G{record.unit}/s" if record.work else ""


def title(record: Record) -> str:
    """Of its case."""
    return f"{record.suite}: {record.case}" + (f", {record.size}" if record.size else "")


def _notes(record: Record) -> str:
    found = (f"{name} {statistics.median(each):.3g}" for name, each in record.notes.items())
    shown = ", ".join(found)
    return f"   {shown}" if shown else ""


def _verdict_row(verdict: Verdict) -> list[str]:
    word = "reached" if verdict.is_reached else "missed"
    return [verdict.what, verdict.aim, verdict.measured, word]


def _suite_table(records: Sequence[Record]) -> Iterator[str]:
    """A row per case, a column per contender: ours with its time, others with their ratios."""
    columns = list(dict.fromkeys((record.contender, record.threads) for record in records))
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
    yield from _table([", threads" if several else "", *heads], body)


def _cell(record: Record | None, records: Sequence[Record]) -> str:
    if record is None:
        return ""
    if record.refused:
        return "refused"
    base = base_of(record, records)
    notes = _notes(record).strip().replace(", ", "; ")
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
