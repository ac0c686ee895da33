"""The whole kernel of a product of few rows."""

from mlir_fp8.lowering.gpu.kernels.few_rows.activations import Activations
from mlir_fp8.lowering.gpu.kernels.few_rows.finish import Finish, Memory
from mlir_fp8.lowering.gpu.kernels.few_rows.instructions import wait_copies
from mlir_fp8.lowering.gpu.kernels.few_rows.shape import LOAD, STEP, TILE, FewRows
from mlir_fp8.lowering.gpu.kernels.few_rows.sums import Sums
from mlir_fp8.lowering.gpu.kernels.few_rows.weights import Weights
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel


def few_rows_kernel(shape: FewRows, name: str = "few_rows") -> Kernel:
    shape.check()
    return _Kernel(shape).kernel(name)


def parameters(shape: FewRows) -> dict[str, Memory]:
    """The pointers of the kernel, by name, as memrefs."""
    steps = shape.epilogue
    sizes = {"tensor": 1, "row": shape.rows, "column": shape.n}
    storage = {"f32": "i32", "bf16": "i16", "f16": "i16"}.get(shape.a_type, "i8")
    found = {"a": f"{shape.rows * shape.k}x{storage}", "b": f"{shape.n * shape.k}xi8"}
    for side in ("a_scale", "b_scale"):
        kind = getattr(steps, side)
        if kind:
            found[side] = f"{sizes[kind]}xf32"
    if steps.bias:
        found["bias"] = f"{shape.n}x{steps.bias}"
    found["d"] = f"{shape.rows * shape.n}x{steps.result}"
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in found.items()}


class _Kernel:
    """The kernel while it is written."""

    def __init__(self, shape: FewRows) -> None:
        self.shape, self.text = shape, GpuText()
        self.memories = parameters(shape)

    def kernel(self, name: str) -> Kernel:
        text, shape = self.text, self.shape
        self.thread = text.thread()
        word = text.value(f"arith.index_cast {self.thread} : index to i32")
        self.base = text.dynamic_shared(f"{name}_memory")
        self.lane_row = text.word_op("shrui", text.word_op("andi", word, WARP - 1), 2)
        self.lane = text.word_op("andi", word, 3)
        warp = text.word_op("shrui", word, 5)
        self.warp_along = text.word_op("divui", warp, shape.across)
        warp_across = text.word_op("remui", warp, shape.across)
        self.warp_column = text.word_op("muli", warp_across, TILE * shape.tiles)
        self.rank = text.block("x") if shape.split > 1 else text.index(0)
        self.column = text.mul(text.block("y"), shape.columns)
        sums = self._multiplied(word)
        finish = Finish(text, shape, self.memories, self.base)
        finish.keep_sums(sums, self.warp_along, self.warp_column, self.lane, self.lane_row)
        finish.store(self.thread, self.rank, self.column)
        body = text.kernel(
            name, list(self.memories.values()), shape.threads, shape.blocks, cluster=shape.split
        )
        grid = (shape.split, -(-shape.n // shape.columns))
        return Kernel(name, body, grid, shape.threads, shape.shared_bytes, shape.split)

    def _index(self, word: str) -> str:
        return self.text.value(f"arith.index_castui {word} : i32 to index")

    def _multiplied(self, thread: str) -> list[str]:
        """The sums of a thread, over what its warp has of K."""
        text, shape = self.text, self.shape
        start = text.mul(self.rank, shape.chunks * shape.chunk)
        end = text.minimum(text.add(start, shape.chunks * shape.chunk), text.index(shape.k))
        weights = self._weights(thread)
        within = text.word_op("muli", self.warp_along, STEP * shape.steps)
        first = text.word_op("addi", within, text.word_op("muli", self.lane, LOAD))
        first = text.add(start, self._index(first))
        for stage in range(shape.stages):
            offset = stage // shape.steps * shape.chunk + stage % shape.steps * STEP
            weights.fetch(text.add(first, offset), end, text.i32(stage * shape.stage_bytes))
        ring = shape.stages * shape.stage_bytes
        buffers = text.word_op("addi", self.base, ring)
        rows = Activations(text, shape, self.memories["a"], buffers)
        vectors = rows.loaded(self.thread, start, end)
        own = text.word_op("addi", buffers, text.word_op("muli", within, 2))
        adder = Sums(text, shape, self.lane_row, self.lane, own)
        zeros = [text.f32(0.0)] * (4 * shape.tiles * shape.groups)
        starts = [*zeros, text.i32(0), text.i32(0), *vectors]
        types = [*["f32"] * len(zeros), "i32", "i32", *[rows.type_] * len(vectors)]
        step = text.index(shape.chunk)
        with text.fold(start, end, step, starts, types) as (k, carried, results):
            sums = carried[: len(zeros)]
            stage, buffer = carried[len(zeros) : len(zeros) + 2]
            rows.store(self.thread, carried[len(zeros) + 2 :], buffer)
            following = rows.loaded(self.thread, text.add(k, shape.chunk), end)
            text.barrier()
            ahead = text.add(text.add(first, text.value(f"arith.subi {k}, {start} : index")),
                             shape.stages // shape.steps * shape.chunk)  # fmt: skip
            for i in range(shape.steps):
                wait_copies(text, shape.stages - 1)
                at = text.word_op("addi", stage, i * shape.stage_bytes) if i else stage
                codes = weights.codes(at)
                weights.fetch(text.add(ahead, i * STEP), end, at)
                offset = text.word_op("addi", buffer, 2 * STEP * i) if i else buffer
                sums = adder.added(codes, offset, sums)
            carried[:] = [*sums, *self._following(stage, buffer, ring), *following]
        wait_copies(text, 0)
        return results[: len(zeros)]

    def _weights(self, thread: str) -> Weights:
        text, shape = self.text, self.shape
        within = self.lane_row
        if not shape.k_major:
            within = text.word_op("muli", self.lane_row, shape.load_bytes)
        column = self._index(text.word_op("addi", self.warp_column, within))
        slot = text.word_op("addi", self.base, text.word_op("muli", thread, shape.load_bytes))
        return Weights(text, shape, self.memories["b"], text.add(self.column, column), slot)

    def _following(self, stage: str, buffer: str, ring: int) -> list[str]:
        """The offsets of the stage and of the buffer of the next chunk."""
        text, shape = self.text, self.shape
        moved = text.word_op("addi", stage, shape.steps * shape.stage_bytes)
        is_end = text.value(f"arith.cmpi eq, {moved}, {text.i32(ring)} : i32")
        moved = text.value(f"arith.select {is_end}, {text.i32(0)}, {moved} : i32")
        other = text.value(f"arith.subi {text.i32(shape.buffer_bytes)}, {buffer} : i32")
        return [moved, other]
