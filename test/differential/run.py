"""Run random programs through the judges: `python test/differential/run.py --programs 2000`.

Every program is run by native code and by each other judge, and every difference is explained: by
a fault that judge_faults.py lists, or as ours, which becomes a file in cases/. The same seed gives
the same programs.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from campaign import Tally, campaign

RESULTS = Path(__file__).parent / "RESULTS.json"
_PART = 25


def _part(seed: int, numbers: Sequence[int], judges: Sequence[str]) -> Tally:
    return campaign(seed, numbers, judges, writes_cases=True)


def run(programs: int, seed: int, judges: Sequence[str], jobs: int) -> Tally:
    """Judge the first `programs` programs of `seed`, and show how far it is."""
    total = Tally()
    ranges = [range(start, min(start + _PART, programs)) for start in range(0, programs, _PART)]
    started = time.monotonic()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(_part, seed, numbers, judges) for numbers in ranges]
        for part in as_completed(parts):
            total.add(part.result())
            each = (time.monotonic() - started) / total.programs
            print(
                f"\r{total.programs}/{programs} programs, {total.judged} judged, "
                f"{total.differing} ours, {each:.2f} s each",
                end="",
                file=sys.stderr,
                flush=True,
            )
    print(file=sys.stderr)
    return total


def summary(total: Tally) -> list[str]:
    """The page that `run.py` prints."""
    share = 100 * total.judged / max(total.programs, 1)
    lines = [
        f"programs               {total.programs}",
        f"run by llvm and another {total.judged} ({share:.1f} %)",
        *(f"  by {judge:<12} {count}" for judge, count in sorted(total.ran.items())),
    ]
    sections = {
        "differences that are ours": total.ours,
        "differences by a known fault of a judge": total.faults,
        "of those, confirmed by no other way": total.unconfirmed,
        "refusals": total.refusals,
    }
    for title, counter in sections.items():
        lines.append(f"{title}: {sum(counter.values())}")
        lines += [f"  {count:5} {name}" for name, count in counter.most_common()]
    return lines


def main() -> int:
    """0 where no difference is ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judges", default="llvm,interpreter,xla")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--record",
        action="store_true",
        help=f"write {RESULTS.name}, one run for each set of judges",
    )
    options = parser.parse_args()
    judges = options.judges.split(",")
    total = run(options.programs, options.seed, judges, options.jobs)
    print("\n".join(summary(total)))
    if options.record:
        runs = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        runs[options.judges] = {"seed": options.seed, **total.as_json()}
        RESULTS.write_text(json.dumps(runs, indent=1) + "\n")
    return 1 if total.differing else 0


if __name__ == "__main__":
    sys.exit(main())
