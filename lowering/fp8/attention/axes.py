"""The axes of an attention's tensors, read off its two products."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.fp8.attention.layout import Axes, Axis, Layout
from mlir_fp8.lowering.fp8.attention.product import Dot, Side
from mlir_fp8.lowering.fp8.attention.scores import Scores
from mlir_fp8.lowering.fp8.attention.weighed import Weighed
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.spread import Dims, Part
from mlir_fp8.lowering.fp8.scaled_dot.values import shape

D, E = (-1,), (-2,)
"""The keys of the axes that q and k share alone, and that v has alone."""


@dataclass(frozen=True)
class Found:
    """The layout, and the axes of each dimension of q, k, v and the result in the program.

    `query_side` is 0 where q is the lhs of its product. With `group`, the axis of query heads that
    share a head, k and v are taken without its repeats.
    """

    layout: Layout
    query_side: int
    axes: Axes
    split: tuple[Axis, Axis, Axis] | None
    q: tuple[Axes, ...]
    k: tuple[Axes, ...]
    v: tuple[Axes, ...]
    out: tuple[Axes, ...]

    def of(self, dims: Dims) -> list[Axes]:
        """The axes of dimensions that have the parts `dims`."""
        return [_cut(_finest(parts, self.axes), self.split) for parts in dims]


def read_axes(scores: Scores, weighed: Weighed, rows: tuple[int, ...] | None) -> Found | Obstacle:
    """The axes, or why they are none of an attention.

    `rows` is the key of the axis of queries, () where there is one query, None where any may be.
    """
    dot, second = scores.dot, weighed.dot
    assert second is not None
    if any(
        0 in shape(value) for op in (dot.op, second.op) for value in (*op.operands, *op.results)
    ):
        return _refusal("no-elements", f"{dot.op.name} has no elements", dot.op, "leave it out")
    key_side, key = _key_side(scores)
    if key is None:
        message = "the softmax does not run over one dimension of an operand of the product"
        return _refusal("layout", message, dot.op, "let it run over the keys, and over these alone")
    keys = (Axis(key.key or (), key.size),)
    roots = len(dot.batching[0])
    finest = tuple(
        Axis(each.key or (), each.size) for parts in weighed.spread.dims for each in parts
    )
    axes = tuple(axis for parts in scores.spread.dims for axis in _finest(parts, finest))
    batch = tuple(axis for axis in axes if axis.key[0] < roots)
    free = tuple(axis for axis in axes if axis not in batch and axis not in keys)
    own, p = 1 - weighed.side, weighed.side
    of_p = [_finest(parts, finest) for parts in weighed.spread.dims]
    taken = {axis for dim in second.batching[p] for axis in of_p[dim]}
    if taken != set(batch) or of_p[second.contracting[p]] != keys or len(second.free[own]) != 1:
        message = f"{second.op.name} does not weigh the keys that the scores are of"
        return _refusal(
            "layout", message, second.op, "let both share their batches, and sum over keys"
        )
    inner = Axis(D, shape(dot.op.operands[0])[dot.contracting[0]])
    outer = Axis(E, shape(second.op.operands[own])[second.free[own][0]])
    q_side = 1 - key_side
    q = _operand(dot, q_side, axes, roots, inner)
    k = _operand(dot, key_side, axes, roots, inner)
    v: list[Axes] = [()] * len(shape(second.op.operands[own]))
    for mine, other in zip(second.batching[own], second.batching[p], strict=True):
        v[mine] = of_p[other]
    v[second.contracting[own]], v[second.free[own][0]] = keys, (outer,)
    out = [of_p[dim] for dim in second.batching[p]]
    kept = [of_p[dim] for dim in second.free[p]]
    out += [*kept, (outer,)] if p == 0 else [(outer,), *kept]
    row_axes, group = _rows(free, rows)
    if rows and not row_axes:
        message = f"{second.op.name} has the queries cut, whose positions are compared"
        return _refusal("layout", message, second.op, "keep the queries one dimension")
    split = _split(batch, (dot.sides[key_side], k), (second.sides[own], v))
    if split is not None:
        whole, shared, repeated = split
        layout = Layout(batch[:-1], (shared,), (repeated, *group), row_axes, keys)
        short = [tuple(shared if axis == whole else axis for axis in each) for each in k]
        k, v = short, [tuple(shared if axis == whole else axis for axis in each) for each in v]
    else:
        layout = Layout(batch[:-1], batch[-1:], group, row_axes, keys)
    return Found(
        layout,
        q_side,
        axes,
        split,
        tuple(_cut(each, split) for each in q),
        tuple(k),
        tuple(v),
        tuple(_cut(each, split) for each in out),
    )


def _key_side(scores: Scores) -> tuple[int, Part | None]:
    """The operand whose only free dimension the softmax runs over."""
    dot, last = scores.dot, scores.spread.dims[-1]
    if len(last) != 1 or last[0].key is None or len(last[0].key) != 1:
        return 0, None
    index = last[0].key[0] - len(dot.batching[0])
    side = 0 if index < len(dot.free[0]) else 1
    is_only = index >= 0 and len(dot.free[side]) == 1
    return side, last[0] if is_only else None


def _finest(parts: Sequence[Part], finest: Sequence[Axis]) -> Axes:
    """The axes that make up `parts`, in order."""
    return tuple(
        axis
        for part in parts
        for axis in sorted(finest, key=lambda each: each.key)
        if part.key is not None and axis.key[: len(part.key)] == part.key
    )


def _cut(axes: Axes, split: tuple[Axis, Axis, Axis] | None) -> Axes:
    if split is None:
        return axes
    return tuple(each for axis in axes for each in (split[1:] if axis == split[0] else (axis,)))


def _operand(dot: Dot, side: int, axes: Axes, roots: int, inner: Axis) -> list[Axes]:
    """The axes of each dimension of an operand of the product of scores."""
    dims: list[Axes] = [()] * len(shape(dot.op.operands[side]))
    first = roots + (len(dot.free[0]) if side else 0)
    places = [*dot.batching[side], *dot.free[side]]
    results = [*range(roots), *range(first, first + len(dot.free[side]))]
    for place, result in zip(places, results, strict=True):
        dims[place] = _finest([Part((result,), 0)], axes)
    dims[dot.contracting[side]] = (inner,)
    return dims


def _rows(free: Axes, rows: tuple[int, ...] | None) -> tuple[Axes, Axes]:
    """The axis of queries among those of q alone, and the rest, which is of heads."""
    if rows is None:
        return free[-1:], free[:-1]
    chosen = tuple(axis for axis in free if axis.key == rows)
    return chosen, tuple(axis for axis in free if axis not in chosen)


def _split(batch: Axes, *sides: tuple[Side, Sequence[Axes]]) -> tuple[Axis, Axis, Axis] | None:
    """The last of the batch axes, cut into heads of k and v and how often they are repeated."""
    if not batch:
        return None
    whole = batch[-1]
    found = {_repeats(side, dims, whole) for side, dims in sides}
    if len(found) != 1 or (count := found.pop()) == 1 or whole.size % count:
        return None
    shared = Axis((*whole.key, 0), whole.size // count)
    return whole, shared, Axis((*whole.key, 1), count)


def _repeats(side: Side, dims: Sequence[Axes], whole: Axis) -> int:
    """How often each head of k or v is repeated, where nothing else of it is; 1 else."""
    sizes = side.repeats.compact_shape
    (place,) = [dim for dim, axes in enumerate(dims) if whole in axes]
    if sizes is None or dims[place][-1] != whole:
        return 1
    full = [max(1, _product(axes)) for axes in dims]
    if any(
        size != all_
        for dim, (size, all_) in enumerate(zip(sizes, full, strict=True))
        if dim != place
    ):
        return 1
    count = full[place] // sizes[place]
    scale = side.scale
    if scale is not None and not scale.is_single:
        numbers = scale.spread.compact_shape
        if numbers is None or sizes[place] % numbers[place]:
            return 1
    return count


def _product(axes: Axes) -> int:
    result = 1
    for axis in axes:
        result *= axis.size
    return result


def _refusal(kind: str, message: str, op: ir.Operation, edit: str) -> Obstacle:
    return Obstacle(kind, "layout", message, op.location, edit)
