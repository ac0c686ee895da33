"""The whole kernel of a product: one warpgroup loads tiles, the others multiply and store them."""

from mlir_fp8.lowering.gpu.kernels.product.epilogue import Finish, Memory, Place
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers, sync_cluster
from mlir_fp8.lowering.gpu.kernels.product.main_loop import load_tiles, multiplied
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.schedule import tiles
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, RESULTS, ROWS, WARPGROUP, Product
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import Matrix, acquire_map, make_map
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel

_LOADING, _MULTIPLYING = 40, 232
"""Registers of a thread: two warpgroups of the second and one of the first are 64,512."""


def product_kernel(shape: Product, name: str = "product") -> Kernel:
    shape.check()
    return _Kernel(shape).kernel(name)


def parameters(shape: Product) -> dict[str, Memory]:
    """The pointers of the kernel, by name, as memrefs."""
    steps = shape.epilogue
    rows = {"tensor": 1, "row": shape.m, "column": shape.n}
    bias = "f32" if steps.bias == "f32" else "i16"
    found = {"a": f"{shape.m * shape.k}xi8", "b": f"{shape.n * shape.k}xi8"}
    for side in ("a_scale", "b_scale"):
        kind = getattr(steps, side)
        if kind:
            # Vectors of them are loaded as words.
            found[side] = f"{rows[kind]}x{'f32' if kind == 'tensor' else 'i32'}"
    if steps.bias:
        found["bias"] = f"{shape.n}x{'i32' if bias == 'f32' else 'i16'}"
    if steps.d_scale:
        found["d_scale"] = "1xf32"
    if steps.amax:
        found["before"] = "1xi32"
    found["d"] = f"{shape.m * shape.n * RESULTS[steps.result]}xi8"
    if steps.transposed:
        found["transposed"] = f"{shape.m * shape.n}xi8"
    if steps.amax:
        found["amax"] = "1xi32"
    found["workspace"] = f"{shape.workspace}xi8"
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in found.items()}


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
        group = text.word_op("shrui", thread, WARPGROUP.bit_length() - 1)
        loads = text.value(f"arith.cmpi eq, {group}, {text.i32(shape.consumers)} : i32")
        with text.when(loads):
            self._registers("decrease", _LOADING)
            first = text.i32(WARPGROUP * shape.consumers)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {first} : i32")):
                load_tiles(pipeline, maps)
            text.otherwise()
            self._registers("increase", _MULTIPLYING)
            self._multiply(pipeline, thread, group)
        body = text.kernel(
            name, list(self.memories.values()), shape.threads, 1, cluster=shape.cluster
        )
        return Kernel(name, body, (shape.grid, 1), shape.threads, shape.shared_bytes, shape.cluster)

    def _registers(self, change: str, count: int) -> None:
        """Two warpgroups may have 255 each without."""
        if self.shape.consumers > 1:
            self.text.line(f"nvvm.setmaxregister {change} {count}")

    def _address(self, name: str) -> str:
        memory, type_ = self.memories[name]
        text = self.text
        index = text.value(f"memref.extract_aligned_pointer_as_index {memory} : {type_} -> index")
        return text.value(f"arith.index_cast {index} : index to i64")

    def _prepared(self, pipeline: Pipeline[Product], thread: str) -> list[str]:
        """Barriers and tensor maps, which the first warp makes: where these are, i64."""
        text, shape = self.text, self.shape
        slot = text.mul(text.block(), 2 * MAP)
        slot = text.value(f"arith.index_cast {slot} : index to i64")
        slot = text.value(f"arith.addi {self._address('workspace')}, {slot} : i64")
        maps = [slot, text.value(f"arith.addi {slot}, {text.constant(f'{MAP} : i64')} : i64")]
        matrices = {
            "a": Matrix(shape.m, shape.k, shape.tile_m),
            "b": Matrix(shape.n, shape.k, shape.tile_n // shape.cluster),
        }
        with text.when(text.value(f"arith.cmpi ult, {thread}, {text.i32(WARP)} : i32")):
            for number, (name, matrix) in enumerate(matrices.items()):
                at, to = pipeline.map_(number), maps[number]
                make_map(text, thread, matrix, self._address(name), at, to)
            with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
                pipeline.make_barriers()
                fence_barriers(text)
        text.barrier()
        if shape.cluster > 1:
            sync_cluster(text)
        for each in maps:
            acquire_map(text, each)
        return maps

    def _multiply(self, pipeline: Pipeline[Product], thread: str, group: str) -> None:
        text, shape = self.text, self.shape
        lane = text.word_op("andi", thread, WARP - 1)
        finish = Finish(text, shape, self.memories)
        within = text.value(f"arith.index_cast {thread} : i32 to index")
        # Of a warp 16 rows, of four threads one.
        down = text.add(
            text.mul(text.div(within, WARP), ROWS // 4), text.div(text.rem(within, WARP), 4)
        )
        has_amax = shape.epilogue.amax
        starts = [*pipeline.start(), *[text.i32(0)] * has_amax]
        types = [*STATE, *["i32"] * has_amax]
        with tiles(text, shape, starts, types) as (row, column, carried, ended):
            sums, state = multiplied(pipeline, group, lane, carried[:2])
            place = Place(text.add(row, down), column, lane)
            largest = finish.stored(sums, place, carried[2] if has_amax else None)
            carried[:] = [*state, *([largest] if largest else [])]
        if has_amax:
            self._keep_maximum(ended[2], lane)

    def _keep_maximum(self, word: str, lane: str) -> None:
        """Make `amax` the largest unsigned word of a grid and of what it was before."""
        text = self.text
        word = text.warp_maximum(word)
        memory, type_ = self.memories["amax"]
        with text.when(text.value(f"arith.cmpi eq, {lane}, {text.i32(0)} : i32")):
            text.value(
                f"memref.atomic_rmw maxu {word}, {memory}[{text.index(0)}] : (i32, {type_}) -> i32"
            )
