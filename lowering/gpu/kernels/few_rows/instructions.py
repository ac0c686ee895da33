"""Copies into shared memory, words of it, and `mma`, of which a product of few rows is made."""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.product.instructions import Operand, emit, long, word
from mlir_fp8.lowering.gpu.kernels.text import GpuText


def copy_async(text: GpuText, to: str, source: str, size: int, count: str, prefetch: int) -> None:
    """`count` bytes, i32, 0 or `size`, to shared memory, and zeros up to `size`: 4, 8 or 16.

    See `wait_copies`; `prefetch` bytes come into the L2 cache.
    """
    hint = f".L2::{prefetch}B" if prefetch else ""
    cached = "cg" if size == 16 else "ca"  # the L1 cache is not by-passed by fewer
    code = f"cp.async.{cached}.shared.global{hint} [$0], [$1], {size}, $2;"
    operands: list[Operand] = [word(to), long(source), word(count)]
    emit(text, code, operands)


def commit_copies(text: GpuText) -> None:
    """End a group of this thread's copies."""
    emit(text, "cp.async.commit_group;")


def wait_copies(text: GpuText, pending: int) -> None:
    """Until at most `pending` of this thread's groups are under way."""
    emit(text, f"cp.async.wait_group {pending};")


def pointer(text: GpuText, address: str) -> str:
    return text.value(f"llvm.inttoptr {address} : i32 to !llvm.ptr<3>")


def load_words(text: GpuText, address: str, count: int = 4) -> list[str]:
    """So many words of shared memory."""
    type_ = f"vector<{count}xi32>"
    options = f"{{alignment = {4 * count} : i64}}"
    vector = text.value(f"llvm.load {pointer(text, address)} {options} : !llvm.ptr<3> -> {type_}")
    return [text.value(f"vector.extract {vector}[{i}] : i32 from {type_}") for i in range(count)]


def store_words(text: GpuText, address: str, words: Sequence[str]) -> None:
    count = len(words)
    type_ = f"vector<{count}xi32>"
    vector = text.value(f"vector.from_elements {', '.join(words)} : {type_}")
    options = f"{{alignment = {4 * count} : i64}}"
    text.line(f"llvm.store {vector}, {pointer(text, address)} {options} : {type_}, !llvm.ptr<3>")


def store_number(text: GpuText, address: str, number: str) -> None:
    text.line(f"llvm.store {number}, {pointer(text, address)} : f32, !llvm.ptr<3>")


def load_number(text: GpuText, address: str, rank: str | None) -> str:
    """An f32 of shared memory, of the block `rank` of the cluster where that is given."""
    if rank is None:
        return text.value(f"llvm.load {pointer(text, address)} : !llvm.ptr<3> -> f32")
    code = "{ .reg .b32 a; mapa.shared::cluster.u32 a, $1, $2; ld.shared::cluster.f32 $0, [a]; }"
    operands = f'"=f,r,r" {address}, {rank} : (i32, i32)'
    return text.value(f'llvm.inline_asm has_side_effects "{code}", {operands} -> f32')


def multiply_added(
    text: GpuText, element: str, a: Sequence[str], b: Sequence[str], sums: Sequence[str]
) -> list[str]:
    """`mma.m16n8k16`: four words of A and two of B, pairs of `element`; the four f32 sums."""
    if element == "bf16":
        name, type_, operands = "llvm.nvvm.mma.m16n8k16.row.col.bf16", "i32", [*a, *b]
    else:
        name, type_ = "llvm.nvvm.mma.m16n8k16.row.col.f32.f32", "vector<2xf16>"
        operands = [text.value(f"llvm.bitcast {each} : i32 to {type_}") for each in (*a, *b)]
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    types = ", ".join([*[type_] * 6, *["f32"] * 4])
    made = text.value(
        f'llvm.call_intrinsic "{name}"({", ".join([*operands, *sums])}) : ({types}) -> {struct}'
    )
    return [text.value(f"llvm.extractvalue {made}[{i}] : {struct}") for i in range(4)]
