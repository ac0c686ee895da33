"""Partial sums of warps and blocks, added in a fixed order, and the epilogue of the result."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import load_number, store_number
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import GROUP, TILE, FewRows
from mlir_fp8.lowering.gpu.kernels.product.instructions import sync_cluster
from mlir_fp8.lowering.gpu.kernels.product.rounding import rounded
from mlir_fp8.lowering.gpu.kernels.product.steps import finished
from mlir_fp8.lowering.gpu.kernels.text import GpuText

Memory = tuple[str, str]
"""A memref and its type."""


class Finish:
    """The end of a kernel; `base` is the shared memory of the block, i32."""

    def __init__(
        self, text: GpuText, shape: FewRows, memories: dict[str, Memory], base: str
    ) -> None:
        self.text, self.shape, self.memories, self.base = text, shape, memories, base
        self.steps = shape.epilogue

    def keep_sums(
        self, sums: Sequence[str], warp_along: str, column: str, lane: str, lane_row: str
    ) -> None:
        """Put a thread's sums into shared memory: [warps along K, rows, columns] of the block.

        `column` is the warp's first; all are i32. The threads of a block wait for each other.
        """
        text, shape = self.text, self.shape
        text.barrier()  # nobody reads what was there any more
        first = text.word_op("muli", warp_along, shape.rows * shape.columns)
        apart = 1 if shape.k_major else shape.load_bytes
        own = text.word_op("addi", column, text.word_op("muli", lane_row, apart))
        for group in range(shape.groups):
            for i in range(2):
                row = text.word_op("muli", lane, 2)
                row = text.word_op("addi", row, group * GROUP + i)
                whole = (group + 1) * GROUP <= shape.rows
                at = text.word_op("addi", first, text.word_op("muli", row, shape.columns))
                at = text.word_op("muli", text.word_op("addi", at, own), 4)
                at = text.word_op("addi", at, self.base)
                if whole:
                    self._keep(sums, group, i, at)
                    continue
                inside = text.value(f"arith.cmpi ult, {row}, {text.i32(shape.rows)} : i32")
                with text.when(inside):
                    self._keep(sums, group, i, at)
        if shape.split > 1:
            sync_cluster(text)
        else:
            text.barrier()

    def _keep(self, sums: Sequence[str], group: int, i: int, at: str) -> None:
        text, shape = self.text, self.shape
        for tile in range(shape.tiles):
            four = sums[4 * (tile * shape.groups + group) :][:4]
            for half in range(2):
                offset = 4 * (tile * TILE + half * GROUP if shape.k_major else 2 * tile + half)
                to = text.word_op("addi", at, offset) if offset else at
                store_number(text, to, four[2 * half + i])

    def store(self, thread: str, rank: str, column: str) -> None:
        """Store what the block `rank` of a cluster has of the result; `column`: the block's first.

        All are of type index.
        """
        text, shape = self.text, self.shape
        scalars = {
            name: self._loaded(name, "f32", text.index(0))
            for name in ("a_scale", "b_scale")
            if getattr(self.steps, name) == "tensor"
        }
        start = text.add(text.mul(rank, shape.threads), thread)
        end = text.index(shape.rows * shape.columns)
        with text.loop(start, end, text.index(shape.threads * shape.split)) as place:
            own = text.add(column, text.rem(place, shape.columns))
            if shape.n % shape.columns == 0:
                self._store(place, own, scalars)
            else:
                with text.when(text.below(own, shape.n)):
                    self._store(place, own, scalars)
        if shape.split > 1:
            sync_cluster(text)  # blocks stay while others read their sums

    def _store(self, place: str, column: str, scalars: dict[str, str]) -> None:
        text, shape = self.text, self.shape
        row = text.div(place, shape.columns)
        x = self._finished(self._total(place), row, column, scalars)
        memory, type_ = self.memories["d"]
        if self.steps.result != "f32":
            x = text.value(f"arith.truncf {x} : f32 to {self.steps.result}")
        at = text.add(text.mul(row, shape.n), column)
        text.line(f"memref.store {x}, {memory}[{at}] : {type_}")

    def _total(self, place: str) -> str:
        """The sum over blocks of the cluster, and over warps of each, from the first on."""
        text, shape = self.text, self.shape
        word = text.value(f"arith.index_cast {place} : index to i32")
        at = text.word_op("addi", self.base, text.word_op("muli", word, 4))
        size = 4 * shape.rows * shape.columns
        total: str | None = None
        for block in range(shape.split):
            rank = text.i32(block) if shape.split > 1 else None
            for warp in range(shape.along):
                part = load_number(text, text.word_op("addi", at, warp * size), rank)
                total = part if total is None else text.value(f"arith.addf {total}, {part} : f32")
        assert total is not None
        return total

    def _loaded(self, name: str, element: str, at: str) -> str:
        memory, type_ = self.memories[name]
        found = self.text.value(f"memref.load {memory}[{at}] : {type_}")
        if element == "f32":
            return found
        return self.text.value(f"arith.extf {found} : {element} to f32")

    def _finished(self, x: str, row: str, column: str, scalars: dict[str, str]) -> str:
        """A sum after all steps of the epilogue before the result's type."""
        factors = [
            scalars.get(name)
            or (self._loaded(name, "f32", index) if getattr(self.steps, name) else None)
            for name, index in (("a_scale", row), ("b_scale", column))
        ]
        bias = None
        if self.steps.bias:
            bias = self._loaded("bias", self.steps.bias, column)
            bias = rounded(self.text, bias, self.steps.type)
        return finished(self.text, self.steps, x, factors, bias)
