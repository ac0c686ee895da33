"""Loops that transpose in vector registers, so that whole cache lines are read and written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref, scf, vector

from mlir_fp8.lowering.loops._vector_bodies import index

_VECTORS = {8: (16, 1), 16: (16, 2), 32: (8, 2), 64: (4, 2)}
"""By the bits of an element: lanes of a vector, and the 128-bit parts that shuffles do not cross.
"""
_CHUNK_TILES = 16
"""Tiles along a row of the result, before the next rows: their source stays in the cache."""


@dataclass(frozen=True)
class TransposedTiles:
    """`target[i...] = source[j...]`, where `loops` tells which dimension of `source` each `i` is.

    The last dimension of both is contiguous, and they are not the same loop.
    """

    source: ir.Value
    target: ir.Value
    loops: tuple[int, ...]

    @staticmethod
    def of(source: ir.Value, target: ir.Value, loops: Sequence[int]) -> "TransposedTiles | None":
        """None where `source` is not transposed, or what it holds has no vectors here."""
        types = [source.type, target.type]
        element = source.type.element_type
        if loops[-1] == len(loops) - 1 or not isinstance(element, ir.FloatType | ir.IntegerType):
            return None
        if element.width not in _VECTORS or not all(type_.has_static_shape for type_ in types):
            return None
        unknown = ir.ShapedType.get_dynamic_stride_or_offset()
        for type_ in types:
            strides, offset = type_.get_strides_and_offset()
            if strides[-1] != 1 or unknown in (*strides, offset):
                return None
        return TransposedTiles(source, target, tuple(loops))

    @property
    def lanes(self) -> int:
        return _VECTORS[self.source.type.element_type.width][0]

    @property
    def columns(self) -> int:
        """The dimension of `target` that is the last one of `source`."""
        return self.loops.index(len(self.loops) - 1)

    def side(self, dimension: int) -> int:
        """Of a tile, along a dimension of `target`, whose size is a multiple of `lanes`."""
        size = self.target.type.shape[dimension]
        return self.lanes if size % (2 * self.lanes) else 2 * self.lanes

    def emit(self) -> None:
        """The loops, at the current insertion point."""
        rank = len(self.loops)
        last, columns = rank - 1, self.columns
        sides = {last: self.side(last), columns: self.side(columns)}
        count = self.target.type.shape[last] // sides[last]
        chunk = next(each for each in range(min(_CHUNK_TILES, count), 0, -1) if count % each == 0)
        target = _expanded(
            self.target,
            {columns: [sides[columns]], last: [chunk, sides[last]]},
        )
        row = self.loops[last]
        source = _expanded(self.source, {row: [chunk, sides[last]], rank - 1: [sides[columns]]})
        sizes = list(self.target.type.shape)
        sizes[columns] //= sides[columns]
        sizes[last] = chunk
        order = [*range(columns), rank, *range(columns, rank)]
        _nest([*sizes, count // chunk], order, lambda at: self._tile(source, target, sides, at))

    def _tile(
        self, source: ir.Value, target: ir.Value, sides: dict[int, int], at: Sequence[ir.Value]
    ) -> None:
        """`at` has the indices of the target's dimensions, then that of the chunk."""
        *dims, chunk = at
        last, columns = len(self.loops) - 1, self.columns

        def place(order: Sequence[int], row: int, column: int) -> list[ir.Value]:
            found: list[ir.Value] = []
            for dimension in order:
                if dimension == last:
                    found += [chunk, dims[last], index(row)]
                elif dimension == columns:
                    found += [dims[columns], index(column)]
                else:
                    found.append(dims[dimension])
            return found

        lanes, parts = _VECTORS[source.type.element_type.width]
        type_ = ir.VectorType.get([lanes], source.type.element_type)
        read = [self.loops.index(dimension) for dimension in range(len(self.loops))]

        def square(row: int, column: int) -> list[ir.Value]:
            places = [place(read, row + i, column) for i in range(lanes)]
            return transposed([vector.load(type_, source, each) for each in places], parts)

        for column in range(0, sides[columns], lanes):
            squares = {row: square(row, column) for row in range(0, sides[last], lanes)}
            for i in range(lanes):
                for row, vectors in squares.items():
                    at_ = place(range(len(self.loops)), row, column + i)
                    vector.store(vectors[i], target, at_)


def transposed(rows: Sequence[ir.Value], parts: int) -> list[ir.Value]:
    """The transpose of a square of vectors, with shuffles that are one instruction each.

    Unpacks within the 128-bit parts, in units of growing size, then a permutation of whole parts,
    of which there are one or two.
    """
    if parts == 1:
        return _transposed_within(rows, parts)
    size = len(rows) // parts
    low, high = (_transposed_within(rows[first : first + size], parts) for first in (0, size))
    return [
        vector.shuffle(a, b, [*range(part, part + size), *range(part + 2 * size, part + 3 * size)])
        for part in (0, size)
        for a, b in zip(low, high, strict=True)
    ]


def _transposed_within(rows: Sequence[ir.Value], parts: int) -> list[ir.Value]:
    """The transposes of the squares that the parts of `rows` are."""
    size, unit, rows = len(rows), 1, list(rows)
    while unit < size:
        pairs = [
            (rows[first + i], rows[first + unit + i])
            for first in range(0, size, 2 * unit)
            for i in range(unit)
        ]
        rows = [
            vector.shuffle(*pair, _interleaved(size, parts, unit, place))
            for pair in pairs
            for place in (0, size // 2)
        ]
        unit *= 2
    return rows


def _interleaved(size: int, parts: int, unit: int, first: int) -> list[int]:
    """The mask that interleaves units of two vectors within each part, from `first` on."""
    mask: list[int] = []
    for part in range(0, size * parts, size):
        for start in range(part + first, part + first + size // 2, unit):
            run = range(start, start + unit)
            mask += [*run, *(size * parts + each for each in run)]
    return mask


def _nest(
    sizes: Sequence[int], order: Sequence[int], body: Callable[[list[ir.Value]], None]
) -> None:
    """A loop nest over all dimensions, `order` from the outermost in; `body` gets the indices."""
    at: dict[int, ir.Value] = {}

    def level(depth: int) -> None:
        if depth == len(order):
            body([at[dimension] for dimension in range(len(sizes))])
            return
        dimension = order[depth]
        loop = scf.ForOp(index(0), index(sizes[dimension]), index(1))
        at[dimension] = loop.induction_variable
        with ir.InsertionPoint(loop.body):
            level(depth + 1)
            scf.YieldOp([])

    level(0)


def _expanded(buffer: ir.Value, parts: dict[int, list[int]]) -> ir.Value:
    """With the dimensions of `parts` as several, of which all but the first sizes are given."""
    type_ = buffer.type
    steps, offset = type_.get_strides_and_offset()
    shape: list[int] = []
    strides: list[int] = []
    groups: list[list[int]] = []
    for dimension, size in enumerate(type_.shape):
        inner = parts.get(dimension, [])
        product = 1
        sizes: list[int] = []
        mine: list[int] = []
        for each in reversed(inner):
            sizes.insert(0, each)
            mine.insert(0, steps[dimension] * product)
            product *= each
        groups.append(list(range(len(shape), len(shape) + len(inner) + 1)))
        shape += [size // product, *sizes]
        strides += [steps[dimension] * product, *mine]
    layout = None
    if isinstance(type_.layout, ir.StridedLayoutAttr):
        layout = ir.StridedLayoutAttr.get(offset, strides)
    result = ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)
    return memref.expand_shape(result, buffer, groups, [], shape)
