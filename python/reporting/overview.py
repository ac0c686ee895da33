"""The two plots over all values, as inline SVG: SQNR along the program, and ranges."""

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.reporting.distance import BROKEN, EQUAL
from mlir_fp8.reporting.report import ValueReport

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 230, 46, 10, 12, 22
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
    """A point per value: its SQNR, at the top where it is equal to f32."""
    numbers = [each.sqnr.db for each in values if each.sqnr.db is not None]
    high = 10 * math.ceil((max(numbers, default=30) + 10) / 10)
    axes = _Axes(len(values), 10 * math.floor((min(numbers, default=10) - 10) / 10), high)
    points = []
    for index, each in enumerate(values):
        heights = {EQUAL: axes.high, BROKEN: axes.low}
        height = heights.get(each.sqnr.kind, axes.low) if each.sqnr.db is None else each.sqnr.db
        if each.sqnr.db is None and each.sqnr.kind not in heights:
            continue
        kind = "bad" if each.sqnr.kind == BROKEN else width_class(each.format)
        points.append(
            f'<circle class="{kind}" data-i="{index}" cx="{axes.x(index)}" '
            f'cy="{axes.y(height)}" r="2.6"><title>{_title(each)}</title></circle>'
        )
    about = "SQNR in dB of every value, in program order; the table has the same numbers"
    return _svg(about, axes.grid("# dB") + "".join(points))


def range_plot(values: Sequence[ValueReport]) -> str:
    """A line per value, from its smallest magnitude to its largest, on its format's range."""
    tops = [math.log2(each.unrounded.amax) for each in values if each.unrounded.amax]
    narrow = [each.format for each in values if each.format.is_small]
    lows = [math.log2(fmt.smallest_subnormal) for fmt in narrow]
    highs = [math.log2(fmt.max) for fmt in narrow]
    low, high = min([*tops, *lows], default=-10), max([*tops, *highs], default=10)
    axes = _Axes(len(values), max(math.floor(low) - 2, -60), min(math.ceil(high) + 2, 60))
    bands, lines, points = [], [], []
    start = 0
    for fmt, group in groupby(values, key=lambda each: each.format):
        length = len(list(group))
        if fmt.bits < 32:
            left, right = axes.x(start - 0.5), axes.x(start + length - 0.5)
            top, bottom = axes.y(math.log2(fmt.max)), axes.y(math.log2(fmt.smallest_subnormal))
            bands.append(
                f'<rect class="{width_class(fmt)} band" x="{left}" y="{top}" '
                f'width="{round(right - left, 1)}" height="{round(bottom - top, 1)}"/>'
            )
        start += length
    for index, each in enumerate(values):
        amax, smallest = each.unrounded.amax, each.unrounded.smallest
        if not amax or not smallest:
            continue
        x, top, bottom = axes.x(index), axes.y(math.log2(amax)), axes.y(math.log2(smallest))
        kind = "bad" if amax > each.format.max else width_class(each.format)
        lines.append(f'<path class="{kind}" d="M{x} {top}V{bottom}"/>')
        points.append(
            f'<circle class="{kind}" data-i="{index}" cx="{x}" cy="{top}" r="2">'
            f"<title>{_title(each)}</title></circle>"
        )
    about = (
        "Magnitudes of every value, smallest to largest, as powers of two; "
        "the table has the same numbers"
    )
    return _svg(about, "".join([*bands, axes.grid("2^#"), *lines, *points]))


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
