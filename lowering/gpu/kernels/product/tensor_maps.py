"""Tensor maps, which TMA reads matrices by, made on the device: XLA gives kernels pointers alone.

The first warp makes one in shared memory, field by field, and copies it to the workspace of its
block in global memory (PTX ISA, `tensormap.replace` and `tensormap.cp_fenceproxy`).
"""

from dataclasses import dataclass

from mlir_fp8.lowering.gpu.kernels.product.instructions import emit, long, word
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, SPAN
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText


@dataclass(frozen=True)
class Matrix:
    """A row-major matrix of bytes in memory, and the box of it that TMA loads at a time."""

    rows: int
    columns: int
    box_rows: int
    box_columns: int = SPAN


def make_map(
    text: GpuText, thread: str, matrix: Matrix, memory: str, shared: str, global_: str
) -> None:
    """By the threads of the first warp: the map of the matrix at `memory`, i64, to `global_`, i64.

    `shared` is an address of 128 bytes, aligned to 128. Outside of the matrix boxes are 0; in
    shared memory their rows are swizzled by 128 bytes. `thread` is i32.
    """
    fill_map(text, thread, matrix, memory, shared)
    publish_map(text, shared, global_)


def fill_map(text: GpuText, thread: str, matrix: Matrix, memory: str, shared: str) -> None:
    """As `make_map`, in shared memory alone."""
    mine = text.value(f"arith.addi {shared}, {text.word_op('shli', thread, 2)} : i32")
    emit(text, "st.shared.b32 [$0], $1;", [word(mine), word(text.i32(0))])
    emit(text, "bar.warp.sync 0xffffffff;")
    with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
        _fill(text, matrix, memory, shared)


def end_columns(text: GpuText, thread: str, end: str, shared: str) -> None:
    """By the threads of a warp: the columns of the map in shared memory end at `end`, i32."""
    emit(text, "bar.warp.sync 0xffffffff;")
    with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
        code = "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [$0], 0, $1;"
        emit(text, code, [word(shared), word(end)])


def publish_map(text: GpuText, shared: str, global_: str) -> None:
    """By the threads of a warp: the map in shared memory to `global_`."""
    emit(text, "bar.warp.sync 0xffffffff;")
    code = (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        f"[$0], [$1], {MAP};"
    )
    emit(text, code, [long(global_), word(shared)])
    assert MAP == 4 * WARP


def acquire_map(text: GpuText, global_: str) -> None:
    """Let this thread's TMA see the map as it was made."""
    emit(text, f"fence.proxy.tensormap::generic.acquire.gpu [$0], {MAP};", [long(global_)])


def _fill(text: GpuText, matrix: Matrix, memory: str, shared: str) -> None:
    def replace(field: str, kind: str, value: str) -> None:
        code = f"tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [$0], {value};"
        emit(text, code, [word(shared)])

    code = "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;"
    emit(text, code, [word(shared), long(memory)])
    replace("rank", "b32", "1")  # of two dimensions, less one
    sizes = {
        "box_dim": (matrix.box_columns, matrix.box_rows),
        "global_dim": (matrix.columns, matrix.rows),
        "element_stride": (1, 1),
    }
    for field, both in sizes.items():
        for dim, size in enumerate(both):
            code = f"tensormap.replace.tile.{field}.shared::cta.b1024.b32 [$0], {dim}, $1;"
            emit(text, code, [word(shared), word(text.i32(size))])
    stride = text.constant(f"{matrix.columns} : i64")
    code = "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [$0], 0, $1;"
    emit(text, code, [word(shared), long(stride)])
    replace("elemtype", "b32", "0")  # u8
    replace("interleave_layout", "b32", "0")  # none
    replace("swizzle_mode", "b32", "3")  # 128 bytes
    replace("fill_mode", "b32", "0")  # zeros
