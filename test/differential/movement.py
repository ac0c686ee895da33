"""Ops that move data: bits, payloads of NaNs included, are those of the operands."""

from collections.abc import Sequence
from math import prod

from builder import Builder
from elements import ALL, INTEGERS
from program import Value, joined, weakest

from mlir_fp8.arrays.tensor_specs import TensorSpec


def array(numbers: Sequence[int]) -> str:
    """The text of a dense i64 array."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def _moved(
    b: Builder,
    name: str,
    operands: Sequence[Value],
    shape: Sequence[int],
    attributes: str = "",
    *,
    sources: int = 1,
) -> None:
    """`name` on `operands`, of which the first `sources` are where the data comes from."""
    values = operands[:sources]
    b.op(
        f"stablehlo.{name}",
        operands,
        TensorSpec(tuple(shape), operands[0].element),
        attributes=f"<{{{attributes}}}>" if attributes else "",
        check=weakest(values),
        grid=joined(values),
    )


def _any(b: Builder, least: int = 0) -> Value:
    """Any value of `least` dims or more."""
    value = b.value(lambda value: len(value.shape) >= least, ALL)
    if len(value.shape) >= least:
        return value
    return b.fresh(b.shape(least), value.element)


def reshape(b: Builder) -> None:
    """To another shape of as many elements."""
    value = _any(b)
    left, shape = prod(value.shape), []
    for _ in range(b.integer(0, 3)):
        shape.append(b.one_of([size for size in (1, 2, 3, 5, 7, 17) if left % size == 0]))
        left //= shape[-1]
    # What is left over is a dim of its own, the last one or the first.
    if left != 1 or b.chance(30):
        shape.insert(len(shape) if b.chance(50) else 0, left)
    _moved(b, "reshape", [value], shape)


def transpose(b: Builder) -> None:
    """Any permutation."""
    value = _any(b, 1)
    order = b.permutation(len(value.shape))
    shape = [value.shape[dim] for dim in order]
    _moved(b, "transpose", [value], shape, f"permutation = {array(order)}")


def broadcast_in_dim(b: Builder) -> None:
    """Into any dims of a larger shape, in any order; dims of size 1 are stretched."""
    value = _any(b)
    if len(value.shape) > 3:
        value = b.fresh(b.shape(0, 2), value.element)
    rank = b.integer(len(value.shape), 4)
    places = b.permutation(rank)[: len(value.shape)]
    shape = [0] * rank
    room = 400 // max(prod(value.shape), 1)
    for dim in range(rank):
        size = value.shape[places.index(dim)] if dim in places else 1
        shape[dim] = size
        if size == 1:
            shape[dim] = b.one_of([each for each in (1, 2, 3, 5, 0) if each <= max(room, 1)])
            room //= max(shape[dim], 1)
    _moved(b, "broadcast_in_dim", [value], shape, f"broadcast_dimensions = {array(places)}")


def slice_(b: Builder) -> None:
    """Any start, limit and stride."""
    value = _any(b, 1)
    starts = [b.integer(0, size) for size in value.shape]
    limits = [b.integer(start, size) for start, size in zip(starts, value.shape, strict=True)]
    strides = [b.integer(1, 3) for _ in value.shape]
    shape = [
        (limit - start + stride - 1) // stride
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    attributes = (
        f"start_indices = {array(starts)}, limit_indices = {array(limits)}, "
        f"strides = {array(strides)}"
    )
    _moved(b, "slice", [value], shape, attributes)


def _indices(b: Builder, count: int) -> list[Value]:
    element = b.one_of(INTEGERS)
    return [b.fresh((), element) for _ in range(count)]


def dynamic_slice(b: Builder) -> None:
    """Start indices of any integer type, beyond the ends too."""
    value = _any(b)
    sizes = [b.integer(0, size) for size in value.shape]
    operands = [value, *_indices(b, len(sizes))]
    _moved(b, "dynamic_slice", operands, sizes, f"slice_sizes = {array(sizes)}")


def dynamic_update_slice(b: Builder) -> None:
    """Start indices of any integer type, beyond the ends too."""
    value = _any(b)
    sizes = [b.integer(0, size) for size in value.shape]
    update = b.like(sizes, value.element)
    operands = [value, update, *_indices(b, len(sizes))]
    _moved(b, "dynamic_update_slice", operands, value.shape, sources=2)


def concatenate(b: Builder) -> None:
    """One to three values along any dim."""
    value = _any(b, 1)
    dim = b.integer(0, len(value.shape) - 1)
    parts = [value]
    for _ in range(b.integer(0, 2)):
        shape = list(value.shape)
        shape[dim] = b.one_of((1, 2, 3, 0, shape[dim]))
        parts.append(b.like(shape, value.element))
    shape = list(value.shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    attributes = f"dimension = {dim} : i64"
    _moved(b, "concatenate", parts, shape, attributes, sources=len(parts))


def pad(b: Builder) -> None:
    """At both ends, also by a negative number, and inside."""
    value = _any(b)
    padding = b.like((), value.element)
    lows, highs, inner, shape = [], [], [], []
    for size in value.shape:
        inside = b.one_of((0, 1, 2))
        full = size + max(size - 1, 0) * inside
        low = b.integer(-min(full, 2), 2)
        high = b.integer(-min(full + low, 2), 2) if full + low >= 0 else 2
        lows.append(low)
        highs.append(high)
        inner.append(inside)
        shape.append(full + low + high)
    if prod(shape) > 2000 or min(shape, default=0) < 0:
        return
    attributes = (
        f"edge_padding_low = {array(lows)}, edge_padding_high = {array(highs)}, "
        f"interior_padding = {array(inner)}"
    )
    _moved(b, "pad", [value, padding], shape, attributes, sources=2)


def reverse(b: Builder) -> None:
    """Any dims."""
    value = _any(b, 1)
    dims = b.subset(len(value.shape))
    _moved(b, "reverse", [value], value.shape, f"dimensions = {array(dims)}")


MOVEMENT = {
    "reshape": reshape,
    "transpose": transpose,
    "broadcast_in_dim": broadcast_in_dim,
    "slice": slice_,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "concatenate": concatenate,
    "pad": pad,
    "reverse": reverse,
}
