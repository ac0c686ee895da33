"""What a module sends, as text that is read on a terminal."""

from mlir_fp8.explaining.wire import FP8, WIDE, WireReport, WireRow
from mlir_fp8.tools._explain_page import Style

_COLOURS = {FP8: "32", WIDE: "33"}
_BOLD = "1"


def wire_page(report: WireReport, style: Style) -> str:
    """A row for each collective, and a line of sums."""
    lines = [line for row in report.rows for line in _lines(row, style)]
    count = len(report.rows)
    named = "1 collective" if count == 1 else f"{count} collectives"
    sums = f"each device sends {report.bytes} bytes a step, {report.fp8_bytes} if all were FP8"
    return "\n".join([*lines, *([""] if lines else []), f"{report.file}: {named}: {sums}"]) + "\n"


def _lines(row: WireRow, style: Style) -> list[str]:
    verdict = style.paint(row.verdict, _COLOURS.get(row.verdict, "2"))
    head = f"{style.paint(row.location, _BOLD)}: {verdict}: {row.op} {row.operand} -> {row.result}"
    times = {0: ", in a loop of unknown length, counted once", 1: ""}.get(
        row.times, f", {row.times} times"
    )
    less = f", {row.fp8_bytes} in FP8" if row.fp8_bytes != row.bytes else ""
    lines = [head, f"  among {row.group}: {row.bytes} bytes{less}{times}"]
    if row.reason:
        lines.append(f"  it {row.reason}: {row.edit}" if row.edit else f"  it {row.reason}")
    return lines
