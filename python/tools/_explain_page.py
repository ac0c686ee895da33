"""Explanations and warnings as text that is read on a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_fp8.explaining.verdicts import (
    FUSED,
    NOT_FP8,
    NOT_FUSED,
    PARTLY,
    Answer,
    Explanation,
    Hindrance,
    KernelRow,
    LintWarning,
    Row,
)

_COLOURS = {FUSED: "32", PARTLY: "33", NOT_FUSED: "31", NOT_FP8: "2"}
_BOLD, _WARNING = "1", "35"


@dataclass(frozen=True)
class Style:
    """With a terminal's colours, or without."""

    is_coloured: bool

    def paint(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self.is_coloured else text


def page(explanation: Explanation, style: Style, *, only_missing: bool, callers: bool) -> str:
    """The rows, and a line of summary for each target."""
    lines: list[str] = []
    for row in explanation.rows:
        if not only_missing or any(answer.is_missing for answer in row.answers):
            lines += _row(row, style, callers=callers)
    for each in explanation.kernels if not only_missing else ():
        lines.append(_kernel(each, style))
    if lines:
        lines.append("")
    return "\n".join([*lines, *_summary(explanation, style)]) + "\n"


def _row(row: Row, style: Style, *, callers: bool) -> Iterator[str]:
    place = f"{row.module} ({row.location})" if row.module else row.location
    head = style.paint(place, _BOLD)
    what = f"{row.op} {row.operands} -> {row.result}"
    if len(row.answers) == 1:
        yield f"{head}: {_verdict(row.answers[0], style)}: {what}"
    else:
        yield f"{head}: {what}"
        yield f"  {_verdicts(row.answers, style)}"
    if row.details:
        yield f"  {row.details}"
    if callers and row.callers:
        yield f"  from {', '.join(row.callers)}"
    yield from _obstacles(row.answers)
    if row.if_quantized:
        yield f"  in FP8 by current scaling: {_verdicts(row.if_quantized, style)}"
        yield from (f"  {line}" for line in _obstacles(row.if_quantized))


def _kernel(row: KernelRow, style: Style) -> str:
    what = f"becomes {row.kernel}" if row.kernel else "is left to XLA"
    return f"{style.paint(row.location, _BOLD)}: {row.op} {what}: {row.reason}"


def _verdicts(answers: Sequence[Answer], style: Style) -> str:
    if len(answers) == 1:
        return _verdict(answers[0], style)
    return ", ".join(f"{each.target} {_verdict(each, style)}" for each in answers)


def _verdict(answer: Answer, style: Style) -> str:
    return style.paint(answer.verdict, _COLOURS[answer.verdict])


def _obstacles(answers: Sequence[Answer]) -> Iterator[str]:
    """Each obstacle once, with the targets that it is one for, unless for all."""
    targets: dict[Hindrance, list[str]] = {}
    for answer in answers:
        for each in answer.obstacles if answer.verdict != NOT_FP8 else ():
            targets.setdefault(each, []).append(answer.target)
    for each, names in targets.items():
        whom = "" if len(names) == len(answers) else f" ({', '.join(names)})"
        yield f"  {each.part}: {each.message} [{each.kind}]{whom}"
        yield f"    at {each.location}; edit: {each.edit}"


def _summary(explanation: Explanation, style: Style) -> Iterator[str]:
    count = len(explanation.rows)
    dots = "1 dot or convolution" if count == 1 else f"{count} dots and convolutions"
    for target in explanation.targets:
        device = "" if target == "fp8" else f" on {explanation.device}"
        parts = _counted(explanation.counts(target), style)
        yield f"{explanation.file}: {dots} for {target}{device}: {parts}"
        if any(row.if_quantized for row in explanation.rows):
            parts = _counted(explanation.counts_if_quantized(target), style)
            yield f"{explanation.file}: in FP8 by current scaling for {target}{device}: {parts}"


def _counted(counts: Mapping[str, int], style: Style) -> str:
    return ", ".join(
        style.paint(f"{number} {verdict}", _COLOURS[verdict]) if number else f"0 {verdict}"
        for verdict, number in counts.items()
    )


def warnings_page(name: str, warnings: Sequence[LintWarning], style: Style) -> str:
    """One line a warning, in MLIR's form, and a line of summary."""
    lines = [
        f"{style.paint(each.location, _BOLD)}: {style.paint('warning:', _WARNING)} {each.message}; "
        f"{each.edit} [{each.rule}]"
        for each in warnings
    ]
    counts = Counter(each.rule for each in warnings)
    parts = ", ".join(f"{number} {rule}" for rule, number in counts.items())
    total = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
    lines.append(f"{name}: {total}: {parts}" if warnings else f"{name}: no warnings")
    return "\n".join(lines) + "\n"
