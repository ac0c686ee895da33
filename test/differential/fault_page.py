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
        *_run(),
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


def _run() -> list[str]:
    record = json.loads(RESULTS.read_text())
    ran = ", ".join(f"{count} by {judge}" for judge, count in record["ran"].items())
    faults = sum(record["faults"].values())
    programs, seed = record["programs"], record["seed"]
    wrong = sum(record["ours"].values())
    return [
        f"`python test/differential/run.py --programs {programs} --seed {seed}` ran {programs}",
        f"random StableHLO programs over all types, {record['judged']} of them by native code and",
        f"at least one other judge ({ran}).",
        f"{_counted(wrong)} was native code's; {faults} were faults of a judge that are listed",
        "here. Where a result has one right value it is compared to the bit, the sign of zero and",
        "the bits of moved NaNs included; functions such as `tanh` within 2 steps in f32, 4 in f64",
        "and one in narrow types.",
    ]


def _counted(differences: int) -> str:
    return "No difference" if not differences else f"{differences} differences"


def with_section(text: str, section: str) -> str:
    """`text` with `section` where its markers are, or at its end."""
    before, begin, rest = text.partition(_BEGIN)
    if not begin:
        return f"{text.rstrip()}\n\n{section}\n"
    return before + section + rest.partition(_END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(with_section(DOCUMENT.read_text(), page()))
