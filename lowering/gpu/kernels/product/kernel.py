"""The whole kernel of a product: one warpgroup loads tiles, the others multiply and store them."""

import contextlib
from collections.abc import Iterator

from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.product.block_factors import BlockFactors
from mlir_fp8.lowering.gpu.kernels.product.epilogue import Finish, Memory, Place
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers, sync_cluster
from mlir_fp8.lowering.gpu.kernels.product.main_loop import load_tiles, multiplied
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.schedule import tiles
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, RESULTS, ROWS, WARPGROUP, Product
from mlir_fp8.lowering.gpu.kernels.product.split import (
    SplitSums,
    make_split_barriers,
    part_of_steps,
)
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import Matrix, acquire_map, make_map
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

_LOADING, _MULTIPLYING = 40, 232
"""Registers of a thread: two warpgroups of the second and one of the first are 64,512."""


def product_kernel(shape: Product, name: str = "product") -> Kernel:
    shape.check()
    return _Kernel(shape).kernel(name)


def parameters(shape: Product) -> dict[str, Memory]:
    """The pointers of the kernel, by name, as memrefs."""
    steps, size = shape.epilogue, shape.a_rows * shape.n
    rows = {"tensor": 1, "row": shape.a_rows, "column": shape.b_rows}
    bias = "f32" if steps.bias == "f32" else "i16"
    found = {"a": f"{shape.a_rows * shape.k}xi8", "b": f"{shape.b_rows * shape.k}xi8"}
    if shape.up == "apart":
        found["up"] = found["b"]
    blocks = {"a_scale": (shape.a_blocks, shape.a_rows), "b_scale": (shape.b_blocks, shape.b_rows)}
    for side, (of_blocks, count) in blocks.items():
        kind = getattr(steps, side)
        if of_blocks is not None:
            found[side] = f"{of_blocks.number(count, shape.k)}xf32"
        elif kind:
            # Vectors of them are loaded as words.
            found[side] = f"{rows[kind]}x{'f32' if kind == 'tensor' else 'i32'}"
    if shape.up == "apart" and steps.b_scale:
        found["up_scale"] = found["b_scale"]
    if steps.c:
        found["c"] = f"{size}x{ELEMENTS[steps.c].storage}"
    if steps.bias:
        found["bias"] = f"{shape.n}x{'i32' if bias == 'f32' else 'i16'}"
    if steps.d_scale:
        found["d_scale"] = "1xf32"
    if steps.amax:
        found["before"] = "1xi32"
    found["d"] = f"{size * RESULTS[steps.result]}xi8"
    if steps.transposed:
        found["transposed"] = f"{size}xi8"
    if steps.amax:
        found["amax"] = "1xi32"
    found["workspace"] = f"{shape.workspace}xi8"
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in found.items()}


@contextlib.contextmanager
def roles(text: GpuText, shape: Product, thread: str) -> Iterator[str]:
    """What the last warpgroup does; then, behind `begin_multiplying`, the others. Yields which."""
    group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
    loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
    with text.when(loads):
        _registers(text, shape, "decrease", _LOADING)
        yield group


def begin_multiplying(text: GpuText, shape: Product) -> None:
    text.otherwise()
    _registers(text, shape, "increase", _MULTIPLYING)


def _registers(text: GpuText, shape: Product, change: str, count: int) -> None:
    """Two warpgroups may have 255 each without."""
    if shape.consumers > 1:
        text.line(f"nvvm.setmaxregister {change} {count}")


def address(text: GpuText, memory: Memory) -> str:
    """Where a memref is, i64."""
    pointer = f"memref.extract_aligned_pointer_as_index {memory[0]} : {memory[1]} -> index"
    return text.value(f"arith.index_cast {text.value(pointer)} : index to i64")


def row_of(text: GpuText, thread: str) -> str:
    """The first row of a tile that a thread, i32, has: of a warp 16, of four threads one."""
    within = text.value(f"arith.index_cast {thread} : i32 to index")
    return text.add(
        text.mul(text.div(within, WARP), ROWS // 4), text.div(text.rem(within, WARP), 4)
    )


class _Kernel:
    """The kernel while it is written."""

    def __init__(self, shape: Product) -> None:
        self.shape, self.text = shape, GpuText()
        self.memories = parameters(shape)

    def kernel(self, name: str) -> Kernel:
        text, shape = self.text, self.shape
        thread = text.value(f"arith.index_cast {text.thread()} : index to i32")
        base = text.dynamic_shared(f"{name}_stages")
        base = text.word_op("andi", text.word_op("addi", base, 1023), -1024)
        pipeline = Pipeline(text, shape, base)
        maps = self._prepared(pipeline, thread)
        with roles(text, shape, thread) as group:
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                for each in maps:
                    acquire_map(text, each)
                load_tiles(pipeline, maps)
            begin_multiplying(text, shape)
            self._multiply(pipeline, thread, group)
        body = text.kernel(
            name, list(self.memories.values()), shape.threads, 1, cluster=shape.together
        )
        launch = (shape.threads, shape.shared_bytes, shape.together)
        return Kernel(name, body, (shape.grid, 1), *launch)

    def _prepared(self, pipeline: Pipeline[Product], thread: str) -> list[str]:
        """Barriers and tensor maps, each of which another warp makes: where these are, i64."""
        text, shape = self.text, self.shape
        slot = text.mul(text.block(), shape.maps * MAP)
        slot = text.value(f"arith.index_cast {slot} : index to i64")
        start = address(text, self.memories["workspace"])
        slot = text.value(f"arith.addi {start}, {slot} : i64")
        maps = [
            text.value(f"arith.addi {slot}, {text.constant(f'{i * MAP} : i64')} : i64")
            for i in range(shape.maps)
        ]
        b = Matrix(shape.b_rows, shape.k, shape.tile_n // shape.b_pieces)
        matrices = {"a": Matrix(shape.a_rows, shape.k, shape.tile_m), "b": b}
        if shape.up == "apart":
            matrices["up"] = b
        warp = text.word_op("shrui", thread, WARP.bit_length() - 1)
        lane = text.word_op("andi", thread, WARP - 1)
        for number, (name, matrix) in enumerate(matrices.items()):
            at, to = pipeline.map_(number), maps[number]
            with text.when(text.value(f"arith.cmpi eq, {warp}, {text.i32(number)} : i32")):
                make_map(text, lane, matrix, address(text, self.memories[name]), at, to)
        other = text.i32(WARP * len(matrices))
        with text.when(text.value(f"arith.cmpi eq, {thread}, {other} : i32")):
            pipeline.make_barriers()
            if shape.split > 1:
                make_split_barriers(pipeline)
            fence_barriers(text)
        text.barrier()
        if shape.together > 1:
            sync_cluster(text)
        return maps

    def _multiply(self, pipeline: Pipeline[Product], thread: str, group: str) -> None:
        text, shape = self.text, self.shape
        lane = text.word_op("andi", thread, WARP - 1)
        finish = Finish(text, shape, self.memories)
        split = SplitSums(pipeline, thread, lane) if shape.split > 1 else None
        down = row_of(text, thread)
        has_amax = shape.epilogue.amax
        count = None if split is None else part_of_steps(text, shape)[1]
        # Behind the pipeline's state: the turn of tiles, and the largest number so far.
        starts = [*pipeline.start(), text.i32(0), text.i32(0)]
        types = [*STATE, "i32", "i32"]
        with tiles(text, shape, starts, types) as (tile, carried, ended):
            row = text.add(tile.row, down)
            factors = self._factors(row, tile.b_row)
            sums, state = multiplied(pipeline, group, lane, carried[:2], count, factors)
            finish.end = tile.end
            if shape.batches > 1:
                finish.moved["b_scale"] = (text.sub(tile.b_row, tile.column), None)
            turn, column = carried[2], tile.column
            if split is not None:
                sums, column = split.reduced(sums, turn), split.column(column)
                turn = text.word_op("xori", turn, 1)
            place = Place(row, column, lane)
            largest = finish.stored(sums, place, carried[3] if has_amax else None)
            carried[:] = [*state, turn, largest or carried[3]]
        if split is not None:
            split.wait_read(ended[2])
        if has_amax:
            self._keep_maximum(ended[3], lane)

    def _factors(self, row: str, column: str) -> BlockFactors | None:
        shape = self.shape
        if shape.a_blocks is None and shape.b_blocks is None:
            return None
        memories = self.memories
        a = address(self.text, memories["a_scale"]) if shape.a_blocks is not None else ""
        b = address(self.text, memories["b_scale"]) if shape.b_blocks is not None else ""
        return BlockFactors(self.text, shape, (a, b), row, column)

    def _keep_maximum(self, word: str, lane: str) -> None:
        """Make `amax` the largest unsigned word of a grid and of what it was before."""
        text = self.text
        word = text.warp_maximum(word)
        memory, type_ = self.memories["amax"]
        with text.when(text.value(f"arith.cmpi eq, {lane}, {text.i32(0)} : i32")):
            text.value(
                f"memref.atomic_rmw maxu {word}, {memory}[{text.index(0)}] : (i32, {type_}) -> i32"
            )
