"""Sums and products of up to 10^7 numbers against f64: the errors, and what they may be at most.

    python test/exhaustive/long_sums.py [--json test/exhaustive/results/long_sums.json]

Not a test that pytest runs: a minute, and 4 GB of memory. What `--json` records is what
docs/numerics.md says of long sums; test/lowering/loops/test_long_sums.py has the shorter ones.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
from results import load, save

import mlir_fp8

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
from long_sum_cases import (  # pyright: ignore[reportMissingImports]
    LongSum,
    convolution_of,
    dot_of,
    prefixes_of,
    sum_of,
)

F32, BF16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)
F8 = np.dtype(ml_dtypes.float8_e4m3fn)


def cases(count: int) -> Iterator[LongSum]:
    """Sums of `count` numbers each, to few results."""
    yield sum_of("sum, inner", (2, count), 1)
    yield sum_of("sum, outer", (count, 3), 0)
    yield sum_of("sum, middle", (2, count, 3), 1)
    yield sum_of("sum, first and last", (count // 10, 3, 10), 0, 2)
    yield prefixes_of("cumulative sum", count)
    for element, dtype in (("f32", F32), ("bf16", BF16), ("f8E4M3FN", F8)):
        yield dot_of(
            f"dot, 1 row, k x n, {element}", "mk,kn->mn", element, dtype, m=1, n=3, k=count
        )
        yield dot_of(
            f"dot, 1 row, n x k, {element}", "mk,nk->mn", element, dtype, m=1, n=3, k=count
        )
        yield dot_of(f"dot, 13 rows, {element}", "km,kn->mn", element, dtype, m=13, n=3, k=count)
    if count < 10**7:  # which takes 10 GB
        yield dot_of("dot, 97 rows, f8E4M3FN", "km,kn->mn", "f8E4M3FN", F8, m=97, n=2, k=count)
    side = round((count / 16) ** 0.5)
    yield convolution_of("convolution", (side + 3, side + 3, 16), (side, side, 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="record the results in this file")
    options = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for count in (10**3, 10**5, 10**6, 10**7):
        for case in cases(count):
            arrays = case.arrays(np.random.default_rng(0))
            (got,) = mlir_fp8.compile(case.text, cache=False)(*arrays)
            error, bound = case.error(got, arrays), case.roundings * 2.0**-24
            print(f"{case.name:28s} {count:9d} {error:.1e} of {bound:.1e}", flush=True)
            assert error <= bound, case.name
            rows.setdefault(case.name, {})[str(count)] = float(f"{error:.1e}")
    if options.json is not None:
        save(options.json, {**load(options.json), "errors": rows})


if __name__ == "__main__":
    main()
