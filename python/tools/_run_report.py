"""What `fp8-run` prints about results."""

from collections.abc import Iterator, Sequence

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec, is_integer, whole_bytes
from mlir_fp8.arrays.values import blocks, text, wide
from mlir_fp8.judging.comparison import Comparison


def values(
    specs: Sequence[TensorSpec], labels: Sequence[str], results: Sequence[np.ndarray]
) -> Iterator[str]:
    """Type and values of each result."""
    for name, spec, array in zip(_names(labels), specs, results, strict=True):
        yield f"{name} : {spec}"
        yield text(array)


def summary(
    specs: Sequence[TensorSpec], labels: Sequence[str], results: Sequence[np.ndarray]
) -> Iterator[str]:
    """One line per result: type, range, mean, and how many NaNs."""
    for name, spec, array in zip(_names(labels), specs, results, strict=True):
        yield f"{name} : {spec}  {_statistics(array)}"


def table(
    specs: Sequence[TensorSpec], labels: Sequence[str], comparisons: Sequence[Comparison]
) -> Iterator[str]:
    """How far each result is from what was expected, and where it fails."""
    names = _names(labels)
    name_width = max(map(len, ["result", *names]))
    type_width = max(map(len, ["type", *map(str, specs)]))
    yield (
        f"{'result':<{name_width}}  {'type':<{type_width}}"
        f"  {'rel L2':>9}  {'max abs':>9}  {'identical':>9}"
    )
    for name, spec, comparison in zip(names, specs, comparisons, strict=True):
        yield (
            f"{name:<{name_width}}  {spec!s:<{type_width}}"
            f"  {comparison.relative:9.2e}  {comparison.largest:9.2e}"
            f"  {percent(comparison.identical):>9}  {'ok' if comparison.is_good else 'FAIL'}"
        )
        if comparison.first:
            first = comparison.first
            place = f"[{', '.join(map(str, first.index))}]"
            yield f"{'':<{name_width}}  first at {place}: got {first.got}, expected {first.want}"


def _names(labels: Sequence[str]) -> list[str]:
    """`res0`, or `res0 count (written)` where the module labels it."""
    return [f"res{index} {label}".rstrip() for index, label in enumerate(labels)]


def percent(share: float) -> str:
    """Rounded down, so that 100 % is said of all and nothing less."""
    return f"{np.floor(share * 1e4) / 100:.2f}%"


def _statistics(array: np.ndarray) -> str:
    if not array.size:
        return "no elements"
    if is_integer(array):
        array = whole_bytes(array)
        low, high = int(array.min()), int(array.max())
        mean = sum(float(wide(block).sum()) for block in blocks(array)) / array.size
        return f"min {low}  max {high}  mean {mean:.6g}"
    size = "|.|" if array.dtype.kind == "c" else ""
    low, high, total, nans = np.inf, -np.inf, 0.0, 0
    for block in blocks(array):
        numbers = wide(block)
        numbers = np.abs(numbers) if size else numbers
        missing = np.isnan(numbers)
        low = min(low, float(np.fmin.reduce(numbers, initial=np.inf)))
        high = max(high, float(np.fmax.reduce(numbers, initial=-np.inf)))
        with np.errstate(all="ignore"):
            total += float(numbers.sum(where=~missing))
        nans += int(np.count_nonzero(missing))
    if nans == array.size:
        return f"all {nans} are NaN"
    mean = total / (array.size - nans)
    return f"min{size} {low:.6g}  max{size} {high:.6g}  mean{size} {mean:.6g}  NaN {nans}"
