"""The function of one product while it is emitted, and the outlined bodies of its parallel loops.

No reduction is split among threads, so results do not depend on the number of threads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.products.choices_table import Choice
from mlir_fp8.lowering.kernels.products.finish import Finish
from mlir_fp8.lowering.kernels.products.pack import Pack
from mlir_fp8.lowering.kernels.products.pack_bytes import PackBytes
from mlir_fp8.lowering.kernels.vector_code.byte_tables import INTRINSICS
from mlir_fp8.lowering.kernels.vector_code.expression import Expression, Leaf
from mlir_fp8.lowering.kernels.vector_code.reader import Reader
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import Argument, KernelText
from mlir_fp8.lowering.loop_analysis.parallel_loops import PARALLEL
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

LEAST_WORK = 1 << 22
"""Multiplications (about 0.1 ms) below which waking threads costs more than it saves."""
GRAIN_WORK = 1 << 18


@dataclass
class ProductParts:
    """`text` is the body that is being emitted, `offsets` are the offsets of the leaves in it."""

    product: Contraction
    target: KernelTarget
    choice: Choice
    functions: KernelFunctions
    threads: int
    finish: Finish | None
    """The epilogue of each finished block of results."""
    text: KernelText = field(default_factory=KernelText)
    offsets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        offsets = [leaf.offset for leaf in self.leaves]
        offsets += [] if self.finish is None else self.finish.offsets
        self.offsets = [self.text.index(each) for each in offsets]
        for number, leaf in enumerate(self._operands):
            if leaf.subview is not None:
                self.offsets[number] = self.text.add(f"%o{number}", self.offsets[number])

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
        """Whether results go to a block buffer (`new_block`), not to the whole result."""
        return self.finish is not None and self.finish.has_block

    @property
    def _operands(self) -> list[Leaf]:
        return [*self.product.left.leaves, *self.product.right.leaves]

    @property
    def leaves(self) -> list[Leaf]:
        return [*self._operands, *([] if self.has_block else [self.product.out])]

    @property
    def strides(self) -> list[tuple[int, ...]]:
        """The strides of the buffers of `offsets`: the leaves, then those of `finish`."""
        own = [leaf.strides for leaf in self.leaves]
        return own if self.finish is None else [*own, *self.finish.strides]

    @property
    def out_strides(self) -> tuple[int, ...]:
        """The strides of the results in %c."""
        if self.finish is None or not self.has_block:
            return self.product.out.strides
        return self.finish.block_strides

    def place(self, row: str, column: str, inside: str) -> str:
        """The offset in %c of the result at `row` and `column`; of row `inside` in a block."""
        text = self.text
        if self.has_block:
            return text.mul(inside, self.out_strides[self.product.m])
        place = self.offsets[len(self._operands)]
        place = text.add(place, text.mul(row, self.out_strides[self.product.m]))
        return text.add(place, text.mul(column, self.out_strides[self.product.n]))

    def new_block(self, rows: int) -> None:
        """Allocate %c as a block buffer of `rows` rows, where `has_block`."""
        if self.finish is None or not self.has_block:
            return
        self.text.line(f"%c = {self.buffer(self.finish.block_size(rows), 'f32')}")

    def finish_block(
        self, place: str, at: tuple[str, str], size: tuple[str, str], depth: str | None
    ) -> None:
        """Run the epilogue on the block of `size` at (m, n) = `at`, which is in %c at `place`.

        Only once the reduction is complete: in its last block (by `depth`), or its only one.
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

    def signature(self) -> list[Argument]:
        """`parameters`, then the offsets of operands that are not known before."""
        given = [i for i, leaf in enumerate(self._operands) if leaf.subview is not None]
        return [*self.parameters(), *((f"%o{number}", "index") for number in given)]

    def parameters(self) -> list[Argument]:
        """The function's parameters: leaves of both operands, the result, those of `finish`."""
        named = [(f"%p{i}", f"memref<1x{x.element}>") for i, x in enumerate(self._operands)]
        named += [] if self.has_block else [("%c", f"memref<1x{self.product.out.element}>")]
        if self.finish is None:
            return named
        return [*named, *self.finish.buffers(), *self.finish.scalars()]

    def source(
        self,
        side: Expression,
        at: dict[int, str],
        outer: int,
        inner: int,
        reader: Reader | None = None,
    ) -> list[Argument]:
        """Arguments for a `Reader` of `side` at the indices `at`, by dimension.

        `reader` reads a panel that begins there; else it has the strides of `side`.
        """
        text = self.text
        first = 0 if side is self.product.left else len(self.product.left.leaves)
        found = []
        for number, leaf in enumerate(side.leaves, first):
            found += [self.parameters()[number], (self.moved(number, leaf, at), "index")]
            if reader is not None:
                leaf = reader.expression.leaves[number - first]
            found += [(text.index(leaf.strides[d]), "index") for d in (outer, inner)]
            for dimension in (outer, inner):
                if leaf.group(dimension) > 1:
                    index = at.get(dimension, text.index(0))
                    found.append((text.rem(index, leaf.group(dimension)), "index"))
        return found

    def moved(self, number: int, leaf: Leaf, at: dict[int, str]) -> str:
        """The offset in a leaf, given with its number, of the group that the indices `at` are in;
        in a panel, of the element itself."""
        text, offset = self.text, self.offsets[number]
        for dimension, index in at.items():
            if not leaf.strides[dimension]:
                continue
            group, step = leaf.group(dimension), leaf.step(dimension)
            outer = text.div(index, group) if group > 1 else index
            offset = text.add(offset, text.mul(outer, leaf.strides[dimension]))
            if step:
                offset = text.add(offset, text.mul(text.rem(index, group), step))
        return offset

    def pack(self, pack: Pack) -> str:
        """The symbol name of the packing kernel."""
        text = pack.text("NAME", self.target)
        if pack.looks_up(self.target) is not None:
            for name, types in INTRINSICS.items():
                self.functions.declare(name, types)
        return self.functions.name_of("pack", text)

    def pack_bytes(self, pack: PackBytes) -> str:
        """The symbol name of the packing kernel of bytes."""
        return self.functions.name_of("pack", pack.text("NAME", self.target))

    def work(self, rows: int, columns: int, depth: int) -> int:
        """The cost of `rows` x `columns` results: multiplications and epilogue ops."""
        return rows * columns * (depth + (0 if self.finish is None else self.finish.epilogue.cost))

    def scratch(self, size: int) -> str:
        """A new buffer of `size` bytes, as a `memref<1xi8>`."""
        return self.text.value(self.buffer(size, "i8"))

    def numbers(self, count: int) -> str:
        """A new buffer of `count` f32 elements, as a `memref<1xf32>`."""
        return self.text.value(self.buffer(count, "f32"))

    def buffer(self, size: int, element: str) -> str:
        """Allocate, and give the op that casts to one element: the kernels' calling convention."""
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
        """Outline a parallel loop: call a function of a range of iterations on all of them.

        `count` is the trip count, as an SSA value and an upper bound; `work` is the cost of an
        iteration. `body` emits the iterations [%begin, %end); it captures `passed` under their
        names, and must allocate its own buffers, since threads may run it concurrently.
        """
        outside, offsets = self.text, self.offsets
        self.text = KernelText()
        self.offsets = [f"%at{i}" for i in range(len(offsets))]
        parameters = [*self.parameters(), *((each, "index") for each in self.offsets)]
        parameters += [(name, type_) for name, (_, type_) in passed.items()]
        body()
        attributes = ""
        if self.threads > 1 and count[1] * work >= LEAST_WORK:
            grain = max(1, math.ceil(GRAIN_WORK / work))
            attributes = f"{PARALLEL} = {grain} : i64, "
        bounds = [("%begin", "index"), ("%end", "index")]
        function = self.text.function("NAME", [*parameters, *bounds], attributes)
        self.text, self.offsets = outside, offsets
        arguments = [*self.parameters(), *((each, "index") for each in offsets), *passed.values()]
        bounds = [(self.text.index(0), "index"), (count[0], "index")]
        self.text.call(self.functions.name_of(kind, function), [*arguments, *bounds])
