"""The whole kernels of an attention's gradients: one warpgroup loads tiles, others multiply."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.attention.frame import (
    LOADING,
    MULTIPLYING,
    address,
    change_registers,
    lane_and_row,
    prepared,
)
from mlir_fp8.lowering.gpu.kernels.attention.schedule import as_index, as_word
from mlir_fp8.lowering.gpu.kernels.attention.softmax import half_of
from mlir_fp8.lowering.gpu.kernels.attention_backward.loads import (
    STATES,
    Rings,
    Statistics,
    load_all,
    operands,
    tensor,
)
from mlir_fp8.lowering.gpu.kernels.attention_backward.main_loop import Warpgroup
from mlir_fp8.lowering.gpu.kernels.attention_backward.probabilities import Place, Statistic
from mlir_fp8.lowering.gpu.kernels.attention_backward.schedule import Work, work
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.rows import Rows, chunk_columns, store_row
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS, WARPGROUP, Epilogue, Product
from mlir_fp8.lowering.gpu.kernels.text import GpuText, Kernel


def attention_backward_kernel(shape: AttentionBackward, name: str = "") -> Kernel:
    shape.check()
    return _Kernel(shape).kernel(name or f"attention_backward_{shape.of}")


def parameters(shape: AttentionBackward) -> dict[str, tuple[str, str]]:
    """The pointers of the kernel, by name, as memrefs."""
    queries = shape.all_heads * shape.rows * 2
    keys = shape.batch * shape.shared * shape.keys * 2
    statistics = f"{shape.all_heads * shape.stored_rows}xf32"
    sizes = {
        "q": f"{queries * shape.depth}xi8",
        "k": f"{keys * shape.depth}xi8",
        "v": f"{keys * shape.width}xi8",
        "do": f"{queries * shape.width}xi8",
        "lse": statistics,
        "delta": statistics,
    }
    if shape.is_of_keys:
        sizes |= {"dk": sizes["k"], "dv": sizes["v"]}
    else:
        sizes["dq"] = sizes["q"]
    sizes["workspace"] = f"{shape.workspace}xi8"
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in sizes.items()}


class _Kernel:
    """The kernel while it is written."""

    def __init__(self, shape: AttentionBackward) -> None:
        self.shape, self.text = shape, GpuText()
        self.memories = parameters(shape)

    def kernel(self, name: str) -> Kernel:
        text, shape = self.text, self.shape
        thread = as_word(text, text.thread())
        base = text.dynamic_shared(f"{name}_stages")
        held = Pipeline(text, shape.held_ring, base)
        behind = text.word_op("addi", base, shape.held_ring.bytes)
        rings = Rings(held, Pipeline(text, shape.streamed_ring, behind))
        tensors = [
            (ring, at, tensor(shape, each), each)
            for ring, names in zip(rings.all, operands(shape), strict=True)
            for at, each in enumerate(names)
        ]
        maps = prepared(text, thread, self.memories, rings.all, tensors)
        group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
        loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
        with text.when(loads):
            change_registers(text, shape.consumers, "decrease", LOADING)
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                lse, delta = (address(text, self.memories, each) for each in ("lse", "delta"))
                load_all(text, shape, rings, maps, Statistics(lse, delta))
            text.otherwise()
            change_registers(text, shape.consumers, "increase", MULTIPLYING)
            self._multiply(rings, thread, group)
        body = text.kernel(name, list(self.memories.values()), shape.threads, 1)
        return Kernel(name, body, (shape.grid, 1), shape.threads, shape.shared_bytes)

    def _multiply(self, rings: Rings, thread: str, group: str) -> None:
        text, shape = self.text, self.shape
        lane, down = lane_and_row(text, thread)
        with work(text, shape, rings.start(), STATES) as (now, carried, _):
            row = text.value(f"arith.addi {now.first}, {down} : i32")
            mine = text.word_op("muli", group, ROWS)
            place = Place(row, text.value(f"arith.addi {now.first}, {mine} : i32"), lane)
            statistics = None if shape.is_of_keys else self._of_rows(now, row)
            warpgroup = Warpgroup(text, shape, rings, group, place, statistics)
            values, scores, states = warpgroup.gradients(now, carried)
            scaled = [
                text.value(f"arith.mulf {each}, {text.f32(shape.scale)} : f32") for each in scores
            ]
            if shape.is_of_keys:
                self._store("dv", values, now, row, lane)
            self._store("dk" if shape.is_of_keys else "dq", scaled, now, row, lane)
            carried[:] = states

    def _of_rows(self, now: Work, row: str) -> tuple[Statistic, Statistic]:
        """lse and delta of this thread's two queries; there are some behind the last."""
        text, shape = self.text, self.shape
        start = text.word_op("muli", now.head, shape.stored_rows)
        start = text.value(f"arith.addi {start}, {row} : i32")
        places = [as_index(text, text.word_op("addi", start, 8 * half)) for half in range(2)]
        lse, delta = (
            Statistic([text.value(f"memref.load {name}[{at}] : {type_}") for at in places])
            for name, type_ in (self.memories[each] for each in ("lse", "delta"))
        )
        return lse, delta

    def _store(self, name: str, numbers: Sequence[str], now: Work, row: str, lane: str) -> None:
        text, shape = self.text, self.shape
        steps = Epilogue(result=shape.element)
        size, columns = (shape.depth, shape.tile_depth)
        if name == "dv":
            size, columns = (shape.width, shape.tile_width)
        rows = shape.held_size
        matrix = Product(shape.held_heads * rows, size, 16, epilogue=steps, tile_n=columns)
        start = text.mul(as_index(text, now.head), rows)
        first, each = as_index(text, row), chunk_columns(shape.element)
        for half in range(2):
            own = text.add(first, 8 * half)
            inside = None if rows % shape.held == 0 else text.below(own, rows)
            mine = half_of(numbers, half)
            for column in range(0, columns, each):
                at = (text.add(start, own), inside, text.index(column), lane)
                part = mine[column // 4 : (column + each) // 4]
                store_row(text, Rows(matrix, self.memories[name], *at), steps, part, None, None)
