"""Every cast from and to small floats: all values of 8 and 16 bits, edges of what is wider.

    python test/exhaustive/casts.py [SOURCE...] [--judges=llvm,saturating,interpreter,xla]

Writes what it found to results/casts.json, over what was there of the same types and judge. All
values of f32 are the business of cast_all_f32.py, which writes to the same file. Exit status 1
where native code is wrong.
"""

import argparse
import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cast_cases import TYPES, casts_from, exact, inputs
from results import load, save, shortened

import mlir_fp8
from mlir_fp8.compiling.entry import entry_signature
from mlir_fp8.dialects.float_formats import SMALL_FLOATS
from mlir_fp8.judging import judges

RESULTS = Path(__file__).parent / "results" / "casts.json"
JUDGES = ("llvm", "saturating", "interpreter", "xla")
"""`saturating` is native code too, compiled with `saturate`."""
Row = dict[str, Any]


@functools.cache
def _exact(source: str, target: str, saturate: bool) -> tuple[np.ndarray, np.ndarray]:
    values = inputs(source, target)
    return values, exact(source, target, values, saturate=saturate)


def judged(source: str, targets: list[str], judge: str) -> dict[str, Row]:
    """By target: the counts of a run, or the reason for none."""
    saturate, is_other = judge == "saturating", judge in ("interpreter", "xla")
    arrays = [_exact(source, target, saturate)[0] for target in targets]
    try:
        module = mlir_fp8.load(module_text(source, targets, [len(array) for array in arrays]))
        if saturate:
            got = mlir_fp8.compile(module, saturate=True)(*arrays)
        else:
            got = judges.run_by(judge, module, arrays, "main", entry_signature(module)[1])
    except mlir_fp8.Fp8Error as error:
        if len(targets) == 1:
            return {targets[0]: {"refused": shortened(str(error).splitlines()[0])}}
        half = len(targets) // 2
        return judged(source, targets[:half], judge) | judged(source, targets[half:], judge)
    return {
        target: count(*_exact(source, target, saturate), result, target if is_other else "")
        for target, result in zip(targets, got, strict=True)
    }


def module_text(source: str, targets: list[str], sizes: list[int]) -> str:
    """One function with an argument and a result for each target."""
    takes = [f"tensor<{size}x{source}>" for size in sizes]
    gives = [f"tensor<{size}x{target}>" for size, target in zip(sizes, targets, strict=True)]
    body = "\n".join(
        f"%r{i} = stablehlo.convert %a{i} : ({a}) -> {r}"
        for i, (a, r) in enumerate(zip(takes, gives, strict=True))
    )
    arguments = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(takes))
    names = ", ".join(f"%r{i}" for i in range(len(targets)))
    results = ", ".join(gives)
    return (
        f"func.func @main({arguments}) -> ({results}) {{\n{body}\nreturn {names} : {results}\n}}\n"
    )


def count(values: np.ndarray, want: np.ndarray, got: np.ndarray, lenient: str) -> Row:
    """How many results are wrong, and the bits of the first; any NaN is as good as another.

    In a `lenient` format without NaN so is either zero for it: nothing says which one it becomes.
    """
    alike = _bits(got) == _bits(want)
    if (
        lenient in SMALL_FLOATS
        and not SMALL_FLOATS[lenient].has_nan
        and values.dtype.kind not in "iu"
    ):
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            alike |= np.isnan(values) & (got == 0)
    if want.dtype.kind != "i" and want.dtype.kind != "u":
        alike |= np.isnan(got) & np.isnan(want)
    row: Row = {"cases": len(values), "wrong": int((~alike).sum())}
    if row["wrong"]:
        i = int(np.argmin(alike))
        parts = {"operand": values, "got": got, "exact": want}
        row["first"] = {name: hex(int(_bits(part)[i])) for name, part in parts.items()}
    return row


def _bits(array: np.ndarray) -> np.ndarray:
    return array.view(f"uint{8 * array.dtype.itemsize}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--judges", type=lambda text: text.split(","), default=list(JUDGES))
    arguments = parser.parse_args()
    failed = False
    for source in arguments.sources or TYPES:
        wide = source not in SMALL_FLOATS and source not in ("bf16", "f16")
        targets = casts_from(source)
        found: dict[str, dict[str, Row]] = {target: {} for target in targets}
        for judge in arguments.judges:
            narrow = [name for name in targets if name in SMALL_FLOATS]
            for target, row in judged(
                source, narrow if judge == "saturating" else targets, judge
            ).items():
                found[target][judge] = row
                if row.get("wrong"):
                    print(f"{judge}: WRONG {source} to {target}: {row}", flush=True)
                    failed |= judge in ("llvm", "saturating")
        data = load(RESULTS)
        stored = data.setdefault("results", {}).setdefault(source, {})
        for target, rows in found.items():
            stored.setdefault(target, {}).update(rows)
        save(RESULTS, data)
        print(f"{source}: {'edges' if wide else 'all values'} to {len(targets)} types", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
