"""docs/ops.md from results.json: `python test/ops/table.py`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from record import LETTERS, REFUSED, RESULTS, is_bad
from sample_bounds import TOLERANCES
from sample_catalog import CLASSES, SAMPLES, class_of, key
from sample_judges import ASKED_OF_XLA
from scaled import ELEMENTS
from scaled import RESULTS as SCALED

PAGE = Path(__file__).parents[2] / "docs" / "ops.md"
ABSENT = "\N{EN DASH}"
_INTRODUCTION = """\
# Ops by element type

For whoever asks whether an op runs on a type, and who confirms the results. Made by
`python test/ops/table.py` from what `python test/ops/record.py` found: each op of StableHLO and
CHLO in one small program or more ([test/ops](../test/ops)), over every element type that the
specification gives it, on odd shapes. A cell says who agrees with native code:

- **I**: StableHLO's reference interpreter; where narrow floats or CHLO are in the program, after
  `accumulate-in-f32`, `float-normalization` and StableHLO's own decomposition of CHLO;
- **X**: XLA:CPU, asked on one or two types of a class;
- **N**: numpy, where neither can run it ([sample_references.py](../test/ops/sample_references.py));
- **refused**: `mlir-fp8` says so in one line, which the footnote gives: OP is the row's op, T the
  element type. Where a part is refused, the types or forms are named;
- **{absent}**: the specification does not have it.

Integers, booleans and what rounds once are equal; functions and what rounds several times are
within {f32} (f32) or {f64} (f64) relative to numbers beyond 1, narrow floats within one step.
In f8E8M0FNU, where the judges give numbers for zero and below, our NaN is not judged. The column
`other` is of programs with fixed types: tokens, quantized types, bitcasts between types.
"""


@dataclass
class _Footnotes:
    """Messages by number, from 1."""

    messages: list[str] = field(default_factory=list)

    def mark(self, message: str) -> str:
        if message not in self.messages:
            self.messages.append(message)
        return f"[^{self.messages.index(message) + 1}]"


@dataclass(frozen=True)
class _Outcome:
    """What was found for one form of an op over one element type."""

    form: str
    element: str
    verdict: str


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULTS.read_text())))
    return 0


def page(results: dict[str, dict[str, str]]) -> str:
    """The page of `results`; a `ValueError` names what is wrong, crashed or judged by nobody."""
    notes = _Footnotes()
    bounds = {name: f"{bound:g}" for name, bound in TOLERANCES.items()}
    parts = [_INTRODUCTION.format(absent=ABSENT, **bounds)]
    for dialect, title in (("stablehlo", "StableHLO"), ("chlo", "CHLO")):
        ops = sorted({each.op for each in SAMPLES if each.op.startswith(f"{dialect}.")})
        head = ["op", *CLASSES]
        rows = [_row(op, _outcomes(op, results), notes) for op in ops]
        lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
        parts.append("\n".join([f"## {title}\n", *lines, ""]))
    parts.append(_scaled(json.loads(SCALED.read_text()), notes))
    marks = [f"[^{number}]: {message}" for number, message in enumerate(notes.messages, 1)]
    return "\n".join([*parts, *marks, ""])


def _scaled(results: dict[str, dict[str, str]], notes: _Footnotes) -> str:
    """The table of ops of the `fp8` dialect; ops that no judge confirms are a `ValueError`."""
    lines = [_line(["op, scales", *ELEMENTS]), _line(["---"] * (1 + len(ELEMENTS)))]
    for case, found in results.items():
        if wrong := [each for each, verdict in found.items() if verdict == "none"]:
            raise ValueError(f"{case} over {', '.join(wrong)}: no judge agrees")
        cells = [
            f"refused{notes.mark(text.removeprefix(REFUSED))}" if text.startswith(REFUSED) else text
            for text in found.values()
        ]
        op, kind = case.split(" ", 1)
        lines.append(_line([f"`{op}`, {kind}", *cells]))
    text = """## fp8

Made by `python test/ops/scaled.py`: matrices of each element type, with one scale, one for each
row, those of MX and those of NVFP4. The judges run the decomposition, to the same bits; XLA:CPU
refuses f6.
"""
    return "\n".join([text, *lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _outcomes(op: str, results: dict[str, dict[str, str]]) -> list[_Outcome]:
    found = [
        _Outcome(sample.form, element, verdict)
        for sample in SAMPLES
        if sample.op == op
        for element, verdict in results[key(sample)].items()
    ]
    for each in found:
        if is_bad(each.verdict):
            raise ValueError(f"{op} {each.form} over {each.element}: {each.verdict or 'no judge'}")
    return found


def _row(op: str, outcomes: Sequence[_Outcome], notes: _Footnotes) -> list[str]:
    cells = [
        _cell(op, [each for each in outcomes if class_of(each.element) == name], notes)
        for name in CLASSES
    ]
    return [f"`{op.split('.', maxsplit=1)[1]}`", *cells]


def _cell(op: str, outcomes: Sequence[_Outcome], notes: _Footnotes) -> str:
    if not outcomes:
        return ABSENT
    refused = [each for each in outcomes if each.verdict.startswith(REFUSED)]
    compiled = [each for each in outcomes if each not in refused]
    parts = [_letters(compiled)] if compiled else []
    by_message: dict[str, list[_Outcome]] = {}
    for each in refused:
        by_message.setdefault(general(op, each.element, each.verdict), []).append(each)
    for message, those in by_message.items():
        which = "" if len(those) == len(outcomes) else f"{_which(those, outcomes)} "
        parts.append(f"{which}refused{notes.mark(message)}")
    return "; ".join(parts)


def general(op: str, element: str, verdict: str) -> str:
    """The message of a refusal with T for the element type and OP for the op."""
    message = verdict.removeprefix(REFUSED).replace(f"'{op}'", "'OP'")
    if element:
        message = message.replace(element, "T")
    return message.replace("|", "\\|").replace("<", "&lt;")


def _letters(compiled: Sequence[_Outcome]) -> str:
    """The judges of all, or all judges where no one judged everything."""
    given = [set(each.verdict.split()) for each in compiled]
    of_all = [
        letter
        for letter in LETTERS.values()
        if any(letter in each for each in given)
        and all(
            letter in letters or (letter == LETTERS["xla"] and each.element not in ASKED_OF_XLA)
            for each, letters in zip(compiled, given, strict=True)
        )
    ]
    if of_all:
        return " ".join(of_all)
    return " or ".join(letter for letter in LETTERS.values() if any(letter in s for s in given))


def _which(those: Sequence[_Outcome], outcomes: Sequence[_Outcome]) -> str:
    forms, elements = ([getattr(each, name) for each in those] for name in ("form", "element"))
    named = []
    if set(forms) != {each.form for each in outcomes}:
        named.append(", ".join(dict.fromkeys(form or "plain" for form in forms)))
    if set(elements) != {each.element for each in outcomes}:
        named.append(", ".join(dict.fromkeys(elements)))
    return " over ".join(named)


if __name__ == "__main__":
    sys.exit(main())
