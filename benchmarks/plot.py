"""Measurements as a picture, by matplotlib (the extra `benchmarks`)."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.records import Record, base_of, ratio

SUFFIXES = (".svg", ".png", ".pdf")


def refusal(file: Path) -> str:
    """Why no plot can be written to `file`, or ""."""
    if file.suffix not in SUFFIXES:
        return f"--plot {file}: give a name that ends in {', '.join(SUFFIXES)}"
    if find_spec("matplotlib") is None:
        return "--plot needs matplotlib: pip install '.[benchmarks]'"
    return ""


def draw(file: Path, records: Sequence[Record]) -> None:
    """Ratios, a panel per suite; where a case has several sizes, how time grows with them."""
    matplotlib: Any = import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    panels = _panels([record for record in records if record.seconds])
    heights = [_height(each, grows) for _, each, grows in panels]
    figure, axes = pyplot.subplots(
        len(panels), figsize=(9, sum(heights)), height_ratios=heights, squeeze=False
    )
    for axis, (title, measured, grows) in zip(axes.flat, panels, strict=True):
        (_growth if grows else _ratios)(axis, measured)
        axis.set_title(title, loc="left", fontsize=10)
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)


def _panels(records: Sequence[Record]) -> list[tuple[str, list[Record], bool]]:
    """Title, measurements, and whether they show growth."""
    panels: list[tuple[str, list[Record], bool]] = []
    for suite in dict.fromkeys(record.suite for record in records):
        cases: dict[str, list[Record]] = {}
        for record in records:
            if record.suite == suite:
                cases.setdefault(record.case, []).append(record)
        growing = [case for case, each in cases.items() if len({r.work for r in each}) > 5]
        panels += [(f"{suite}: {case}", cases[case], True) for case in growing]
        others = [record for case in cases if case not in growing for record in cases[case]]
        if others:
            panels.append((suite, others, False))
    return panels


def _height(records: Sequence[Record], grows: bool) -> float:
    return 4.0 if grows else 1.2 + 0.22 * len(_places(records))


def _places(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(_place(record) for record in records))


def _place(record: Record) -> str:
    return f"{record.case} {record.size}".rstrip()


def _who(record: Record) -> str:
    return f"{record.contender}, {record.threads} thread{'s' if record.threads > 1 else ''}"


def _ratios(axis: Any, records: Sequence[Record]) -> None:
    """How many times as long as ours each takes: to the right of 1, ours is faster."""
    places = _places(records)
    colors = _colors(records)
    for who in dict.fromkeys(map(_who, records)):
        theirs = [record for record in records if _who(record) == who]
        points = [(ratio(each, base_of(each, records)), places.index(_place(each)))
                  for each in theirs if base_of(each, records) is not each]  # fmt: skip
        known = [(x, y) for x, y in points if x is not None]
        if known:
            marker = "o" if theirs[0].threads == 1 else "d"
            color = colors[theirs[0].contender]
            axis.plot(*zip(*known, strict=True), marker, color=color, markersize=5, label=who)
    bars = [(record.bar, places.index(_place(record))) for record in records if record.bar]
    if bars:
        axis.plot(*zip(*bars, strict=True), "k|", markersize=12, label="bars")
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_xlabel("time / time of mlir-fp8 on as many threads", fontsize=8)
    axis.set_yticks(range(len(places)), places, fontsize=7)
    axis.set_ylim(len(places) - 0.5, -0.5)


def _colors(records: Sequence[Record]) -> dict[str, str]:
    """One per contender, whatever its threads."""
    names = dict.fromkeys(record.contender for record in records)
    return {name: f"C{index % 10}" for index, name in enumerate(names)}


def _growth(axis: Any, records: Sequence[Record]) -> None:
    """How fast each is, by how much there is to do."""
    colors = _colors(records)
    for who in dict.fromkeys(map(_who, records)):
        theirs = [record for record in records if _who(record) == who]
        points = [(each.work, each.work / each.median / 1e9) for each in theirs]
        style = "o-" if theirs[0].threads == 1 else "d--"
        color = colors[theirs[0].contender]
        axis.plot(*zip(*points, strict=True), style, color=color, ms=3, lw=1, label=who)
    unit = records[0].unit
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel(unit, fontsize=8)
    axis.set_ylabel(f"G{unit}/s", fontsize=8)
