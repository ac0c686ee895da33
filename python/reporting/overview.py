"""The two plots over all values, as inline SVG: SQNR along the program, and ranges."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.reporting.distance import BROKEN, EQUAL
from mlir_fp8.reporting.findings import ValueReport

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 240, 46, 10, 26, 22
_EQUAL = 12
"""Where the line of what is equal to f32 is."""
_HIGHEST = 120
"""dB at which the axis ends: f32 itself is not better."""
_TICKS = 6
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def width_class(fmt: FloatFormat) -> str:
    """The class of colour: 8 bits and less, 16, or more."""
    return "w8" if fmt.is_small else "w16" if fmt.bits < 32 else "w32"


class _Axes:
    """Places in the plot: values in program order from left to right, numbers upwards."""

    def __init__(self, count: int, low: float, high: float) -> None:
        self._count = max(count, 1)
        self.low, self.high = low, high

    def x(self, index: float) -> float:
        return round(_LEFT + (index + 0.5) * (_WIDTH - _LEFT - _RIGHT) / self._count, 1)

    def y(self, number: float) -> float:
        inside = min(max(number, self.low), self.high)
        share = (inside - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)

    def grid(self, label: str) -> str:
        step = _nice((self.high - self.low) / _TICKS)
        lines = []
        for multiple in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            y = self.y(multiple * step)
            text = label.replace("#", str(multiple * step))
            lines.append(
                f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>'
                f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{text}</text>'
            )
        return "".join(lines)


def _nice(step: float) -> int:
    return next(
        each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500) if each >= step or each == 500
    )


def sqnr_plot(values: Sequence[ValueReport]) -> str:
    """A point per value: its SQNR, on a line of its own at the top where it is equal to f32."""
    numbers = [each.sqnr.db for each in values if each.sqnr.db is not None]
    low = 10 * math.floor((min(numbers, default=10) - 10) / 10)
    high = min(10 * math.ceil((max(numbers, default=30) + 10) / 10), max(_HIGHEST, low + 20))
    axes = _Axes(len(values), low, high)
    points: list[tuple[ValueReport, int, float]] = []
    for index, each in enumerate(values):
        if each.sqnr.db is not None:
            points.append((each, index, axes.y(each.sqnr.db)))
        elif each.sqnr.kind in (EQUAL, BROKEN):
            points.append((each, index, _EQUAL if each.sqnr.kind == EQUAL else axes.y(low)))
    about = "SQNR in dB of every value, in program order; the table has the same numbers"
    label = f'<text x="{_LEFT - 6}" y="{_EQUAL + 4}" text-anchor="end">equal</text>'
    circles = (
        _point(each, index, axes.x(index), y, each.sqnr.kind == BROKEN)
        for each, index, y in sorted(points, key=_widest_first)
    )
    return _svg(about, axes.grid("# dB") + label + "".join(circles))


def range_plot(values: Sequence[ValueReport]) -> str:
    """A line per narrow value, from its smallest magnitude to its largest, on its format's range.

    Of all values where none is narrow.
    """
    chosen = [(index, each) for index, each in enumerate(values) if each.is_narrow]
    chosen = chosen or list(enumerate(values))
    tops = [math.log2(each.unrounded.amax) for _, each in chosen if each.unrounded.amax]
    small = {each.format for _, each in chosen if each.format.is_small}
    lows = [math.log2(fmt.smallest_subnormal) for fmt in small]
    highs = [math.log2(fmt.max) for fmt in small]
    low, high = min([*tops, *lows], default=-10), max([*tops, *highs], default=10)
    axes = _Axes(len(chosen), max(math.floor(low) - 2, -60), min(math.ceil(high) + 2, 60))
    lines: list[str] = []
    points: list[str] = []
    for place, (index, each) in enumerate(chosen):
        amax, smallest = each.unrounded.amax, each.unrounded.smallest
        if not amax or not smallest:
            continue
        x, top, bottom = axes.x(place), axes.y(math.log2(amax)), axes.y(math.log2(smallest))
        is_beyond = amax > each.format.max
        kind = "bad" if is_beyond else width_class(each.format)
        lines.append(f'<path class="{kind}" d="M{x} {top}V{bottom}"/>')
        points.append(_point(each, index, x, top, is_beyond))
    about = "Magnitudes of narrow values as powers of two; the table has the same numbers"
    bands = _bands(axes, [each.format for _, each in chosen])
    return _svg(about, "".join([*bands, axes.grid("2^#"), *lines, *points]))


def _bands(axes: _Axes, formats: Sequence[FloatFormat]) -> Iterator[str]:
    start = 0
    for fmt, group in groupby(formats):
        end = start + len(list(group))
        if fmt.bits < 32:
            left, right = axes.x(start - 0.5), axes.x(end - 0.5)
            top, bottom = axes.y(math.log2(fmt.max)), axes.y(math.log2(fmt.smallest_subnormal))
            yield (
                f'<rect class="{width_class(fmt)} band" x="{left}" y="{top}" '
                f'width="{right - left:.1f}" height="{bottom - top:.1f}">'
                f"<title>{fmt.name}</title></rect>"
            )
        start = end


def _widest_first(point: tuple[ValueReport, int, float]) -> tuple[int, int]:
    """What is narrow is drawn last, and so on top."""
    return -point[0].format.bits, point[1]


def _point(each: ValueReport, index: int, x: float, y: float, is_bad: bool) -> str:
    radius = 3.2 if each.format.is_small else 2.6 if each.is_narrow else 1.9
    return (
        f'<circle class="{"bad" if is_bad else width_class(each.format)}" data-i="{index}" '
        f'cx="{x}" cy="{y}" r="{radius}"><title>{_title(each)}</title></circle>'
    )


def _title(each: ValueReport) -> str:
    amax = each.unrounded.amax
    size = "" if amax is None else f", amax {amax:.4g}"
    return escape(f"{each.value.names[0]} {each.value.spec}: {each.sqnr}{size}")


def _svg(about: str, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(about)}">'
        f"{content}"
        f'<text x="{_LEFT}" y="{_HEIGHT - 5}">program order →</text></svg>'
    )
