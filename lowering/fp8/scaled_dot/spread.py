"""Broadcasts as index maps, from the elements of a large tensor to those of a small one.

A dimension of the large tensor is a row-major product of parts. A part is a piece of a dimension of
the small tensor, named by a key, or a repetition, whose key is None.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.rewriting.stablehlo import build

Key = tuple[int, ...]
"""Row-major order of the small tensor is the order of keys; splitting (i,) gives (i, 0), (i, 1)."""


@dataclass(frozen=True)
class Part:
    key: Key | None
    size: int


Dims = tuple[tuple[Part, ...], ...]


@dataclass(frozen=True)
class Spread:
    """A value of the shape of `dims`, all of whose elements are those that `make` builds."""

    make: Callable[[], ir.Value]
    dims: Dims

    @staticmethod
    def whole(value: ir.Value) -> "Spread":
        """`value` as it is."""
        return Spread(lambda: value, _whole(ir.RankedTensorType(value.type).shape))

    @property
    def compact_shape(self) -> tuple[int, ...] | None:
        """The fewest numbers per dimension, block after block; None where they are tiled."""
        if any(_is_tiled(parts) for parts in self.dims):
            return None
        return tuple(_size(parts, sources=True) for parts in self.dims)

    @property
    def is_single(self) -> bool:
        """Whether all elements are one number."""
        return all(part.key is None for parts in self.dims for part in parts)

    def carried(self) -> list[int]:
        """The dimensions along which the numbers differ."""
        return [i for i, parts in enumerate(self.dims) if any(part.key for part in parts)]

    def compact(self, shape: Sequence[int]) -> ir.Value:
        """Build the numbers in the order of the large tensor's dimensions, reshaped to `shape`."""
        sources = [part for parts in self.dims for part in parts if part.key is not None]
        ordered = sorted(sources, key=_key)
        value = self.make()
        if ordered != sources:
            value = _reshaped(value, [part.size for part in ordered])
            order = [ordered.index(part) for part in sources]
            sizes = _tensor([part.size for part in sources], value)
            permutation = ir.DenseI64ArrayAttr.get(order)
            value = build("transpose", sizes, [value], {"permutation": permutation})
        return _reshaped(value, shape)

    def broadcast_in_dim(self, mapping: Sequence[int], shape: Sequence[int]) -> "Spread":
        sizes = [_size(parts) for parts in self.dims]
        dims = [_repeated(size) for size in shape]
        for source, target in enumerate(mapping):
            if sizes[source] == shape[target]:
                dims[target] = self.dims[source]
        return Spread(self.make, tuple(dims))

    def transpose(self, permutation: Sequence[int]) -> "Spread":
        return Spread(self.make, tuple(self.dims[i] for i in permutation))

    def reshape(self, shape: Sequence[int]) -> "Spread | None":
        """None where a dimension would have to be cut at a place that no index tells."""
        pending = [part for parts in self.dims for part in parts][::-1]
        dims = []
        for size in shape:
            parts: list[Part] = []
            while size > 1:
                part = pending.pop()
                taken, size, left = _take(part, size)
                if taken is None:
                    return None
                parts.append(taken)
                if left is not None:
                    pending.append(left)
            dims.append(_merged(parts))
        return Spread(self.make, tuple(dims))

    def slice(
        self, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]
    ) -> "Spread | None":
        """None where the cut goes through a block."""
        sizes = self.compact_shape
        if sizes is None:
            return None
        bounds, dims = [], []
        cuts = zip(starts, limits, strides, strict=True)
        for i, (size, parts, (start, limit, stride)) in enumerate(
            zip(sizes, self.dims, cuts, strict=True)
        ):
            count = max(0, math.ceil((limit - start) / stride))
            block = _size(parts) // size if size else 1
            if size == 1:
                bounds.append((0, 1, 1))
                dims.append(_repeated(count))
            elif block == 1:
                bounds.append((start, limit, stride))
                dims.append((Part((i,), count),))
            elif stride == 1 and start % block == 0 and limit % block == 0:
                bounds.append((start // block, limit // block, 1))
                dims.append((Part((i,), count // block), Part(None, block)))
            else:
                return None
        if not self.carried():
            return Spread(self.make, tuple(dims))
        return Spread(lambda: _slice(self.compact(sizes), bounds), _trimmed(dims))

    def reverse(self, dimensions: Sequence[int]) -> "Spread | None":
        sizes = self.compact_shape
        if sizes is None:
            return None
        turned = [i for i in self.carried() if i in dimensions]
        if not turned:
            return self
        dims = [
            (Part((i,), size), Part(None, _size(parts) // size))
            for i, (size, parts) in enumerate(zip(sizes, self.dims, strict=True))
        ]
        return Spread(lambda: _reverse(self.compact(sizes), turned), _trimmed(dims))


def blocks(value: ir.Value, shape: Sequence[int]) -> Spread:
    """The spread of a scale operand, of rank 0 or of blocks, over data of `shape`."""
    sizes = ir.RankedTensorType(value.type).shape or [1] * len(shape)
    pairs = enumerate(zip(sizes, shape, strict=True))
    dims = [(Part((i,), size), Part(None, whole // max(size, 1))) for i, (size, whole) in pairs]
    return Spread(lambda: value, _trimmed(dims))


def _whole(shape: Sequence[int]) -> Dims:
    return _trimmed([(Part((i,), size),) for i, size in enumerate(shape)])


def _trimmed(dims: Sequence[tuple[Part, ...]]) -> Dims:
    return tuple(tuple(part for part in parts if part.size != 1) for parts in dims)


def _repeated(size: int) -> tuple[Part, ...]:
    return () if size == 1 else (Part(None, size),)


def _size(parts: Sequence[Part], *, sources: bool = False) -> int:
    return math.prod(part.size for part in parts if part.key is not None or not sources)


def _key(part: Part) -> Key:
    return part.key or ()


def _is_tiled(parts: Sequence[Part]) -> bool:
    keys = [part.key is not None for part in parts]
    return keys != sorted(keys, reverse=True)


def _take(part: Part, size: int) -> tuple[Part | None, int, Part | None]:
    """The major piece of `part` for a dimension that still lacks `size`, and what is left."""
    if part.size and size % part.size == 0:
        return part, size // part.size, None
    if part.size % size:
        return None, size, None
    major = None if part.key is None else (*part.key, 0)
    minor = None if part.key is None else (*part.key, 1)
    return Part(major, size), 1, Part(minor, part.size // size)


def _merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    merged: list[Part] = []
    for part in parts:
        if merged and part.key is None and merged[-1].key is None:
            part = Part(None, merged.pop().size * part.size)
        merged.append(part)
    return tuple(merged)


def _reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if list(ir.RankedTensorType(value.type).shape) == list(shape):
        return value
    return build("reshape", _tensor(shape, value), [value])


def _tensor(shape: Sequence[int], like: ir.Value) -> ir.Type:
    return ir.RankedTensorType.get(list(shape), ir.RankedTensorType(like.type).element_type)


def _slice(value: ir.Value, bounds: Sequence[tuple[int, int, int]]) -> ir.Value:
    starts, limits, strides = (list(each) for each in zip(*bounds, strict=True))
    counts = [math.ceil((limit - start) / stride) for start, limit, stride in bounds]
    attributes = {
        "start_indices": ir.DenseI64ArrayAttr.get(starts),
        "limit_indices": ir.DenseI64ArrayAttr.get(limits),
        "strides": ir.DenseI64ArrayAttr.get(strides),
    }
    return build("slice", _tensor(counts, value), [value], attributes)


def _reverse(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    return build(
        "reverse", value.type, [value], {"dimensions": ir.DenseI64ArrayAttr.get(list(dimensions))}
    )
