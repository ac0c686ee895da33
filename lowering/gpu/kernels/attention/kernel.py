"""The whole kernel of an attention: one warpgroup loads tiles, the others multiply them."""

from mlir_fp8.lowering.gpu.kernels.attention.loads import STATES, Rings, load_all, tensors
from mlir_fp8.lowering.gpu.kernels.attention.main_loop import Warpgroup, attended
from mlir_fp8.lowering.gpu.kernels.attention.queries import score_factor, turn_negative
from mlir_fp8.lowering.gpu.kernels.attention.results import store_lse, store_results
from mlir_fp8.lowering.gpu.kernels.attention.schedule import as_word, work
from mlir_fp8.lowering.gpu.kernels.attention.scores import sight
from mlir_fp8.lowering.gpu.kernels.attention.shape import Attention
from mlir_fp8.lowering.gpu.kernels.attention.softmax import checked_sums
from mlir_fp8.lowering.gpu.kernels.attention.turns import Turns
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, ROWS, SPAN, WARPGROUP
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import acquire_map, make_map
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

_LOADING, _MULTIPLYING = 24, 240
"""Registers of a thread: two warpgroups of the second and one of the first are 64,512."""


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
        maps = self._prepared(rings, thread)
        group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
        loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
        with text.when(loads):
            self._registers("decrease", _LOADING)
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                load_all(text, shape, rings, maps, self.offsets)
            text.otherwise()
            self._registers("increase", _MULTIPLYING)
            self._multiply(rings, thread, group)
        body = text.kernel(name, list(self.memories.values()), shape.threads, 1)
        return Kernel(name, body, (shape.grid, 1), shape.threads, shape.shared_bytes)

    def _registers(self, change: str, count: int) -> None:
        """Two warpgroups may have 255 each without."""
        if self.shape.consumers > 1:
            self.text.line(f"nvvm.setmaxregister {change} {count}")

    def _rings(self, base: str) -> Rings:
        found: list[Pipeline] = []
        for ring in self.shape.rings:
            found.append(Pipeline(self.text, ring, base))
            base = self.text.word_op("addi", base, ring.bytes)
        return Rings(*found)

    def _address(self, name: str) -> str:
        memory, type_ = self.memories[name]
        text = self.text
        index = text.value(f"memref.extract_aligned_pointer_as_index {memory} : {type_} -> index")
        return text.value(f"arith.index_cast {index} : index to i64")

    def _prepared(self, rings: Rings, thread: str) -> list[str]:
        """Barriers and tensor maps, which the first warp makes: where these are, i64."""
        text, shape = self.text, self.shape
        slot = text.mul(text.block(), len(rings.all) * MAP)
        slot = text.value(f"arith.index_cast {slot} : index to i64")
        slot = text.value(f"arith.addi {self._address('workspace')}, {slot} : i64")
        maps = [
            text.value(f"arith.addi {slot}, {text.constant(f'{MAP * i} : i64')} : i64")
            for i in range(len(rings.all))
        ]
        with text.when(text.value(f"arith.cmpi ult, {thread}, {text.i32(WARP)} : i32")):
            for ring, name, tensor, to in zip(
                rings.all, ("q", "k", "v"), tensors(shape), maps, strict=True
            ):
                make_map(text, thread, tensor, self._address(name), ring.map_(0), to)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
                for ring in rings.all:
                    ring.make_barriers()
                fence_barriers(text)
        text.barrier()
        for each in maps:
            acquire_map(text, each)
        return maps

    def _multiply(self, rings: Rings, thread: str, group: str) -> None:
        text, shape = self.text, self.shape
        lane = text.word_op("andi", thread, WARP - 1)
        # Of a warp 16 rows, of four threads one.
        warp = text.word_op("shrui", thread, WARP.bit_length() - 1)
        down = text.value(
            f"arith.addi {text.word_op('muli', warp, ROWS // 4)}, "
            f"{text.word_op('shrui', lane, 2)} : i32"
        )
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
