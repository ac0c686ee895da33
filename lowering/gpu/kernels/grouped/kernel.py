"""The whole kernel of a grouped product: one warp loads, the warpgroups before it multiply."""

from mlir_fp8.lowering.gpu.kernels.grouped.edges import hide_before
from mlir_fp8.lowering.gpu.kernels.grouped.loading import Loader
from mlir_fp8.lowering.gpu.kernels.grouped.schedule import Groups, Tile, group_tiles
from mlir_fp8.lowering.gpu.kernels.grouped.shape import Grouped
from mlir_fp8.lowering.gpu.kernels.product.epilogue import Finish, Memory, Place
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers, sync_cluster
from mlir_fp8.lowering.gpu.kernels.product.kernel import address, begin_multiplying, roles, row_of
from mlir_fp8.lowering.gpu.kernels.product.main_loop import multiplied
from mlir_fp8.lowering.gpu.kernels.product.pipeline import STATE, Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, RESULTS, WARPGROUP, Product
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText, Kernel


def grouped_kernel(shape: Grouped, name: str = "grouped_product") -> Kernel:
    shape.check()
    text, of = GpuText(), shape.product
    memories = parameters(shape)
    groups = Groups(text, shape, memories["sizes"])
    thread = text.value(f"arith.index_cast {text.thread()} : index to i32")
    base = text.dynamic_shared(f"{name}_stages")
    base = text.word_op("andi", text.word_op("addi", base, 1023), -1024)
    pipeline = Pipeline(text, of, base)
    slot = text.mul(text.block(), 2 * MAP * shape.maps)
    slot = text.value(f"arith.index_cast {slot} : index to i64")
    slot = text.value(f"arith.addi {address(text, memories['workspace'])}, {slot} : i64")
    lane = text.word_op("andi", thread, WARP - 1)
    loader = Loader(groups, pipeline, lane, slot)
    first = text.i32(WARPGROUP * of.consumers // WARP)
    warp = text.word_op("shrui", thread, WARP.bit_length() - 1)
    is_loader = text.value(f"arith.cmpi eq, {warp}, {first} : i32")
    with text.when(is_loader):
        loader.prepare([address(text, memories[each]) for each in ("a", "b")])
        with text.when(text.value(f"arith.cmpi eq, {lane}, {text.i32(0)} : i32")):
            pipeline.make_barriers()
            fence_barriers(text)
    text.barrier()
    if of.cluster > 1:
        sync_cluster(text)
    with roles(text, of, thread) as group:
        with text.when(is_loader):
            loader.load()
        begin_multiplying(text, of)
        _multiply(groups, pipeline, memories, (thread, lane, group))
    body = text.kernel(name, list(memories.values()), of.threads, 1, cluster=of.cluster)
    return Kernel(name, body, (shape.grid, 1), of.threads, of.shared_bytes, of.cluster)


def parameters(shape: Grouped) -> dict[str, Memory]:
    """The pointers of the kernel, by name, as memrefs."""
    of, steps, rows = shape.product, shape.product.epilogue, shape.has_ragged_rows
    of_b, of_d = (shape.groups, 1) if rows else (1, shape.groups)
    found = {
        "a": f"{of.m * of.k}xi8",
        "b": f"{of_b * of.n * of.k}xi8",
        "sizes": f"{shape.groups}xi32",
    }
    counts = {"row": of.m, "column": of_b * of.n}
    for side in ("a", "b"):
        kind = getattr(steps, f"{side}_scale")
        if side in shape.of_groups:
            found[f"{side}_scale"] = f"{shape.groups}xf32"
        elif kind:
            # Vectors of them are loaded as words.
            found[f"{side}_scale"] = "1xf32" if kind == "tensor" else f"{counts[kind]}xi32"
    found["d"] = f"{of_d * of.m * of.n * RESULTS[steps.result]}xi8"
    found["workspace"] = f"{shape.workspace}xi8"
    return {each: (f"%{each}", f"memref<{type_}>") for each, type_ in found.items()}


def _multiply(
    groups: Groups,
    pipeline: Pipeline[Product],
    memories: dict[str, Memory],
    who: tuple[str, str, str],
) -> None:
    """What a thread of a warpgroup does; `who`: the thread, its lane and the warpgroup, i32."""
    text, (thread, lane, group) = groups.text, who
    finish = Finish(text, groups.shape.product, memories)
    down = row_of(text, thread)
    with group_tiles(groups, pipeline.start(), STATE) as (tile, carried, _):
        if not groups.shape.has_ragged_rows:
            hide_before(pipeline, tile, carried, thread)
        sums, state = multiplied(pipeline, group, lane, carried, tile.steps)
        row = text.add(_begin(groups, finish, tile), text.add(tile.row, down))
        finish.stored(sums, Place(row, tile.column, lane), None)
        carried[:] = state


def _begin(groups: Groups, finish: Finish, tile: Tile) -> str:
    """Let `finish` have what belongs to the group of a tile; the row of D that its rows count
    from."""
    text, shape = groups.text, groups.shape
    of, zero = shape.product, text.index(0)
    is_group = groups.is_group(tile.group) if shape.has_ragged_rows else None
    for side in shape.of_groups:
        memory, type_ = finish.memories[f"{side}_scale"]
        finish.factors[f"{side}_scale"] = text.chosen(
            is_group,
            "f32",
            lambda memory=memory, type_=type_: text.value(
                f"memref.load {memory}[{tile.group}] : {type_}"
            ),
            text.f32(0.0),
        )
    if shape.has_ragged_rows:
        finish.end = tile.end
        finish.moved["b_scale"] = (text.mul(tile.group, of.n), is_group)
        return zero
    first = text.mul(tile.group, of.m)
    finish.moved["a_scale"] = (text.sub(zero, first), None)
    if of.m % shape.tile_rows:
        finish.end = text.add(first, of.m)
    return first
