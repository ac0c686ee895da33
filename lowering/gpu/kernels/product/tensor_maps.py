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

    @property
    def tensor(self) -> "Tensor":
        sizes, box = (self.columns, self.rows), (self.box_columns, self.box_rows)
        return Tensor(sizes, (self.columns,), box)


@dataclass(frozen=True)
class Tensor:
    """A tensor of bytes, its innermost dimension first, and the box of it that is loaded."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    """Of all dimensions but the first, in any order."""
    box: tuple[int, ...]


def make_map(
    text: GpuText, thread: str, matrix: Matrix | Tensor, memory: str, shared: str, global_: str
) -> None:
    """By the threads of a warp: the map of the matrix at `memory`, i64, to `global_`, i64.

    `shared` is an address of 128 bytes, aligned to 128. Outside of the matrix boxes are 0; in
    shared memory their rows are swizzled by 128 bytes. `thread` is that of the warp, i32.
    """
    fill_map(text, thread, matrix, memory, shared)
    publish_map(text, shared, global_)


def fill_map(text: GpuText, thread: str, matrix: Matrix | Tensor, memory: str, shared: str) -> None:
    """As `make_map`, in shared memory alone."""
    mine = text.value(f"arith.addi {shared}, {text.word_op('shli', thread, 2)} : i32")
    emit(text, "st.shared.b32 [$0], $1;", [word(mine), word(text.i32(0))])
    emit(text, "bar.warp.sync 0xffffffff;")
    with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
        _fill(text, matrix.tensor if isinstance(matrix, Matrix) else matrix, memory, shared)


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


def _fill(text: GpuText, tensor: Tensor, memory: str, shared: str) -> None:
    def replace(field: str, kind: str, value: str) -> None:
        code = f"tensormap.replace.tile.{field}.shared::cta.b1024.{kind} [$0], {value};"
        emit(text, code, [word(shared)])

    code = "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;"
    emit(text, code, [word(shared), long(memory)])
    replace("rank", "b32", str(len(tensor.sizes) - 1))  # by one less
    sizes = {
        "box_dim": tensor.box,
        "global_dim": tensor.sizes,
        "element_stride": (1,) * len(tensor.sizes),
    }
    for field, all_ in sizes.items():
        for dim, size in enumerate(all_):
            code = f"tensormap.replace.tile.{field}.shared::cta.b1024.b32 [$0], {dim}, $1;"
            emit(text, code, [word(shared), word(text.i32(size))])
    for dim, size in enumerate(tensor.strides):
        stride = text.constant(f"{size} : i64")
        code = f"tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [$0], {dim}, $1;"
        emit(text, code, [word(shared), long(stride)])
    replace("elemtype", "b32", "0")  # u8
    replace("interleave_layout", "b32", "0")  # none
    replace("swizzle_mode", "b32", "3")  # 128 bytes
    replace("fill_mode", "b32", "0")  # zeros
