"""Every elementwise op on every small float, over all codes and all pairs, by every judge.

    python test/exhaustive/ops.py [FORMAT...] [--judges=llvm,interpreter,xla] [--ops=add,power]

Writes what it found to results/ops.json, over what was there of the same format, op and judge. Not
a test that pytest runs: some minutes per format. Exit status 1 where native code is wrong.
"""

import argparse
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from op_cases import CASES, OpCase
from op_judges import count, operands, run
from results import load, save, shortened

from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.judging.judges import ENGINES

RESULTS = Path(__file__).parent / "results" / "ops.json"
LIBRARIES = {"interpreter": "torch-mlir", "xla": "jaxlib"}
Row = dict[str, Any]


def judged(fmt: FloatFormat, cases: list[OpCase], judges: list[str]) -> dict[str, dict[str, Row]]:
    """By op and judge: the counts of a run, or the reason for none."""
    found: dict[str, dict[str, Row]] = {case.name: {} for case in cases}
    for arity in (1, 2, 3):
        same = [case for case in cases if case.arity == arity]
        if not same:
            continue
        codes = operands(fmt, arity)
        started = time.perf_counter()
        exact = {case.name: case.exact(fmt, codes) for case in same}
        print(f"{fmt.name}, {arity}: exact in {time.perf_counter() - started:.0f} s", flush=True)
        for judge in judges:
            started = time.perf_counter()
            for case, got in zip(same, run(judge, fmt, same, codes), strict=True):
                if isinstance(got, str):
                    found[case.name][judge] = {"refused": shortened(got)}
                else:
                    found[case.name][judge] = count(
                        case, fmt, codes, got, exact[case.name]
                    ).as_json()
            seconds = time.perf_counter() - started
            print(f"{fmt.name}, {arity}: {judge} in {seconds:.0f} s", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("formats", nargs="*", choices=[*SMALL_FLOATS, []], default=[])
    parser.add_argument("--judges", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--ops", type=lambda text: text.split(","))
    arguments = parser.parse_args()
    cases = [case for case in CASES if arguments.ops is None or case.name in arguments.ops]
    failed = False
    for name in arguments.formats or SMALL_FLOATS:
        found = judged(SMALL_FLOATS[name], cases, arguments.judges)
        for op, rows in found.items():
            wrong = rows.get("llvm", {}).get("wrong", 0)
            failed |= bool(wrong)
            if wrong:
                print(f"WRONG {op} {name}: {rows['llvm']}", flush=True)
        data = load(RESULTS)
        for judge in arguments.judges:
            library = LIBRARIES.get(judge, "mlir-fp8")
            data.setdefault("judges", {})[judge] = f"{library} {version(library)}"
        for op, rows in found.items():
            data.setdefault("results", {}).setdefault(op, {}).setdefault(name, {}).update(rows)
        save(RESULTS, data)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
