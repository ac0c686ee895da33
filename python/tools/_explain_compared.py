"""What XLA:GPU made of each dot, as text that is read on a terminal."""

from collections.abc import Iterator

from mlir_fp8.explaining.compared import Comparison, Kernel, Outcome
from mlir_fp8.tools._explain_page import Style

_BOLD, _GREEN, _RED = "1", "32", "31"


def compared_page(comparison: Comparison, style: Style) -> str:
    """A row for each dot, those products that belong to none, and a line of summary."""
    lines: list[str] = []
    for outcome in comparison.outcomes:
        lines += _row(outcome, style)
    lines += [f"of no dot: {_spelled(each)}" for each in comparison.others]
    count, wrong = len(comparison.outcomes), len(comparison.disagreements)
    dots = "1 dot or convolution" if count == 1 else f"{count} dots and convolutions"
    fp8 = sum(any(each.is_fp8 for each in one.kernels) for one in comparison.outcomes)
    lines += ["", f"{comparison.file}: {dots} in {comparison.hlo}: {fp8} in FP8, "
              f"{count - wrong} as predicted, {wrong} not"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _row(outcome: Outcome, style: Style) -> Iterator[str]:
    row = outcome.row
    names = dict.fromkeys(_spelled(each) for each in outcome.kernels)
    became = " or ".join(names) or "nothing with its place"
    place = style.paint(row.location, _BOLD)
    yield f"{place}: {became}: {row.op} {row.operands} -> {row.result}"
    if row.scope:
        yield f"  {row.scope}"
    predicted = row.answers[0].verdict
    if outcome.disagreement:
        yield f"  {style.paint('not as predicted', _RED)} ({predicted}): {outcome.disagreement}"
    else:
        yield f"  {style.paint('as predicted', _GREEN)}: {predicted}"


def _spelled(kernel: Kernel) -> str:
    return f"{kernel.name} {kernel.operands}".rstrip() + f" at {kernel.location}"
