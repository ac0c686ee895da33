"""Instructions of sm_90a as inline PTX: barriers in memory, TMA, `wgmma`.

Addresses of shared memory are i32, as `ptxas` has them in the shared window of a block. NVVM has
ops of most of these; `wgmma` on memory that no memref has the swizzle of is not among them, and so
all are written the same way.
"""

from collections.abc import Sequence

from mlir_fp8.lowering.gpu.kernels.text import GpuText

Operand = tuple[str, str, str]
"""A value, its type, and its constraint in LLVM's words."""
_WIDE = ("bf16", "f16")


def emit(text: GpuText, code: str, operands: Sequence[Operand] = ()) -> None:
    """An instruction without results."""
    text.line(f"{_asm(code, [each for *_, each in operands], operands)} -> ()")


def _asm(code: str, constraints: Sequence[str], operands: Sequence[Operand]) -> str:
    values, types = (", ".join(each[i] for each in operands) for i in (0, 1))
    listed = ",".join(constraints)
    return f'llvm.inline_asm has_side_effects "{code}", "{listed}" {values} : ({types})'


def word(value: str) -> Operand:
    return (value, "i32", "r")


def long(value: str) -> Operand:
    return (value, "i64", "l")


def init_barrier(text: GpuText, barrier: str, count: int) -> None:
    emit(text, f"mbarrier.init.shared::cta.b64 [$0], {count};", [word(barrier)])


def fence_barriers(text: GpuText) -> None:
    """Let all of a cluster, and TMA, see barriers as they were made."""
    emit(text, "fence.mbarrier_init.release.cluster;")


def sync_cluster(text: GpuText) -> None:
    emit(text, "barrier.cluster.arrive.release.aligned;")
    emit(text, "barrier.cluster.wait.acquire.aligned;")


def expect_bytes(text: GpuText, barrier: str, count: int) -> None:
    """Arrive, and let the phase end when TMA has written `count` bytes."""
    code = f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {count};"
    emit(text, code, [word(barrier)])


def arrive(text: GpuText, barrier: str, condition: str) -> None:
    """Where `condition`, an i32, is not 0."""
    code = "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }"
    emit(text, code, [word(barrier), word(condition)])


def arrive_in_cluster(
    text: GpuText, barrier: str, rank: str, condition: str, scope: str = ""
) -> None:
    """At that barrier of the block `rank` of the cluster.

    Without `scope`, ".release.cluster", it orders no memory beyond the block: what was read is read
    (`wait_groups`), and a release of the whole cluster is a `MEMBAR` of the whole GPU.
    """
    code = (
        "{ .reg .pred p; .reg .b32 a; setp.ne.b32 p, $2, 0; mapa.shared::cluster.u32 a, $0, $1; "
        f"@p mbarrier.arrive{scope}.shared::cluster.b64 _, [a]; }}"
    )
    emit(text, code, [word(barrier), word(rank), word(condition)])


def wait(text: GpuText, barrier: str, parity: str, scope: str = "") -> None:
    """Wait until the phase of that parity has ended; `scope` of what is seen then: the block."""
    code = (
        f"{{ .reg .pred p; mbarrier.try_wait.parity{scope}.shared::cta.b64 p, [$1], $2; "
        "selp.b32 $0, 1, 0, p; }"
    )
    text.line("scf.while : () -> () {")
    asm = _asm(code, ["=r", "r", "r"], [word(barrier), word(parity)])
    done = text.value(f"{asm} -> i32")
    again = text.value(f"arith.cmpi eq, {done}, {text.i32(0)} : i32")
    text.line(f"scf.condition({again})")
    text.line("} do {")
    text.line("scf.yield")
    text.line("}")


def store_shared_words(text: GpuText, address: str, numbers: Sequence[str]) -> None:
    """Four f32 numbers, side by side."""
    operands: list[Operand] = [word(address), *((each, "f32", "f") for each in numbers)]
    emit(text, "st.shared.v4.f32 [$0], {$1, $2, $3, $4};", operands)


def load_remote_words(text: GpuText, address: str, rank: str) -> list[str]:
    """Four f32 numbers of the shared memory of the block `rank` of a cluster."""
    code = (
        "{ .reg .b32 a; mapa.shared::cluster.u32 a, $4, $5; "
        "ld.shared::cluster.v4.f32 {$0, $1, $2, $3}, [a]; }"
    )
    return _numbers(text, code, [word(address), word(rank)], ["=f"] * 4)


def load_tile(
    text: GpuText, to: str, map_: str, column: str, row: str, barrier: str, mask: int = 0
) -> None:
    """Load a box of a matrix by TMA; with `mask` to that address of the blocks of a cluster."""
    load_box(text, to, map_, [column, row], barrier, mask)


def load_box(
    text: GpuText, to: str, map_: str, corner: Sequence[str], barrier: str, mask: int = 0
) -> None:
    """As `load_tile`, of a tensor of any rank; `corner` has the innermost dimension first."""
    count = len(corner)
    into = f"cp.async.bulk.tensor.{count}d.shared::cluster.global.mbarrier::complete_tx::bytes"
    operands = [word(to), long(map_), *(word(each) for each in corner), word(barrier)]
    at = ", ".join(f"${2 + i}" for i in range(count))
    end = 2 + count
    if not mask:
        emit(text, f"{into} [$0], [$1, {{{at}}}], [${end}];", operands)
        return
    code = (
        f"{{ .reg .b16 m; mov.b16 m, {mask}; "
        f"{into}.multicast::cluster [$0], [$1, {{{at}}}], [${end}], m; }}"
    )
    emit(text, code, operands)


def load_bytes(text: GpuText, to: str, source: str, count: int, barrier: str) -> None:
    """Load `count` bytes of global memory, whose address is i64; both aligned to 16."""
    code = (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        f"[$0], [$1], {count}, [$2];"
    )
    emit(text, code, [word(to), long(source), word(barrier)])


def load_shared_pair(text: GpuText, address: str, offset: int) -> list[str]:
    """Two f32 numbers of shared memory, `offset` bytes after `address`."""
    code = f"ld.shared.v2.f32 {{$0, $1}}, [$2 + {offset}];"
    return _numbers(text, code, [word(address)], ["=f", "=f"])


def load_words(text: GpuText, address: str, count: int, offset: int = 0) -> list[str]:
    """1 or 2 f32 numbers of global memory that no kernel writes, `offset` bytes after `address`.

    Where it stands among other instructions: no compiler moves it behind a wait for `wgmma`.
    """
    code, results = _load_words(count, f"[${count} + {offset}]")
    return _numbers(text, f"{code};", [long(address)], results)


def load_neighbours(
    text: GpuText, address: str, index: str, count: int, offset: int, last: int
) -> list[str]:
    """As `load_words`, of numbers `index`, i32, + `offset` on, or `last` where that is less."""
    code, results = _load_words(count, "[a]")
    code = (
        f"{{ .reg .b32 i; .reg .b64 a; add.s32 i, ${count}, {offset}; min.s32 i, i, {last}; "
        f"mad.wide.s32 a, i, 4, ${count + 1}; {code}; }}"
    )
    return _numbers(text, code, [word(index), long(address)], results)


def _load_words(count: int, place: str) -> tuple[str, list[str]]:
    if count == 1:
        return f"ld.global.nc.b32 $0, {place}", ["=f"]
    return f"ld.global.nc.v2.b32 {{$0, $1}}, {place}", ["=f", "=f"]


def _numbers(
    text: GpuText, code: str, operands: Sequence[Operand], results: list[str]
) -> list[str]:
    asm = _asm(code, [*results, *(each for *_, each in operands)], operands)
    if len(results) == 1:
        return [text.value(f"{asm} -> f32")]
    struct = f"!llvm.struct<({', '.join(['f32'] * len(results))})>"
    made = text.value(f"{asm} -> {struct}")
    return [text.value(f"llvm.extractvalue {made}[{i}] : {struct}") for i in range(len(results))]


def fence_sums(text: GpuText) -> None:
    """Before the first `wgmma`, and when others have written its registers."""
    emit(text, "wgmma.fence.sync.aligned;")


def multiply(
    text: GpuText,
    formats: tuple[str, str],
    sums: Sequence[str],
    a: str | Sequence[str],
    b: str,
    *,
    first: bool,
    transposed: bool = False,
) -> list[str]:
    """`wgmma` of 64 rows, 2 `len(sums)` columns and 32 bytes of K: the sums, added to unless
    `first`.

    `formats` as PTX has them; `a` and `b` are descriptors, i64, or `a` the four words of a thread's
    fragment. `transposed`, of bf16 and f16: rows of `b` in memory are along K. The sums may be read
    behind `wait_sums` alone.
    """
    count = len(sums)
    listed = ", ".join(f"${i}" for i in range(count))
    a_at = count if first else 2 * count
    left = [long(a)] if isinstance(a, str) else [word(each) for each in a]
    b_at = a_at + len(left)
    fragment = f"{{{', '.join(f'${i}' for i in range(a_at, b_at))}}}"
    a_text = f"${a_at}" if isinstance(a, str) else fragment
    is_wide = formats[0] in _WIDE
    kind = f"m64n{2 * count}k{16 if is_wide else 32}.f32.{formats[0]}.{formats[1]}"
    major = [*([0] if isinstance(a, str) else []), int(transposed)] if is_wide else []
    ones = ", ".join(map(str, [1, 1, *major]))
    code = (
        f"{{ .reg .pred p; setp.ne.b32 p, {0 if first else 1}, 0; "
        f"wgmma.mma_async.sync.aligned.{kind} {{{listed}}}, {a_text}, ${b_at}, p, {ones}; }}"
    )
    return _tied(text, code, sums, [*left, long(b)], reads=not first)


def commit(text: GpuText) -> None:
    emit(text, "wgmma.commit_group.sync.aligned;")


def wait_groups(text: GpuText, pending: int) -> None:
    """Until at most `pending` groups of `wgmma` are under way."""
    emit(text, f"wgmma.wait_group.sync.aligned {pending};")


def wait_sums(text: GpuText, sums: Sequence[str], pending: int = 0) -> list[str]:
    """Until at most `pending` groups are; the sums of the others, which nothing may read before."""
    code = f"wgmma.wait_group.sync.aligned {pending};"
    return _tied(text, code, sums, [], reads=True)


def _tied(
    text: GpuText, code: str, sums: Sequence[str], others: Sequence[Operand], *, reads: bool
) -> list[str]:
    """An instruction that changes f32 registers in place."""
    count = len(sums)
    changed = [(each, "f32", str(i)) for i, each in enumerate(sums)] if reads else []
    operands = [*changed, *others]
    constraints = ["=f"] * count + [each for *_, each in operands]
    struct = f"!llvm.struct<({', '.join(['f32'] * count)})>"
    made = text.value(f"{_asm(code, constraints, operands)} -> {struct}")
    return [text.value(f"llvm.extractvalue {made}[{i}] : {struct}") for i in range(count)]
