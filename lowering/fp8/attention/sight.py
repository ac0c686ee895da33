"""What of a mask is causal or a window, and what is left of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.lowering.fp8.attention.positions import Bound
from mlir_fp8.lowering.fp8.attention.scores import Scores, Spot
from mlir_fp8.lowering.fp8.scaled_dot.spread import Dims


@dataclass(frozen=True)
class Sight:
    """`rows` is the key of the axis of queries that positions are of, () where there is one query.

    Without `causal` or `window`, `rows` is None: any axis may be theirs.
    """

    rows: tuple[int, ...] | None = None
    causal: bool = False
    window: int | None = None
    offset: int | ir.Value = 0
    masks: tuple[Spot, ...] = ()


def read_sight(scores: Scores) -> Sight:
    """The bounds of `scores`, where an op's attributes say them; else all of it is a mask."""
    is_tiled = any(each.spread.compact_shape is None for each in scores.masks)
    bounds = [_placed(bound, dims, scores) for bound, dims in scores.bounds]
    known = [each for each in bounds if each is not None]
    found = _sight(known) if len(known) == len(bounds) and not is_tiled else None
    return Sight(masks=scores.selects) if found is None else replace(found, masks=scores.masks)


def _placed(bound: Bound, dims: Dims, scores: Scores) -> tuple[Bound, tuple[int, ...]] | None:
    """`bound`, and the key of the axis that its rows are; None where it is of other axes."""
    keys = scores.spread.dims[-1]
    row = () if bound.row is None else dims[bound.row]
    if row == keys and bound.row is not None and bound.scalar is None:
        bound = _swapped(bound)
        row = dims[bound.row] if bound.row is not None else ()
    if dims[bound.key] != keys or len(row) > 1:
        return None
    if not row:
        return bound, ()
    roots = len(scores.dot.batching[0])
    key = row[0].key
    return None if key is None or key[0] < roots or row == keys else (bound, key)


def _swapped(bound: Bound) -> Bound:
    """The same with what it takes for keys as rows."""
    assert bound.row is not None
    direction = "GT" if bound.direction == "LE" else "LE"
    return Bound(bound.row, bound.key, direction, -bound.number - 1, None)


def _sight(bounds: Sequence[tuple[Bound, tuple[int, ...]]]) -> Sight | None:
    if not bounds:
        return Sight()
    rows = {row for _, row in bounds}
    scalars = {each.scalar for each, _ in bounds}
    if len(rows) != 1 or len(scalars) != 1:
        return None
    ends = [each.number for each, _ in bounds if each.direction == "LE"]
    starts = [each.number for each, _ in bounds if each.direction == "GT"]
    offset = min(ends) if ends else max(0, max(starts) + 1)
    window = offset - max(starts) if starts else None
    if window is not None and window < 1:
        return None
    scalar = scalars.pop()
    if scalar is not None and offset:
        return None
    return Sight(rows.pop(), bool(ends), window, offset if scalar is None else scalar)
