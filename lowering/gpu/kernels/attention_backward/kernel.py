"""The whole kernels of an attention's gradients: one warpgroup loads tiles, others multiply."""

from collections.abc import Sequence

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
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.rows import Rows, chunk_columns, store_row
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, ROWS, WARPGROUP, Epilogue, Product
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import acquire_map, make_map
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

_LOADING, _MULTIPLYING = 24, 240
"""Registers of a thread: two warpgroups of the second and one of the first are 64,512."""


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
        maps = self._prepared(rings, thread)
        group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
        loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
        with text.when(loads):
            self._registers("decrease", _LOADING)
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                statistics = Statistics(self._address("lse"), self._address("delta"))
                load_all(text, shape, rings, maps, statistics)
            text.otherwise()
            self._registers("increase", _MULTIPLYING)
            self._multiply(rings, thread, group)
        body = text.kernel(name, list(self.memories.values()), shape.threads, 1)
        return Kernel(name, body, (shape.grid, 1), shape.threads, shape.shared_bytes)

    def _registers(self, change: str, count: int) -> None:
        """Two warpgroups may have 255 each without."""
        if self.shape.consumers > 1:
            self.text.line(f"nvvm.setmaxregister {change} {count}")

    def _address(self, name: str) -> str:
        memory, type_ = self.memories[name]
        text = self.text
        index = text.value(f"memref.extract_aligned_pointer_as_index {memory} : {type_} -> index")
        return text.value(f"arith.index_cast {index} : index to i64")

    def _prepared(self, rings: Rings, thread: str) -> list[str]:
        """Barriers and tensor maps, which the first warp makes: where these are, i64."""
        text, shape = self.text, self.shape
        slot = text.mul(text.block(), shape.maps * MAP)
        slot = text.value(f"arith.index_cast {slot} : index to i64")
        slot = text.value(f"arith.addi {self._address('workspace')}, {slot} : i64")
        maps = [
            text.value(f"arith.addi {slot}, {text.constant(f'{MAP * i} : i64')} : i64")
            for i in range(shape.maps)
        ]
        with text.when(text.value(f"arith.cmpi ult, {thread}, {text.i32(WARP)} : i32")):
            to = iter(maps)
            for ring, names in zip(rings.all, operands(shape), strict=True):
                for at, name in enumerate(names):
                    made, address = tensor(shape, name), self._address(name)
                    make_map(text, thread, made, address, ring.map_(at), next(to))
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
