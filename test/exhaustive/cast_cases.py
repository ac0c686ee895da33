"""Inputs of casts that tell a right rounding from a wrong one, and the exact results."""

import sys
from pathlib import Path

import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
from rounding_table import table  # pyright: ignore[reportMissingImports]

INTEGERS = ("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64")
TYPES = (*FORMATS, *INTEGERS)
_RANDOM = 1024


def casts_from(source: str) -> list[str]:
    """The types that casts from `source` go to: all, but those in which nothing is rounded."""
    if source in INTEGERS:
        return list(FORMATS)
    return [name for name in TYPES if name != source]


def inputs(source: str, target: str) -> np.ndarray:
    """All values of a type of at most 16 bits; of others what is near the roundings to `target`."""
    dtype = element_dtype(source)
    if source in NARROW_FLOATS:
        return table(FORMATS[source]).all_codes.view(dtype)
    if source in INTEGERS:
        return _integers(dtype, target)
    numbers = _floats(dtype, target)
    return np.concatenate([numbers, -numbers, [np.nan, -np.nan]]).astype(dtype)


def _floats(dtype: np.dtype, target: str) -> np.ndarray:
    """Non-negative: where the rounding changes, two neighbours on each side, and traps."""
    random = np.random.default_rng(len(target))
    with np.errstate(all="ignore"):
        edges = _edges(target).astype(dtype)
        spread = np.ldexp(random.random(_RANDOM), random.integers(-160, 160, _RANDOM))
        # A little off the edge, by less than f32 can tell: what rounds to f32 first gets a tie.
        traps = [edges * (1 + sign * 2.0**-power) for sign in (1, -1) for power in (26, 30, 40, 50)]
        numbers = np.concatenate([edges, *traps, spread.astype(dtype), [0.0, np.inf]]).astype(dtype)
        up, down = np.nextafter(numbers, dtype.type(np.inf)), np.nextafter(numbers, dtype.type(0))
        beyond = np.nextafter(up, dtype.type(np.inf)), np.nextafter(down, dtype.type(0))
    return np.unique(np.concatenate([numbers, up, down, *beyond]))


def _edges(target: str) -> np.ndarray:
    """f64: values and midpoints of a small format, some of those of wider ones; else powers."""
    if target in NARROW_FLOATS:
        known = table(FORMATS[target])
        step = 1 if FORMATS[target].is_small else 37
        chosen = np.r_[0 : len(known.values) : step, -8:0]
        return np.concatenate([known.values[chosen], known.midpoints[chosen]])
    if target == "f32":
        bits = np.random.default_rng(1).integers(0, 0x7F7F_FFFE, _RANDOM, np.uint32)
        bits = np.concatenate([bits, np.arange(64, dtype=np.uint32), [0x7F7F_FFFF, 0x7F_FFFF]])
        values = bits.astype(np.uint32).view(np.float32).astype(np.float64)
        above = (bits + 1).astype(np.uint32).view(np.float32).astype(np.float64)
        above[~np.isfinite(above)] = 2.0**128
        return np.concatenate([values, (values + above) / 2])
    powers = 2.0 ** np.arange(-2, 66)
    return np.concatenate([powers, powers + 0.5, powers - 1, powers + 1])


def _integers(dtype: np.dtype, target: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    if dtype.itemsize <= 2:
        return np.arange(limits.min, limits.max + 1).astype(dtype)
    edges = _edges(target)
    near = {int(edge) for edge in edges[np.isfinite(edges)] if edge < 2.0**65}
    for power in range(65):
        near.update((1 << power) + (1 << low) for low in range(power))
    near.update(int(x) for x in np.random.default_rng(2).integers(0, 1 << 62, _RANDOM))
    near = {value + step for value in near for step in (-2, -1, 0, 1, 2)}
    values = [x for value in near for x in (value, -value) if limits.min <= x <= limits.max]
    return np.array(sorted(set(values)), dtype)


def exact(source: str, target: str, values: np.ndarray, *, saturate: bool = False) -> np.ndarray:
    """What the cast of `values` must give, of the dtype that holds `target`."""
    if target in INTEGERS:
        return _truncated(_numbers(source, values), element_dtype(target))
    if target == "f64":
        # Of integers Python's own conversion, to nearest even; of floats it is exact.
        return (
            np.array([float(x) for x in values.tolist()])
            if source in INTEGERS
            else (_numbers(source, values))
        )
    if target == "f32":
        with np.errstate(all="ignore"):  # one rounding, by the processor
            return _numbers(source, values).astype(np.float32)
    fmt = FORMATS[target]
    codes = table(fmt).round(_numbers(source, values), saturate=saturate and fmt.is_small)
    return codes.view(fmt.dtype)


def _numbers(source: str, values: np.ndarray) -> np.ndarray:
    """f64: exact, but for integers beyond 2^53, which are rounded to odd."""
    if source in NARROW_FLOATS:
        fmt = FORMATS[source]
        return table(fmt).decode(values.view(f"uint{fmt.storage_bits}"))
    if source not in INTEGERS:
        return values.astype(np.float64)
    return np.array([_to_odd(x) for x in values.tolist()], np.float64)


def _to_odd(value: int) -> float:
    excess = max(0, abs(value).bit_length() - 53)
    kept = abs(value) >> excess
    if kept << excess != abs(value):
        kept |= 1
    return float(kept << excess) * (-1 if value < 0 else 1)


def _truncated(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Toward zero; the nearest integer that there is beyond the range, and 0 for NaN."""
    limits = np.iinfo(dtype)

    def integer(number: float) -> int:
        if number != number:
            return 0
        if abs(number) == np.inf:
            return limits.max if number > 0 else limits.min
        return min(max(int(number), limits.min), limits.max)

    return np.array([integer(x) for x in numbers.tolist()], dtype)
