"""Check the compiled cast of every f32, all 2**32 of them, to one or more formats.

    python test/exhaustive/cast_all_f32.py f8E4M3FN f8E5M2 [--saturate] [--rounding toward-zero]
        [--json test/exhaustive/results/casts.json]
    python test/exhaustive/cast_all_f32.py f8E4M3FN f8E5M2 --of-arrays [--saturate]

Not a test that pytest runs: some ten seconds per format. The exhaustive tables of docs/numerics.md
are made of what `--json` records.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from results import load, save

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode
from mlir_fp8.dialects.rounding_modes import RoundingMode, rounding_mode

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
from rounding_table import table  # pyright: ignore[reportMissingImports]

CHUNK = 1 << 22


def runs(
    fmt: FloatFormat, sign: int, *, saturate: bool, rounding: RoundingMode
) -> tuple[np.ndarray, np.ndarray]:
    """First bits of each run of f32 that round alike (int64, with an end), and the runs' codes."""
    known = table(fmt)
    turns = known.midpoints if rounding is RoundingMode.NEAREST_EVEN else known.values
    with np.errstate(over="ignore"):
        turns = turns.astype(np.float32).view(np.uint32).astype(np.int64)
    edges = np.array([0, 1, *turns, *(turns + 1), 0x7F80_0000, 0x7F80_0001, 1 << 31])
    edges = np.unique(edges) + sign

    def rounded(bits: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            numbers = bits.astype(np.uint32).view(np.float32).astype(np.float64)
        if rounding is RoundingMode.NEAREST_EVEN:
            return known.round(numbers, saturate=saturate and fmt.is_small)
        codes = [encode(fmt, float(x), saturate=saturate, rounding=rounding) for x in numbers]
        return np.array(codes, known.dtype)

    codes = rounded(edges[:-1])
    # Rounding is monotonic: a run that ends as it begins is all alike.
    np.testing.assert_array_equal(codes, rounded(edges[1:] - 1))
    return edges, codes


Cast = Callable[[np.ndarray], np.ndarray]


def cast_of_arrays(fmt: FloatFormat, *, saturate: bool) -> Cast:
    """`mlir_fp8.cast`, which casts blocks in a way of its own."""
    return lambda numbers: mlir_fp8.cast(numbers, fmt.name, saturate=saturate)


def cast_of_modules(fmt: FloatFormat, *, saturate: bool, rounding: RoundingMode) -> Cast:
    """A compiled `stablehlo.convert`."""
    compiled = mlir_fp8.compile(
        f"""func.func @main(%x: tensor<{CHUNK}xf32>) -> tensor<{CHUNK}x{fmt.name}> {{
          %y = stablehlo.convert %x : (tensor<{CHUNK}xf32>) -> tensor<{CHUNK}x{fmt.name}>
          return %y : tensor<{CHUNK}x{fmt.name}>
        }}""",
        saturate=saturate,
        rounding=rounding.option,
    )
    return lambda numbers: compiled(numbers)[0]


def wrong_casts(
    fmt: FloatFormat, cast: Cast, *, saturate: bool, rounding: RoundingMode
) -> list[tuple[int, int, int]]:
    """Bits of f32, code and right code of the first wrong casts of each chunk."""
    wrong = []
    for sign in (0, 1 << 31):
        edges, codes = runs(fmt, sign, saturate=saturate, rounding=rounding)
        for start in range(sign, sign + (1 << 31), CHUNK):
            want = np.repeat(codes, np.diff(np.clip(edges, start, start + CHUNK)))
            numbers = np.arange(start, start + CHUNK, dtype=np.uint32).view(np.float32)
            got = cast(numbers).view(want.dtype)
            alike = got == want
            if fmt.native:  # the processor keeps the payload of a NaN
                alike |= np.isnan(got.view(fmt.dtype)) & np.isnan(want.view(fmt.dtype))
            bad = np.flatnonzero(~alike)[:5]
            wrong += [(start + int(i), int(got[i]), int(want[i])) for i in bad]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("formats", nargs="+", choices=[*SMALL_FLOATS, "bf16", "f16"])
    parser.add_argument("--saturate", action="store_true")
    modes = ["nearest-even", "toward-zero"]
    parser.add_argument("--rounding", choices=modes, default=modes[0])
    parser.add_argument("--of-arrays", action="store_true", help="mlir_fp8.cast, not a module")
    parser.add_argument("--json", type=Path, help="add the outcomes to this file")
    arguments = parser.parse_args()
    rounding = rounding_mode(arguments.rounding)
    wide = [name for name in arguments.formats if name not in SMALL_FLOATS]
    if rounding is not RoundingMode.NEAREST_EVEN and wide:
        parser.error(f"{wide[0]} is rounded to nearest, whatever the option says")
    if arguments.of_arrays and (arguments.json or rounding is not RoundingMode.NEAREST_EVEN):
        parser.error("--of-arrays rounds to nearest, and is not recorded")
    failed = False
    for name in arguments.formats:
        started = time.perf_counter()
        fmt, saturate = FORMATS[name], arguments.saturate
        if arguments.of_arrays:
            cast = cast_of_arrays(fmt, saturate=saturate)
        else:
            cast = cast_of_modules(fmt, saturate=saturate, rounding=rounding)
        wrong = wrong_casts(fmt, cast, saturate=saturate, rounding=rounding)
        seconds = time.perf_counter() - started
        outcome = "WRONG" if wrong else "all 4294967296 right"
        print(f"{name}: {outcome}, {seconds:.0f} s", flush=True)
        for bits, code, right in wrong[:5]:
            print(f"  {bits:#010x} gives {code:#x}, not {right:#x}")
        failed |= bool(wrong)
        if arguments.json:
            mode = arguments.rounding + (", saturating" if arguments.saturate else "")
            record(arguments.json, name, mode, len(wrong))
    return int(failed)


def record(file: Path, name: str, mode: str, wrong: int) -> None:
    """Add an outcome; `wrong` counts five casts of a chunk at most."""
    data = load(file)
    data.setdefault("all f32", {}).setdefault(name, {})[mode] = {"cases": 1 << 32, "wrong": wrong}
    save(file, data)


if __name__ == "__main__":
    sys.exit(main())
