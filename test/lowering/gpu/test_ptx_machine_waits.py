"""mbarriers, named barriers and clusters of the interpreter: who goes on, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hand_written_ptx import assemble, kernel
from ptx_machine import PtxError, run_kernel

SHARED = ".shared .align 8 .b64 bar[2];\n.shared .align 16 .b32 words[64];"
START = """mov.u32 %r1, %tid.x; mul.wide.u32 %rd9, %r1, 4; add.u64 %rd8, %rd1, %rd9;
mov.b32 %r2, bar; mov.b32 %r3, words; setp.eq.u32 %p1, %r1, 0; shl.b32 %r4, %r1, 2;
add.u32 %r4, %r3, %r4; mov.b32 %r9, 0;"""
INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r2], {}; bar.sync 0;"
END = "st.global.b32 [%rd8], %r9; ret;"


def _run(body: str, threads: int = 64, blocks: int = 1, directives: str = "") -> np.ndarray:
    out = np.full((blocks, threads), 0xEEEEEEEE, np.uint32)
    return run_kernel(_text(body, directives), [out], (blocks, 1), threads)[0]


def _text(body: str, directives: str = "") -> str:
    return kernel(START + body + END, 1, SHARED, directives)


KERNELS = {
    # Warp 1 waits for what warp 0 writes, two phases.
    "phases": INIT.format(64)
    + """setp.ge.u32 %p2, %r1, 32; @%p2 bra $second;
    st.shared.b32 [%r4], %r1; mbarrier.arrive.shared::cta.b64 %rd10, [%r2];
    $wait: mbarrier.try_wait.shared::cta.b64 %p3, [%r2], %rd10; @!%p3 bra $wait;
    add.u32 %r9, %r1, 100; st.shared.b32 [%r4+128], %r9;
    mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2]; bra $end;
    $second: mbarrier.arrive.shared::cta.b64 _, [%r2];
    $again: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra $again;
    ld.shared.b32 %r9, [%r4+-128]; mbarrier.arrive.shared::cta.b64 _, [%r2];
    $third: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [%r2], 1; @!%p3 bra $third;
    ld.shared.b32 %r10, [%r4]; mad.lo.u32 %r9, %r10, 1000, %r9; $end:""",
    # A count of arrivals, one that leaves, and what is left.
    "counts": INIT.format(68)
    + """@%p1 mbarrier.arrive.shared::cta.b64 %rd10, [%r2], 2;
    @%p1 mbarrier.arrive_drop.shared::cta.b64 %rd11, [%r2]; bar.sync 0;
    mbarrier.arrive.noComplete.shared::cta.b64 %rd12, [%r2], 1;
    mbarrier.pending_count.b64 %r9, %rd12;""",
    # Bytes that are announced and counted by hand.
    "bytes": INIT.format(1)
    + """@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 48;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
    @%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 64;
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0; selp.b32 %r9, 1, 0, %p2;
    bar.sync 0; @%p1 mbarrier.inval.shared::cta.b64 [%r2];""",
    # Warp 0 hands words to warp 1 by a barrier it does not wait at.
    "named": """setp.ge.u32 %p2, %r1, 32; @%p2 bra $second;
    st.shared.b32 [%r4], %r1; bar.arrive 3, 64; bra $end;
    $second: bar.sync 3, 64; ld.shared.b32 %r9, [%r4+-128]; $end:""",
    # Each block reads what its neighbour wrote, and arrives at its mbarrier.
    "cluster": """mov.u32 %r5, %cluster_ctarank; add.u32 %r6, %r5, 1; and.b32 %r6, %r6, 1;
    @%p1 mbarrier.init.shared::cta.b64 [%r2], 64;
    @%p1 fence.mbarrier_init.release.cluster;
    mad.lo.u32 %r7, %r5, 100, %r1; st.shared.b32 [%r4], %r7;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    mapa.shared::cluster.u32 %r8, %r4, %r6; ld.shared::cluster.b32 %r9, [%r8];
    mapa.shared::cluster.u32 %r8, %r2, %r6;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
    $wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2], 0;
    @!%p3 bra $wait;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;""",
    # Generic addresses of shared memory.
    "generic": """mov.b64 %rd10, words; cvta.shared.u64 %rd11, %rd10; add.u64 %rd11, %rd11, %rd9;
    st.b32 [%rd11], %r1; cvta.to.shared.u64 %rd12, %rd11; ld.shared.b32 %r9, [%rd12];""",
}  # fmt: skip
_CLUSTER = ".explicitcluster .reqnctapercluster 2, 1, 1"


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize("name", KERNELS)
def test_values(name: str, seed: int | None) -> None:
    lane, low = np.arange(32, dtype=np.uint32), np.arange(64, dtype=np.uint32)
    wanted = {
        "phases": np.concatenate([lane + 100, (lane + 100) * 1000 + lane]),
        "counts": 65 - low,  # 68 without the two and the one
        "bytes": np.ones(64),
        "named": np.concatenate([0 * lane, lane]),
        "cluster": np.stack([low + 100, low]),
        "generic": low,
    }[name]
    blocks = 2 if name == "cluster" else 1
    out = np.full((blocks, 64), 0xEEEEEEEE, np.uint32)
    text = _text(KERNELS[name], _CLUSTER if blocks == 2 else "")
    if blocks == 2:
        text = text.replace("st.global", "mov.u32 %r20, %ctaid.x; mad.wide.u32 %rd8, %r20, 256, "
                            "%rd8; st.global")  # fmt: skip
    found = run_kernel(text, [out], (blocks, 1), 64, seed=seed)[0]
    if name == "counts":
        found = np.sort(found)
        wanted = np.sort(wanted)
    np.testing.assert_array_equal(found, np.reshape(wanted, (blocks, 64)))


def test_the_assembler_takes_them(tmp_path: Path) -> None:
    for name, body in KERNELS.items():
        assemble(_text(body, _CLUSTER if name == "cluster" else ""), tmp_path)


WAIT = "$w: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; @!%p3 bra $w;"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (INIT.format(65) + "mbarrier.arrive.shared::cta.b64 _, [%r2];" + WAIT,
         r"thread 0 to 63, 64 of them, of block 0 waits for phase 0 \(parity 0\) of mbarrier "
         r"0x400 of block 0, which lacks 1 of 65 arrivals and 0 bytes"),
        (WAIT, "no mbarrier was made at 0x400"),
        (INIT.format(32) + "@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2], 33;",
         "33 arrivals at mbarrier 0x400 of block 0, which waits for 32 of 32"),
        (INIT.format(1) + "@%p1 mbarrier.arrive.noComplete.shared::cta.b64 %rd11, [%r2], 1;",
         "completes phase 0"),
        (INIT.format(0), "an mbarrier for 0 arrivals"),
        (INIT.format(1 << 20), "an mbarrier for 1048576 arrivals"),
        (INIT.format(1) * 2, "is made twice"),
        (INIT.format(1) + "add.u32 %r2, %r2, 4;" + WAIT, "not aligned to 8"),
        (INIT.format(1) + "ld.shared.b32 %r9, [%r2];", "has an mbarrier"),
        (INIT.format(1) + "@%p1 mbarrier.inval.shared::cta.b64 [%r2]; bar.sync 0;" + WAIT,
         "no mbarrier was made"),
        (INIT.format(1) + "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 16;",
         "the kernel ends while mbarrier 0x400 of block 0 counts 16 bytes"),
        (INIT.format(1) + "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 0x100000;",
         "counts 1048576 bytes, which it cannot"),
        (INIT.format(1) + "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r2], 2;",
         "a parity of 2"),
        # Asked once, and not again.
        (INIT.format(1) + "setp.ge.u32 %p2, %r1, 32; @%p2 bra $o; "
         "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 0; $o:",
         "waits for phase 0"),
        ("setp.ge.u32 %p2, %r1, 32; @%p2 bra $e; bar.sync 0; $e:",
         "waits at barrier 0 of block 0 for 64 threads, of which 32 came"),
        ("bar.sync 1, 32;", "64 threads come to barrier 1 of block 0 for 32"),
        ("bar.sync 1, 40;", r"barrier 1 of block 0 for \[40\] threads"),
        ("setp.ge.u32 %p2, %r1, 32; @%p2 bra $e; bar.arrive 1, 32; bra $f;"
         "$e: bar.sync 1, 64; $f:", "barrier 1 of block 0"),
        ("@%p1 bar.sync 0;", "for the rest of the warp"),
        ("barrier.cluster.arrive.aligned; barrier.cluster.arrive.aligned;", "twice"),
        ("barrier.cluster.wait.aligned;", "without an arrive"),
        ("@!%p1 barrier.cluster.arrive; @!%p1 barrier.cluster.wait;", "waits for cluster 0"),
        ("mapa.shared::cluster.u32 %r8, %r4, 1;", "mapa to block 1 of a cluster of 1"),
        ("st.shared.b32 [%r3+1000], %r1;", "outside of shared memory"),
        ("st.shared.b32 [0], %r1;", "outside of shared memory"),
        ("mov.u32 %r9, %unheard;", "no %unheard is known"),
        ("mul.f32 %f1, %f1, %f1;", "mul.f32 %f1, %f1, %f1 is not known"),  # rounded how?
        ("add.sat.s32 %r9, %r1, %r1;", "is not known"),
        ("bar.red.popc.u32 %r9, 0, %p1;", "is not known"),
        ("trap;", "thread 0 to 63, 64 of them, of block 0 traps"),
        ("setmaxnreg.inc.sync.aligned.u32 100;", "no multiple of 8"),
    ],
)  # fmt: skip
def test_faults_are_found(body: str, reason: str) -> None:
    threads = 128 if "setmaxnreg" in body else 64
    with pytest.raises(PtxError, match=reason):
        _run(body, threads)
