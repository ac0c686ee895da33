"""The function of one convolution: packs the right operand, then calls the micro-kernel."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.convolution import Convolution
from mlir_fp8.lowering.kernels.products.convolution_rows import ConvolutionRows
from mlir_fp8.lowering.kernels.products.convolution_tiles import ConvolutionTiles
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.product_parts import GRAIN_WORK, LEAST_WORK
from mlir_fp8.lowering.kernels.products.sum_groups import add_sums, group_size
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

_DEPTH = 384
"""Reduction steps in a block: a packed panel of the right operand stays in the L1 cache."""


@dataclass(frozen=True)
class ConvolutionFunction:
    """Its symbol name, and the bytes of the packing buffer that is its last parameter.

    The parameters before it are the leaves of both operands and the result.
    """

    name: str
    scratch: int


def convolution_function(
    convolution: Convolution, target: KernelTarget, functions: KernelFunctions, *, parallel: bool
) -> ConvolutionFunction:
    """Emit the function of `convolution` and the kernels that it calls.

    With `parallel`, the loop over tiles may be split among threads.
    """
    return _Writer(convolution, target, functions, parallel=parallel).function()


class _Writer:
    def __init__(
        self,
        convolution: Convolution,
        target: KernelTarget,
        functions: KernelFunctions,
        *,
        parallel: bool,
    ) -> None:
        self.convolution, self.target, self.functions = convolution, target, functions
        self.text = KernelText()
        self.right = [f"%p{i + 1}" for i in range(len(convolution.right.leaves))]
        self._block()
        self.tiles = ConvolutionTiles.of(convolution, target, adds=self.adds)
        steps = self.steps = convolution.size(self.segments) * self.depth
        unit = self.tiles.unit_work(steps)
        self.grain = -(-GRAIN_WORK // unit)
        if not parallel or unit * self.tiles.units < LEAST_WORK:
            self.grain = 0

    def _block(self) -> None:
        """Block the reduction: loops outside a block, loops inside, strips of the innermost."""
        *outer, inner = self.convolution.k
        size = self.convolution.sizes[inner]
        parts = -(-size // _DEPTH)
        self.depth = -(-size // parts)
        inside: list[int] = []
        steps = self.depth
        while parts == 1 and outer and steps * self.convolution.sizes[outer[-1]] <= _DEPTH:
            inside.insert(0, outer.pop())
            steps *= self.convolution.sizes[inside[0]]
        self.segments, self.blocks = tuple(inside), tuple(outer)
        self.parts, self.count = parts, parts * self.convolution.size(outer)
        self.adds = self.count > 1

    def function(self) -> ConvolutionFunction:
        text, convolution = self.text, self.convolution
        leaves = [convolution.left, *convolution.right.leaves, convolution.out]
        offsets = [text.index(leaf.offset) for leaf in leaves]
        group = group_size(self.count)
        with self._loops(convolution.outer, offsets) as (_, offsets):
            zero, count = text.index(0), text.index(self.count)
            if group == self.count:
                self._sum(offsets, zero, count, ("%c", offsets[-1]))
            else:
                sums = self._new_sums()
                with text.loop(zero, count, text.index(group)) as first:
                    end = text.minimum(text.add(first, group), count)
                    self._sum(offsets, first, end, (sums, zero))
                    self._add((sums, zero), ("%c", offsets[-1]), first)
        names = ["%p0", *self.right, "%c"]
        types = [f"memref<1x{leaf.element}>" for leaf in leaves]
        types[0] = "memref<1xf32>"
        parameters = [*zip(names, types, strict=True), ("%t", "memref<1xi8>")]
        whole = text.function("NAME", parameters)
        scratch = 4 * self.steps * self.tiles.panels * self.tiles.columns
        name = self.functions.name_of("convolution", whole)
        return ConvolutionFunction(name, scratch)

    def _sum(self, offsets: list[str], first: str, end: str, to: tuple[str, str]) -> None:
        """Accumulate the reduction blocks [`first`, `end`) into a buffer."""
        text, inner = self.text, self.convolution.k[-1]
        size, depth = text.index(self.convolution.sizes[inner]), text.index(self.depth)
        with text.loop(first, end, text.index(1)) as number:
            accumulates = text.sub(number, first)
            rest, part = text.div(number, self.parts), text.rem(number, self.parts)
            for dimension in reversed(self.blocks):
                steps = self.convolution.sizes[dimension]
                offsets = self._moved(offsets, dimension, text.rem(rest, steps))
                rest = text.div(rest, steps)
            start = text.mul(part, self.depth)
            count = text.minimum(text.sub(size, start), depth)
            offsets = self._moved(offsets, inner, start)
            self._pack(offsets, count)
            self._multiply(offsets, count, to, accumulates)

    def _new_sums(self) -> str:
        """A new accumulator buffer for a group of blocks, with the strides of the result."""
        text, convolution = self.text, self.convolution
        loops = (*convolution.m, convolution.n)
        strides = convolution.out.strides
        size = 1 + sum((convolution.sizes[d] - 1) * strides[d] for d in loops)
        type_ = f"memref<{size}xf32>"
        buffer = text.value(f"memref.alloc() {{alignment = 64 : i64}} : {type_}")
        return text.value(
            f"memref.reinterpret_cast {buffer} to offset: [0], sizes: [1], strides: [1]"
            f" : {type_} to memref<1xf32>"
        )

    def _add(self, source: tuple[str, str], to: tuple[str, str], accumulates: str) -> None:
        """Add the accumulators of a group to the result."""
        text, sizes, strides = self.text, self.convolution.sizes, self.convolution.out.strides
        loops = (*self.convolution.m, self.convolution.n)
        *outer, rows, columns = sorted(loops, key=lambda d: -strides[d])
        with contextlib.ExitStack() as stack:
            for d in outer:
                loop = text.loop(text.index(0), text.index(sizes[d]), text.index(1))
                step = text.mul(stack.enter_context(loop), strides[d])
                source, to = ((buffer, text.add(at, step)) for buffer, at in (source, to))
            steps = strides[rows], strides[columns]
            counts = text.index(sizes[rows]), text.index(sizes[columns])
            places = source, to
            add_sums(text, self.functions, places, (steps, steps), counts, accumulates)

    def _moved(self, offsets: Sequence[str], dimension: int, index: str) -> list[str]:
        """The offsets of all leaves at one value of a loop's induction variable."""
        text, convolution = self.text, self.convolution
        leaves = [convolution.left, *convolution.right.leaves, convolution.out]
        return [
            text.add(offset, text.mul(index, leaf.strides[dimension]))
            if leaf.strides[dimension]
            else offset
            for offset, leaf in zip(offsets, leaves, strict=True)
        ]

    @contextlib.contextmanager
    def _loops(
        self, dimensions: Sequence[int], offsets: Sequence[str]
    ) -> Iterator[tuple[str, list[str]]]:
        """A loop nest; yields the linearized iteration number and the offsets of that iteration."""
        text, number = self.text, self.text.index(0)
        with contextlib.ExitStack() as stack:
            offsets = list(offsets)
            for dimension in dimensions:
                size = text.index(self.convolution.sizes[dimension])
                i = stack.enter_context(text.loop(text.index(0), size, text.index(1)))
                number = text.add(text.mul(number, size), i)
                offsets = self._moved(offsets, dimension, i)
            yield number, offsets

    def _pack(self, offsets: list[str], count: str) -> None:
        """Pack the right operand into panels of `count` reduction steps per segment."""
        text, n, inner = self.text, self.convolution.n, self.convolution.k[-1]
        width = text.index(self.tiles.columns)
        reader = Reader(self.convolution.right, inner, n)
        kernel = self.functions.name_of("pack", Pack(reader, "f32").text("NAME", self.target))
        segment_size = text.mul(count, width)
        panel_size = text.mul(segment_size, self.convolution.size(self.segments))
        size, zero = text.index(self.convolution.sizes[n]), text.index(0)
        with text.loop(zero, text.index(self.tiles.panels), text.index(1)) as panel:
            column = text.mul(panel, width)
            columns = text.minimum(text.sub(size, column), width)
            start, offsets = text.mul(panel, panel_size), self._moved(offsets, n, column)
            with self._loops(self.segments, offsets) as (segment, offsets):
                arguments: list[tuple[str, str]] = []
                for i, (name, leaf) in enumerate(
                    zip(self.right, self.convolution.right.leaves, strict=True)
                ):
                    steps = [(text.index(leaf.strides[d]), "index") for d in (inner, n)]
                    buffer = (name, f"memref<1x{leaf.element}>")
                    arguments += [buffer, (offsets[i + 1], "index"), *steps]
                place = text.add(start, text.mul(segment, segment_size))
                sizes = [place, width, count, columns, count, width, zero]
                self._call(kernel, [*arguments, ("%t", "memref<1xi8>")], sizes)

    def _multiply(
        self, offsets: list[str], count: str, to: tuple[str, str], accumulates: str
    ) -> None:
        kernel = ConvolutionRows(self.tiles, self.segments, self.grain)
        name = self.functions.name_of("convolution_rows", kernel.text("NAME", self.target))
        buffer, place = to
        buffers = [("%p0", "memref<1xf32>"), ("%t", "memref<1xi8>"), (buffer, "memref<1xf32>")]
        units = [self.text.index(0), self.text.index(self.tiles.units)]
        self._call(name, buffers, [offsets[0], place, count, accumulates, *units])

    def _call(self, name: str, buffers: list[tuple[str, str]], sizes: list[str]) -> None:
        self.text.call(name, [*buffers, *((size, "index") for size in sizes)])
