"""Calls the fused epilogue on each finished block of a product, with the offsets in its buffers."""

import math
from dataclasses import dataclass

from mlir_fp8.lowering.kernels.contractions.contraction import Contraction
from mlir_fp8.lowering.kernels.vector_code.epilogue import Epilogue
from mlir_fp8.lowering.kernels.vector_code.text import Argument, KernelText
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions


@dataclass(frozen=True)
class Finish:
    """The fused epilogue of a product that is computed in blocks of `step` columns."""

    epilogue: Epilogue
    product: Contraction
    step: int
    has_block: bool
    """Whether the f32 results live in a buffer of one block, as only the epilogue reads them."""

    @property
    def inner(self) -> int:
        return self.epilogue.inner

    @property
    def outer(self) -> int:
        """The dimension of the epilogue's row loop."""
        return self.product.m if self.inner == self.product.n else self.product.n

    @property
    def _blocks(self) -> int:
        """Blocks along a row; a row along m is never split."""
        if self.inner == self.product.m:
            return 1
        return -(-self.product.sizes[self.inner] // self.step)

    @property
    def largest_count(self) -> int:
        """f32 elements in the buffer of each maximum: a partial result per row of each block."""
        loops = (*self.product.outer, self.outer)
        return math.prod(self.product.sizes[d] for d in loops) * self._blocks

    @property
    def strides(self) -> list[tuple[int, ...]]:
        """Strides along the product's dimensions: of the leaves, then of the buffers of maxima."""
        largest = [0] * len(self.product.sizes)
        step = self._blocks
        for dimension in (self.outer, *reversed(self.product.outer)):
            largest[dimension] = step
            step *= self.product.sizes[dimension]
        leaves = [leaf.strides for leaf in self.epilogue.leaves]
        return [*leaves, *([tuple(largest)] * len(self.epilogue.maxima))]

    @property
    def offsets(self) -> list[int]:
        return [*(leaf.offset for leaf in self.epilogue.leaves), *([0] * len(self.epilogue.maxima))]

    @property
    def block_strides(self) -> tuple[int, ...]:
        """Strides of a block of the result."""
        strides = [0] * len(self.product.sizes)
        row = self.step if self.inner == self.product.n else self.product.sizes[self.product.m]
        strides[self.outer], strides[self.inner] = -(-row // 16) * 16, 1
        return tuple(strides)

    def block_size(self, rows: int) -> int:
        """Elements of a block of `rows` rows of the product."""
        count = rows if self.outer == self.product.m else self.step
        return count * self.block_strides[self.outer]

    def buffers(self) -> list[Argument]:
        """The memref parameters that it adds to the product's functions: leaves, then maxima."""
        leaves = [
            (f"%e{i}", f"memref<1x{leaf.element}>") for i, leaf in enumerate(self.epilogue.leaves)
        ]
        return [*leaves, *((f"%m{i}", "memref<1xf32>") for i in range(len(self.epilogue.maxima)))]

    def scalars(self) -> list[Argument]:
        return [(f"%y{i}", str(each.type)) for i, each in enumerate(self.epilogue.scalars)]

    def call(
        self,
        text: KernelText,
        functions: KernelFunctions,
        offsets: list[str],
        block: tuple[str, str],
        at: tuple[str, str],
        size: tuple[str, str],
    ) -> None:
        """Call the epilogue on the finished block of `size` (m, n) at `at` (m, n).

        `block` is its offset in the result buffer %c and its row stride; `offsets` are those of
        the buffers of `strides` at the current outer dimensions.
        """
        if self.inner == self.product.m:
            at, size = (at[1], at[0]), (size[1], size[0])
        row, column = at
        name = functions.name_of("epilogue", self.epilogue.text("NAME"))
        arguments = [("%c", "memref<1xf32>"), *((each, "index") for each in block)]
        number = text.div(column, self.step) if self._blocks > 1 else text.index(0)
        for i, (buffer, offset, strides) in enumerate(
            zip(self.buffers(), offsets, self.strides, strict=True)
        ):
            if strides[self.outer]:
                offset = text.add(offset, text.mul(row, strides[self.outer]))
            if i >= len(self.epilogue.leaves):
                offset = text.add(offset, number)
            elif strides[self.inner]:
                offset = text.add(offset, text.mul(column, strides[self.inner]))
            arguments += [buffer, (offset, "index"), (text.index(strides[self.outer]), "index")]
        arguments += [*self.scalars(), *((each, "index") for each in size)]
        text.call(name, arguments)
