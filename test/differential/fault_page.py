"""Write the faults of judges into docs/numerics.md: `python test/differential/fault_page.py`."""

import json
from pathlib import Path

from judge_faults import JUDGE_FAULTS

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "docs" / "numerics.md"
RESULTS = Path(__file__).parent / "RESULTS.json"
_BEGIN, _END = "<!-- judge-faults -->", "<!-- /judge-faults -->"


def page() -> str:
    """The section, between its markers."""
    rows = [
        f"| {fault.name} | {' and '.join(fault.judges)} | {fault.reason} | {fault.shown_by} |"
        for fault in JUDGE_FAULTS
    ]
    lines = [
        _BEGIN,
        "",
        "## Judges and where they are wrong",
        "",
        "`python test/differential/run.py` makes random StableHLO programs over all types and runs",
        "each by native code and other judges. Where a result has one right value it is compared",
        "to the bit, with the sign of zero and the bits of moved NaNs; functions such as `tanh`",
        "within 2 steps in f32, 4 in f64 and one in narrow types, CHLO's within 2e-5 (f64: 1e-10).",
        "A difference is laid to the one op that makes it, on operands that are the same for all.",
        "",
        *_runs(),
        "",
        "What a run calls ours has become a case in [cases/](../test/differential/cases), mended,",
        "or a row below.",
        "",
        "Each row below has an example in",
        "[judge_faults.py](../test/differential/judge_faults.py), on which a test finds the judge",
        "still wrong and native code right.",
        "",
        "| what | judge | what it does | what shows it |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
        _END,
    ]
    return "\n".join(lines)


def _runs() -> list[str]:
    lines = [
        "| judges | programs | seed | run by two or more | differences: ours | by known faults |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for judges, run in json.loads(RESULTS.read_text()).items():
        ours, faults = sum(run["ours"].values()), sum(run["faults"].values())
        row = (judges, run["programs"], run["seed"], run["judged"], ours, faults)
        lines.append(f"| {' | '.join(map(str, row))} |")
    return lines


def with_section(text: str, section: str) -> str:
    """`text` with `section` where its markers are, or at its end."""
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        return f"{text.rstrip()}\n\n{section}\n"
    return before + section + rest.partition(_END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(with_section(DOCUMENT.read_text(), page()))
