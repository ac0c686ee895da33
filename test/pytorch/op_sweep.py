"""Every op that PyTorch has samples for, exported and held to eager.

`python test/pytorch/op_sweep.py` writes `OPS.json`: how many samples of each dtype agree, are
refused by name, differ or fail, and of what is no agreement, which ops. PyTorch's own table of ops
(`op_db`) gives the samples; of each op and dtype, `--samples` of them, evenly chosen. Parts of the
table (`--part`) are joined by `--merge`.
"""

import argparse
import json
import re
import warnings
from pathlib import Path
from typing import Any

import torch
from op_samples import sweep

RESULTS = Path(__file__).parent / "OPS.json"
DTYPES = ("float32", "int64", "bool", "bfloat16", "complex64")
_PLACE = re.compile(r"^\S+:\d+:\d+: ")


def record(names: str, dtypes: Any, count: int, part: tuple[int, int]) -> dict[str, Any]:
    """What is written: `samples[dtype][outcome]`, `ops[outcome][name][dtype]` a word."""
    made: dict[str, Any] = {"torch": torch.__version__, "samples": {}, "ops": {}}
    for name, dtype, kind, word in sweep(names, dtypes, count, part):
        counts = made["samples"].setdefault(dtype, {})
        counts[kind] = counts.get(kind, 0) + 1
        if kind in ("agrees", "no sample"):
            continue
        word = _PLACE.sub("", word)
        print(f"{kind}\t{name}\t{dtype}\t{word}", flush=True)
        made["ops"].setdefault(kind, {}).setdefault(name, {})[dtype] = word
    return made


def merged(records: list[dict[str, Any]]) -> dict[str, Any]:
    """One record of records of parts."""
    made: dict[str, Any] = {"torch": records[0]["torch"], "samples": {}, "ops": {}}
    for each in records:
        for dtype, counts in each["samples"].items():
            held = made["samples"].setdefault(dtype, {})
            for kind, count in counts.items():
                held[kind] = held.get(kind, 0) + count
        for kind, ops in each["ops"].items():
            for name, words in ops.items():
                made["ops"].setdefault(kind, {}).setdefault(name, {}).update(words)
    return made


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--names", default="", help="only ops whose name holds this")
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--part", default="0/1", help="every n-th op: i/n")
    parser.add_argument("--merge", nargs="*", help="records of parts to join")
    parser.add_argument("-o", default=str(RESULTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.merge:
        made = merged([json.loads(Path(each).read_text()) for each in options.merge])
    else:
        first, step = map(int, options.part.split("/"))
        dtypes = options.dtypes.split(",")
        made = record(options.names, dtypes, options.samples, (first, step))
    Path(options.o).write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    print(json.dumps(made["samples"]))


if __name__ == "__main__":
    main()
