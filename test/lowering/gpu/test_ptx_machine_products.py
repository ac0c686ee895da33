"""A product by TMA, mbarriers and wgmma, written by hand: values, and faults that are found."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hand_written_ptx import assemble, kernel
from ptx_machine import PtxError, run_kernel

M, N, K = 64, 16, 512
_TYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def _map(
    slot: int, buffer: str, rows: int, box_rows: int, columns: int = K, swizzle: int = 3
) -> str:
    """Makes a tensor map of bytes in shared memory, by thread 0, and puts it at `slot`."""
    span = (16, 32, 64, 128)[swizzle]
    fields = [
        f"global_address.shared::cta.b1024.b64 [map], {buffer}",
        "rank.shared::cta.b1024.b32 [map], 1",
        f"box_dim.shared::cta.b1024.b32 [map], 0, {span}",
        f"box_dim.shared::cta.b1024.b32 [map], 1, {box_rows}",
        f"global_dim.shared::cta.b1024.b32 [map], 0, {columns}",
        f"global_dim.shared::cta.b1024.b32 [map], 1, {rows}",
        f"global_stride.shared::cta.b1024.b64 [map], 0, {columns}",
        "element_stride.shared::cta.b1024.b32 [map], 0, 1",
        "element_stride.shared::cta.b1024.b32 [map], 1, 1",
        "elemtype.shared::cta.b1024.b32 [map], 0",
        "interleave_layout.shared::cta.b1024.b32 [map], 0",
        f"swizzle_mode.shared::cta.b1024.b32 [map], {swizzle}",
        "fill_mode.shared::cta.b1024.b32 [map], 0",
    ]
    replaced = "\n".join(f"@%p1 tensormap.replace.tile.{each};" for each in fields)
    return f"""
    setp.lt.u32 %p2, %r1, 32;
    @!%p2 bra $behind{slot};
    shl.b32 %r2, %r1, 2;
    mov.b32 %r3, map;
    add.u32 %r3, %r3, %r2;
    st.shared.b32 [%r3], 0;
    bar.warp.sync -1;
    {replaced}
    bar.warp.sync -1;
    add.u64 %rd{20 + slot}, %rd4, {128 * slot};
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
[%rd{20 + slot}], [map], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd{20 + slot}], 128;
    $behind{slot}:
    """


SHARED = """
.shared .align 128 .b8 map[128];
.shared .align 8 .b64 full[2];
.shared .align 8 .b64 empty[2];
.extern .shared .align 1024 .b8 tiles[];
"""
_STAGE = (M + N) * 128
"""Bytes of a stage: 64 + 16 rows of 128 bytes of K, of which there are two."""


def product(
    a: str = "e4m3", b: str = "e4m3", wait: str = "", expect: int = _STAGE, scale: int = 1,
    steps: int = K // 128, rows: int = M, leave_out: str = "",
) -> str:  # fmt: skip
    """Warp 4 is the producer, the warpgroup before it the consumer, of two stages."""
    registers = ", ".join(f"%f{i}" for i in range(8))
    wgmma = f"wgmma.mma_async.sync.aligned.m64n16k32.f32.{a}.{b}"
    products = "\n".join(
        f"""{wgmma} {{{registers}}}, %rd30, %rd31, %p5, {scale}, 1;
        setp.eq.u32 %p5, 0, 0;
        add.u64 %rd30, %rd30, 2;
        add.u64 %rd31, %rd31, 2;"""
        for _ in range(4)
    )
    stores = "\n".join(
        f"add.u32 %r31, %r30, {32 * 0 + 4 * (i & 1) + 512 * (i >> 1 & 1) + 32 * (i >> 2)};\n"
        f"cvt.u64.u32 %rd40, %r31;\nadd.u64 %rd41, %rd3, %rd40;\nst.global.f32 [%rd41], %f{i};"
        for i in range(8)
    )
    text = f"""
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    mov.b32 %r10, full;
    mov.b32 %r11, empty;
    @%p1 mbarrier.init.shared::cta.b64 [%r10], 1;
    @%p1 mbarrier.init.shared::cta.b64 [%r10+8], 1;
    @%p1 mbarrier.init.shared::cta.b64 [%r11], 128;
    @%p1 mbarrier.init.shared::cta.b64 [%r11+8], 128;
    @%p1 fence.mbarrier_init.release.cluster;
    {_map(0, "%rd1", rows, M)}
    {_map(1, "%rd2", N, N)}
    bar.sync 0;
    mov.u32 %r4, 0;
    setp.ge.u32 %p3, %r1, 128;
    @!%p3 bra $consumer;
    setmaxnreg.dec.sync.aligned.u32 24;
    fence.proxy.tensormap::generic.acquire.gpu [%rd20], 128;
    setp.eq.u32 %p4, %r1, 128;
    @!%p4 bra $end;
    add.u64 %rd20, %rd4, 0;
    add.u64 %rd21, %rd4, 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd20], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd21], 128;
    $produce:
    and.b32 %r5, %r4, 1;
    shr.u32 %r6, %r4, 1;
    and.b32 %r6, %r6, 1;
    xor.b32 %r6, %r6, 1;
    shl.b32 %r7, %r5, 3;
    add.u32 %r8, %r7, %r10;
    add.u32 %r9, %r7, %r11;
    {{
    .reg .pred P1;
    LAB_WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 P1, [%r9], %r6, 1000;
    @P1 bra.uni DONE;
    bra.uni LAB_WAIT;
    DONE:
    }}
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], {expect};
    mov.b32 %r12, tiles;
    mad.lo.u32 %r12, %r5, {_STAGE}, %r12;
    add.u32 %r13, %r12, {M * 128};
    shl.b32 %r14, %r4, 7;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
[%r12], [%rd20, {{%r14, 0}}], [%r8];
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
[%r13], [%rd21, {{%r14, 0}}], [%r8];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p6, %r4, {steps};
    @%p6 bra $produce;
    bra.uni $end;
    $consumer:
    setmaxnreg.inc.sync.aligned.u32 232;
    setp.ne.u32 %p5, 0, 0;
    $consume:
    and.b32 %r5, %r4, 1;
    shr.u32 %r6, %r4, 1;
    and.b32 %r6, %r6, 1;
    shl.b32 %r7, %r5, 3;
    add.u32 %r8, %r7, %r10;
    add.u32 %r9, %r7, %r11;
    {{
    .reg .pred P1;
    LAB_WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 P1, [%r8], %r6;
    @P1 bra.uni DONE;
    bra.uni LAB_WAIT;
    DONE:
    }}
    mov.b32 %r12, tiles;
    mad.lo.u32 %r12, %r5, {_STAGE}, %r12;
    shr.u32 %r12, %r12, 4;
    cvt.u64.u32 %rd30, %r12;
    or.b64 %rd30, %rd30, {1 << 62 | 64 << 32 | 1 << 16:#x};
    add.u64 %rd31, %rd30, {M * 128 // 16};
    wgmma.fence.sync.aligned;
    {products}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    mbarrier.arrive.shared::cta.b64 _, [%r9];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p6, %r4, {steps};
    @%p6 bra $consume;
    shr.u32 %r20, %r1, 5;
    and.b32 %r21, %r1, 31;
    shr.u32 %r22, %r21, 2;
    and.b32 %r23, %r1, 3;
    mad.lo.u32 %r30, %r20, 1024, 0;
    mad.lo.u32 %r30, %r22, 64, %r30;
    mad.lo.u32 %r30, %r23, 8, %r30;
    {stores}
    $end:
    ret;
    """
    if leave_out:
        assert leave_out in text
        text = text.replace(leave_out, "")
    return kernel(text, 4, SHARED, ".maxntid 256, 1, 1\n.minnctapersm 1")


def _operands(a: str, b: str, rows: int = M, k: int = K) -> tuple[np.ndarray, np.ndarray]:
    """Small integers, whose sums are exact in any order."""
    random = np.random.default_rng(0)
    left = random.integers(-4, 5, (rows, k)).astype(np.float32).astype(_TYPES[a])
    right = random.integers(-4, 5, (N, k)).astype(np.float32).astype(_TYPES[b])
    return left, right


def _run(
    ptx: str, left: np.ndarray, right: np.ndarray, early: bool = False, seed: int | None = None
) -> np.ndarray:
    buffers = [left.view(np.uint8), right.view(np.uint8)]
    buffers += [np.full((M, N), np.nan, np.float32), np.zeros(256, np.uint8)]
    return run_kernel(ptx, buffers, (1, 1), 256, 2 * _STAGE, early, seed)[2]


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("a", _TYPES)
@pytest.mark.parametrize("b", _TYPES)
def test_product(a: str, b: str, early: bool) -> None:
    left, right = _operands(a, b)
    found = _run(product(a, b), left, right, early)
    np.testing.assert_array_equal(found, left.astype(np.float32) @ right.astype(np.float32).T)


def test_the_assembler_takes_the_product(tmp_path: Path) -> None:
    assert "0 bytes spill stores" in assemble(product(), tmp_path)


def test_negated_products_and_a_few_columns() -> None:
    left, right = _operands("e4m3", "e4m3")
    found = _run(product(scale=-1, steps=1), left, right)
    wanted = left[:, :128].astype(np.float32) @ right[:, :128].astype(np.float32).T
    np.testing.assert_array_equal(found, -wanted)


def test_rows_behind_the_tensor_are_zero() -> None:
    left, right = _operands("e4m3", "e4m3", rows=37)
    found = _run(product(rows=37), left, right)
    np.testing.assert_array_equal(found[:37], left.astype(np.float32) @ right.astype(np.float32).T)
    np.testing.assert_array_equal(found[37:], 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"expect": _STAGE + 16}, "everybody waits.*lacks 0 of 1 arrivals and 16 bytes"),
        ({"expect": _STAGE - 16}, "everybody waits.*lacks 0 of 1 arrivals and -16 bytes"),
        ({"rows": 38}, "is outside of every buffer"),
        ({"leave_out": "wgmma.fence.sync.aligned;"}, "before wgmma.fence"),
        ({"leave_out": "wgmma.wait_group.sync.aligned 0;"}, "being read by a copy or a product"),
        ({"leave_out": "wgmma.commit_group.sync.aligned;"}, "being read by a copy or a product"),
        (
            {"leave_out": "@%p1 fence.mbarrier_init.release.cluster;"},
            "made without a fence behind it",
        ),
        ({"leave_out": "mbarrier.arrive.shared::cta.b64 _, [%r9];"}, "lacks 128 of 128 arrivals"),
        (
            {"leave_out": "mbarrier.try_wait.parity.shared::cta.b64 P1, [%r8], %r6;"},
            "is being written by a copy that nobody has waited for",
        ),
        (
            {"leave_out": "fence.proxy.tensormap::generic.acquire.gpu [%rd21], 128;"},
            "no fence.proxy.tensormap acquired the map",
        ),
        (
            {
                "leave_out": "@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32"
                f" [map], 1, {M};"
            },
            "global_dim 1 of the tensor map was never written",
        ),
        ({"leave_out": "st.shared.b32 [%r3], 0;"}, "128 bytes that were not set to zero"),
    ],
)
def test_faults_are_found(options: dict[str, Any], reason: str) -> None:
    left, right = _operands("e4m3", "e4m3", rows=37 if "rows" in options else M)
    with pytest.raises(PtxError, match=reason):
        _run(product(**options), left, right)


def test_other_orders_of_warps_find_what_lockstep_hides() -> None:
    left, right = _operands("e4m3", "e4m3")
    wanted = left.astype(np.float32) @ right.astype(np.float32).T
    for seed in range(3):
        found = _run(product(), left, right, early=seed == 2, seed=seed)
        np.testing.assert_array_equal(found, wanted)
    without = product(leave_out="bar.sync 0;")
    np.testing.assert_array_equal(_run(without, left, right), wanted)
    with pytest.raises(PtxError, match="no mbarrier was made"):
        for seed in range(5):
            _run(without, left, right, seed=seed)


def test_a_producer_that_does_not_wait_is_found() -> None:
    wait = "mbarrier.try_wait.parity.shared::cta.b64 P1, [%r9], %r6, 1000;"
    text = product(leave_out=wait).replace(".pred P1;", ".pred P1; setp.eq.u32 P1, 0, 0;", 1)
    left, right = _operands("e4m3", "e4m3")
    with pytest.raises(PtxError, match="1 arrivals at mbarrier.*which waits for 0 of 1"):
        _run(text, left, right)
