"""Every sample over every element type: compiled and judged, or refused; into results.json.

Run `python test/ops/record.py`, or with names of ops for those alone, and `table.py` after it.
Several at once, each for some ops, may write to the file.
"""

import fcntl
import json
import sys
from pathlib import Path

from sample_bounds import first_difference, is_fault
from sample_catalog import SAMPLES, key
from sample_groups import Case
from sample_judges import ASKED_OF_XLA, INTERPRETER, NUMPY, XLA, Opinions, judged, native
from samples import Sample

import mlir_fp8

RESULTS = Path(__file__).parent / "results.json"
REFUSED = "refused: "
WRONG = "wrong: "
LETTERS = {"interpreter": "I", "xla": "X", "numpy": "N"}


def main(ops: list[str]) -> int:
    """Record the samples of `ops`, or all; 1 where something is wrong, crashes or has no judge."""
    if unknown := set(ops) - {sample.op for sample in SAMPLES}:
        print(f"no sample is of {', '.join(sorted(unknown))}: add one to samples_*.py, or name ops")
        print("as in `python test/ops/record.py stablehlo.add chlo.erf`")
        return 1
    bad = 0
    mlir_fp8.compile(SAMPLES[0].program("f32"))  # the children find everything loaded
    for sample in SAMPLES:
        if ops and sample.op not in ops:
            continue
        found = recorded(sample)
        _write(key(sample), found)
        for element, verdict in found.items():
            if is_bad(verdict):
                bad += 1
                print(f"{key(sample)} over {element}: {verdict or 'no judge'}", flush=True)
    return 1 if bad else 0


def _write(name: str, found: dict[str, str]) -> None:
    with RESULTS.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        results = json.loads(file.read() or "{}") | {name: found}
        ordered = {each: results[each] for each in map(key, SAMPLES) if each in results}
        file.seek(0)
        file.truncate()
        file.write(json.dumps(ordered, indent=0) + "\n")


def is_bad(verdict: str) -> bool:
    """Whether native code crashed, was wrong, or was judged by nobody."""
    return not verdict or verdict.startswith((WRONG, f"{REFUSED}crash"))


def recorded(sample: Sample) -> dict[str, str]:
    """By element type: the letters of the judges that agree, or `refused: ` and why."""
    cases = [Case(sample, element) for element in sample.elements]
    ours = native(cases)
    compiled = [case for case in cases if not isinstance(ours[case], str)]
    theirs = {judge: judged(judge, compiled) for judge in (NUMPY, INTERPRETER)}
    unheard = [
        case
        for case in compiled
        if case.element in ASKED_OF_XLA
        or all(isinstance(opinions[case], str) for opinions in theirs.values())
    ]
    theirs[XLA] = judged(XLA, unheard)
    return {case.element: _verdict(case, ours, theirs) for case in cases}


def _verdict(case: Case, ours: Opinions, theirs: dict[str, Opinions]) -> str:
    mine = ours[case]
    if isinstance(mine, str):
        return REFUSED + mine
    letters = []
    for judge, opinions in theirs.items():
        other = opinions.get(case, "not asked")
        if isinstance(other, str) or is_fault(case, judge):
            continue
        for index, (left, right) in enumerate(zip(mine, other, strict=True)):
            difference = first_difference(case, left, right, index)
            if difference:
                return f"{WRONG}{difference} by {judge}"
        letters.append(LETTERS[judge])
    return " ".join(sorted(letters))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
