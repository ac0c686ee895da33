"""The function of one product while it is written, and those of its parts, for threads to share.

What such a part computes is the same whoever does it: no sum is split, so that results do not
depend on how many threads there are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.finish import Finish
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.vector_code.byte_tables import INTRINSICS
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import Argument, KernelText
from mlir_fp8.lowering.loop_analysis.parallel_loops import PARALLEL
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

LEAST_WORK = 1 << 22
"""Multiplications from which on threads share, some 0.1 ms; with less they win what they wait."""
GRAIN_WORK = 1 << 18


@dataclass
class ProductParts:
    """`text` is that of the function written now, `offsets` are where the leaves begin in it."""

    product: Contraction
    target: KernelTarget
    functions: KernelFunctions
    is_parallel: bool
    finish: Finish | None
    """What is done with each block of results that is ready."""
    text: KernelText = field(default_factory=KernelText)
    offsets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        offsets = [leaf.offset for leaf in self.leaves]
        offsets += [] if self.finish is None else self.finish.offsets
        self.offsets = [self.text.index(each) for each in offsets]

    @property
    def m(self) -> int:
        return self.product.sizes[self.product.m]

    @property
    def n(self) -> int:
        return self.product.sizes[self.product.n]

    @property
    def k(self) -> int:
        return self.product.sizes[self.product.k]

    @property
    def has_block(self) -> bool:
        """Whether results go to blocks of their own, `new_block`, not to the whole result."""
        return self.finish is not None and self.finish.has_block

    @property
    def _operands(self) -> list[Leaf]:
        return [*self.product.left.leaves, *self.product.right.leaves]

    @property
    def leaves(self) -> list[Leaf]:
        return [*self._operands, *([] if self.has_block else [self.product.out])]

    @property
    def strides(self) -> list[tuple[int, ...]]:
        """Of what `offsets` tell the beginning of: the leaves, then what `finish` takes."""
        own = [leaf.strides for leaf in self.leaves]
        return own if self.finish is None else [*own, *self.finish.strides]

    @property
    def out_strides(self) -> tuple[int, ...]:
        """Of the results in %c."""
        if self.finish is None or not self.has_block:
            return self.product.out.strides
        return self.finish.block_strides

    def place(self, row: str, column: str) -> str:
        """Where in %c the results from `row` and `column` on are, or the block that they begin."""
        text = self.text
        if self.has_block:
            return text.index(0)
        place = self.offsets[len(self._operands)]
        place = text.add(place, text.mul(row, self.out_strides[self.product.m]))
        return text.add(place, text.mul(column, self.out_strides[self.product.n]))

    def new_block(self, rows: int) -> None:
        """Make %c the buffer of blocks of so many rows, where the function has no other."""
        if self.finish is None or not self.has_block:
            return
        self.text.line(f"%c = {self.buffer(self.finish.block_size(rows), 'f32')}")

    def finish_block(
        self, place: str, at: tuple[str, str], size: tuple[str, str], depth: str | None
    ) -> None:
        """Do what follows with the results `at` m and n, of which %c has a block at `place`.

        Only if the sums are done: `depth` is where their last part begins, or there is only one.
        """
        finish, text = self.finish, self.text
        if finish is None:
            return
        block = place, text.index(self.out_strides[finish.outer])
        offsets = self.offsets[len(self.leaves) :]
        if depth is None or self.k <= self.target.depth:
            finish.call(text, self.functions, offsets, block, at, size)
            return
        last = (self.k - 1) // self.target.depth * self.target.depth
        with text.when(text.value(f"arith.cmpi eq, {depth}, {text.index(last)} : index")):
            finish.call(text, self.functions, offsets, block, at, size)

    def parameters(self) -> list[Argument]:
        """Of the whole function: leaves of both operands, the result; what `finish` takes."""
        named = [(f"%p{i}", f"memref<1x{x.element}>") for i, x in enumerate(self._operands)]
        named += [] if self.has_block else [("%c", "memref<1xf32>")]
        if self.finish is None:
            return named
        return [*named, *self.finish.buffers(), *self.finish.scalars()]

    def source(
        self, side: Expression, at: dict[int, str], outer: int, inner: int
    ) -> list[Argument]:
        """Arguments for a `Reader` of `side` that begins at the places `at`."""
        text = self.text
        first = 0 if side is self.product.left else len(self.product.left.leaves)
        found = []
        for number, leaf in enumerate(side.leaves, first):
            offset = self.offsets[number]
            for dimension, index in at.items():
                if leaf.strides[dimension]:
                    offset = text.add(offset, text.mul(index, leaf.strides[dimension]))
            found += [self.parameters()[number], (offset, "index")]
            found += [(text.index(leaf.strides[d]), "index") for d in (outer, inner)]
        return found

    def pack(self, pack: Pack) -> str:
        """The name of the kernel."""
        text = pack.text("NAME", self.target)
        if pack.looks_up(self.target) is not None:
            for name, types in INTRINSICS.items():
                self.functions.declare(name, types)
        return self.functions.name_of("pack", text)

    def work(self, rows: int, columns: int, depth: int) -> int:
        """Multiplications of a part of the results, and other ops on these: each takes as long."""
        return rows * columns * (depth + (0 if self.finish is None else self.finish.epilogue.cost))

    def scratch(self, size: int) -> str:
        """A new buffer of `size` bytes, as a `memref<1xi8>`."""
        return self.text.value(self.buffer(size, "i8"))

    def numbers(self, count: int) -> str:
        """A new buffer of `count` f32 numbers, as a `memref<1xf32>`."""
        return self.text.value(self.buffer(count, "f32"))

    def buffer(self, size: int, element: str) -> str:
        """The op that gives a new buffer as its first element, as functions take it."""
        type_ = f"memref<{size}x{element}>"
        buffer = self.text.value(f"memref.alloc() {{alignment = 64 : i64}} : {type_}")
        return (
            f"memref.reinterpret_cast {buffer} to offset: [0], sizes: [1], strides: [1]"
            f" : {type_} to memref<1x{element}>"
        )

    def shared(
        self,
        kind: str,
        count: tuple[str, int],
        work: int,
        passed: dict[str, Argument],
        body: Callable[[], None],
    ) -> None:
        """Call a function of a range of parts, all of them, which threads may share.

        `count` tells how many there are, and how many at most, `work` that of each.
        `body` writes the function, where `passed` stand under their names, for the parts from
        %begin to %end. It needs buffers of its own.
        """
        outside, offsets = self.text, self.offsets
        self.text = KernelText()
        self.offsets = [f"%at{i}" for i in range(len(offsets))]
        parameters = [*self.parameters(), *((each, "index") for each in self.offsets)]
        parameters += [(name, type_) for name, (_, type_) in passed.items()]
        body()
        attributes = ""
        if self.is_parallel and count[1] * work >= LEAST_WORK:
            grain = max(1, math.ceil(GRAIN_WORK / work))
            attributes = f"{PARALLEL} = {grain} : i64, "
        bounds = [("%begin", "index"), ("%end", "index")]
        function = self.text.function("NAME", [*parameters, *bounds], attributes)
        self.text, self.offsets = outside, offsets
        arguments = [*self.parameters(), *((each, "index") for each in offsets), *passed.values()]
        bounds = [(self.text.index(0), "index"), (count[0], "index")]
        self.text.call(self.functions.name_of(kind, function), [*arguments, *bounds])
