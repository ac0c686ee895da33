"""What kernels of attention and of its gradients begin with: registers, tensor maps, rows."""

from collections.abc import Mapping, Sequence

from mlir_fp8.lowering.gpu.kernels.attention.shape import Ring
from mlir_fp8.lowering.gpu.kernels.product.instructions import fence_barriers
from mlir_fp8.lowering.gpu.kernels.product.pipeline import Pipeline
from mlir_fp8.lowering.gpu.kernels.product.shape import MAP, ROWS
from mlir_fp8.lowering.gpu.kernels.product.tensor_maps import Tensor, acquire_map, make_map
from mlir_fp8.lowering.gpu.kernels.text import WARP, GpuText

LOADING, MULTIPLYING = 24, 240
"""Registers of a thread: two warpgroups of the second and one of the first are 64,512."""
Memories = Mapping[str, tuple[str, str]]
"""The kernel's pointers by name: memrefs and their types."""


def change_registers(text: GpuText, consumers: int, change: str, count: int) -> None:
    """Two warpgroups may have 255 each without."""
    if consumers > 1:
        text.line(f"nvvm.setmaxregister {change} {count}")


def address(text: GpuText, memories: Memories, name: str) -> str:
    """Where a pointer points, i64."""
    memory, type_ = memories[name]
    index = text.value(f"memref.extract_aligned_pointer_as_index {memory} : {type_} -> index")
    return text.value(f"arith.index_cast {index} : index to i64")


def prepared(
    text: GpuText,
    thread: str,
    memories: Memories,
    rings: Sequence[Pipeline[Ring]],
    tensors: Sequence[tuple[Pipeline[Ring], int, Tensor, str]],
) -> list[str]:
    """Barriers and tensor maps, which the first warp makes: where these are, i64.

    `tensors` have the ring that they go through, the number of their map in it, and their name
    among `memories`, where `workspace` has room for the maps.
    """
    slot = text.mul(text.block(), len(tensors) * MAP)
    slot = text.value(f"arith.index_cast {slot} : index to i64")
    slot = text.value(f"arith.addi {address(text, memories, 'workspace')}, {slot} : i64")
    maps = [
        text.value(f"arith.addi {slot}, {text.constant(f'{MAP * i} : i64')} : i64")
        for i in range(len(tensors))
    ]
    with text.when(text.value(f"arith.cmpi ult, {thread}, {text.i32(WARP)} : i32")):
        for (ring, at, tensor, name), to in zip(tensors, maps, strict=True):
            start = address(text, memories, name)
            make_map(text, thread, tensor, start, ring.map_(at), to)
        with text.when(text.value(f"arith.cmpi eq, {thread}, {text.i32(0)} : i32")):
            for ring in rings:
                ring.make_barriers()
            fence_barriers(text)
    text.barrier()
    for each in maps:
        acquire_map(text, each)
    return maps


def lane_and_row(text: GpuText, thread: str) -> tuple[str, str]:
    """Of a warpgroup's sums: a thread's number in its warp, and the first row that it has."""
    lane = text.word_op("andi", thread, WARP - 1)
    # Of a warp 16 rows, of four threads one.
    warp = text.word_op("shrui", thread, WARP.bit_length() - 1)
    down = text.value(
        f"arith.addi {text.word_op('muli', warp, ROWS // 4)}, "
        f"{text.word_op('shrui', lane, 2)} : i32"
    )
    return lane, down


def any_of(text: GpuText, conditions: Sequence[str]) -> str | None:
    """Whether one of them holds; None where there is none."""
    if not conditions:
        return None
    found = conditions[0]
    for each in conditions[1:]:
        found = text.value(f"arith.ori {found}, {each} : i1")
    return found
