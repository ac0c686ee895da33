"""The whole kernel of an attention: one warpgroup loads tiles, the others multiply them."""

from mlir_fp8.lowering.gpu.kernels.attention.frame import (
    LOADING,
    MULTIPLYING,
    change_registers,
    lane_and_row,
    prepared,
)
from mlir_fp8.lowering.gpu.kernels.attention.loads import STATES, Rings, load_all, tensors
from mlir_fp8.lowering.gpu.kernels.attention.main_loop import Warpgroup, attended
from mlir_fp8.lowering.gpu.kernels.attention.queries import score_factor, turn_negative
from mlir_fp8.lowering.gpu.kernels.attention.results import store_lse, store_results
from mlir_fp8.lowering.gpu.kernels.attention.schedule import as_word, work
from mlir_fp8.lowering.gpu.kernels.attention.scores import sight
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
from mlir_fp8.lowering.gpu.kernels.attention.softmax import checked_sums
from mlir_fp8.lowering.gpu.kernels.attention.turns import Turns
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import ROWS, SPAN, WARPGROUP
from mlir_fp8.lowering.gpu.kernels.text import GpuText, Kernel


def attention_kernel(shape: Attention, name: str = "attention") -> Kernel:
    shape.check()
    return _Kernel(shape).kernel(name)


def parameters(shape: Attention) -> dict[str, tuple[str, str]]:
    """The pointers of the kernel, by name, as memrefs."""
    heads = shape.batch * shape.shared
    sizes = {
        "q": f"{shape.all_heads * shape.rows * shape.depth}xi8",
        "k": f"{heads * shape.stored_keys * shape.depth}xi8",
        "v": f"{heads * shape.stored_keys * shape.width}xi8",
        "score_factor": f"{shape.all_heads}xf32",
        "out_factor": f"{shape.all_heads}xf32",
        "offsets": f"{shape.offsets}xi32",
        "o": f"{shape.result_bytes}xi8",
        "lse": f"{shape.all_heads * shape.rows}xf32",
        "workspace": f"{shape.workspace}xi8",
    }
    for name, is_there in (("offsets", shape.offsets), ("lse", shape.lse)):
        if not is_there:
            del sizes[name]
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in sizes.items()}


class _Kernel:
    """The kernel while it is written."""

    def __init__(self, shape: Attention) -> None:
        self.shape, self.text = shape, GpuText()
        self.memories = parameters(shape)
        self.offsets = self.memories.get("offsets")

    def kernel(self, name: str) -> Kernel:
        text, shape = self.text, self.shape
        thread = as_word(text, text.thread())
        base = text.dynamic_shared(f"{name}_stages")
        rings = self._rings(base)
        tensors_ = zip(rings.all, (0, 0, 0), tensors(shape), ("q", "k", "v"), strict=True)
        maps = prepared(text, thread, self.memories, rings.all, list(tensors_))
        group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
        loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
        with text.when(loads):
            change_registers(text, shape.consumers, "decrease", LOADING)
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                load_all(text, shape, rings, maps, self.offsets)
            text.otherwise()
            change_registers(text, shape.consumers, "increase", MULTIPLYING)
            self._multiply(rings, thread, group)
        body = text.kernel(name, list(self.memories.values()), shape.threads, 1)
        return Kernel(name, body, (shape.grid, 1), shape.threads, shape.shared_bytes)

    def _rings(self, base: str) -> Rings:
        found: list[Pipeline] = []
        for ring in self.shape.rings:
            found.append(Pipeline(self.text, ring, base))
            base = self.text.word_op("addi", base, ring.bytes)
        return Rings(*found)

    def _multiply(self, rings: Rings, thread: str, group: str) -> None:
        text, shape = self.text, self.shape
        lane, down = lane_and_row(text, thread)
        turns = Turns(text, shape.consumers, group)
        turns.start()
        with work(text, shape, self.offsets, rings.start(), STATES) as (now, carried, _):
            row = text.value(f"arith.addi {now.first}, {down} : i32")
            seen = sight(text, shape, now, row, lane)
            score, is_negative = score_factor(text, self.memories["score_factor"], now)
            rings.q.wait_full(carried[:2])
            queries = rings.q.tiles(carried[0])
            turn_negative(text, turns, queries, thread, is_negative)
            mine = text.word_op("muli", group, ROWS * SPAN)
            queries = text.value(f"arith.addi {queries}, {mine} : i32")
            warpgroup = Warpgroup(text, shape, rings, turns, queries, lane, score, seen)
            values, softmax, states = attended(warpgroup, now, carried)
            totals = checked_sums(text, softmax, score)
            store_results(text, shape, self.memories, now, (row, lane), values, totals)
            if shape.lse:
                store_lse(
                    text, shape, self.memories["lse"], now, (row, lane), softmax, totals, score
                )
            carried[:] = states
