"""Asynchronous copies of the interpreter, both ways, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from hand_written_ptx import assemble, kernel
from ptx_machine import PtxError, run_kernel

SHARED = (
    ".shared .align 128 .b8 map[128];\n.shared .align 8 .b64 bar;\n"
    ".shared .align 1024 .b8 tile[4096];"
)
SPANS = (0, 32, 64, 128)


def tensor_map(
    dims: tuple[int, ...], box: tuple[int, ...], element: tuple[int, int] = (0, 1),
    swizzle: int = 0, strides: tuple[int, ...] = (),
) -> str:  # fmt: skip
    """Of %rd1 at %rd3; `element` is its number and its bytes."""
    if not strides:
        strides = tuple(int(np.prod(dims[: i + 1])) * element[1] for i in range(len(dims) - 1))
    fields = ["global_address.shared::cta.b1024.b64 [map], %rd1"]
    fields.append(f"rank.shared::cta.b1024.b32 [map], {len(dims) - 1}")
    for i, (size, length) in enumerate(zip(dims, box, strict=True)):
        fields.append(f"global_dim.shared::cta.b1024.b32 [map], {i}, {size}")
        fields.append(f"box_dim.shared::cta.b1024.b32 [map], {i}, {length}")
        fields.append(f"element_stride.shared::cta.b1024.b32 [map], {i}, 1")
    for i, stride in enumerate(strides):
        fields.append(f"global_stride.shared::cta.b1024.b64 [map], {i}, {stride}")
    fields.append(f"elemtype.shared::cta.b1024.b32 [map], {element[0]}")
    fields.append("interleave_layout.shared::cta.b1024.b32 [map], 0")
    fields.append(f"swizzle_mode.shared::cta.b1024.b32 [map], {swizzle}")
    fields.append("fill_mode.shared::cta.b1024.b32 [map], 0")
    replaced = "\n".join(f"@%p1 tensormap.replace.tile.{each};" for each in fields)
    return f"""mov.b32 %r3, map; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4;
    st.shared.b32 [%r3], 0; bar.warp.sync -1; {replaced} bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
[%rd3], [map], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;"""


START = """mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.b32 %r10, bar; mov.b32 %r11, tile;
@%p1 mbarrier.init.shared::cta.b64 [%r10], 1; @%p1 fence.mbarrier_init.release.cluster;
bar.sync 0;"""
EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], {};"
WAIT = "$w: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r10], 0; @!%p3 bra $w;"
# Each thread stores words of shared memory, 32 apart.
DUMP = """mov.b32 %r5, 0; $d: shl.b32 %r6, %r5, 7; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7;
add.u32 %r7, %r6, %r11; ld.shared.b32 %r8, [%r7]; cvt.u64.u32 %rd8, %r6;
add.u64 %rd8, %rd8, %rd2; st.global.b32 [%rd8], %r8; add.u32 %r5, %r5, 1;
setp.lt.u32 %p4, %r5, {}; @%p4 bra $d; ret;"""
FILL = """mov.b32 %r5, 0; $f: shl.b32 %r6, %r5, 7; shl.b32 %r7, %r1, 2; add.u32 %r6, %r6, %r7;
add.u32 %r7, %r6, %r11; cvt.u64.u32 %rd8, %r6; add.u64 %rd8, %rd8, %rd2;
ld.global.b32 %r8, [%rd8]; st.shared.b32 [%r7], %r8; add.u32 %r5, %r5, 1;
setp.lt.u32 %p4, %r5, {}; @%p4 bra $f;"""
FENCE = "fence.proxy.async.shared::cta; bar.sync 0;"
COMMIT = "cp.async.bulk.commit_group; cp.async.bulk.wait_group {};"


def _box_in(rank: int, corner: str) -> str:
    name = f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    return f"@%p1 {name} [%r11], [%rd3, {{{corner}}}], [%r10];"


def _box_out(rank: int, corner: str, kind: str = "cp.async.bulk") -> str:
    tail = ".add" if "reduce" in kind else ""
    name = f"{kind}.tensor.{rank}d.global.shared::cta{tail}.tile.bulk_group"
    return f"@%p1 {name} [%rd3, {{{corner}}}], [%r11];"


def _run(body: str, data: np.ndarray, out: np.ndarray, early: bool = False) -> list[np.ndarray]:
    maps = np.zeros(128, np.uint8)
    text = kernel(START + body, 3, SHARED)
    return run_kernel(text, [data, out, maps], (1, 1), 32, early=early)


def _unswizzled(data: np.ndarray, span: int) -> np.ndarray:
    """Rows of `span` bytes, from lines of 128 bytes whose pieces were exchanged."""
    if not span:
        return data
    pieces = data.reshape(-1, 8, 16)
    found = np.empty_like(pieces)
    for line in range(len(pieces)):
        for piece in range(8):
            # Which line of 128 bytes it is says by what; how many bits, the span.
            found[line, piece] = pieces[line, piece ^ (line % (span // 16))]
    return found.reshape(-1)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("swizzle", range(4))
def test_boxes_of_a_matrix(swizzle: int, early: bool) -> None:
    span = SPANS[swizzle] or 48
    rows = 1024 // span if swizzle else 16
    data = np.random.default_rng(0).integers(1, 256, (20, 160), np.uint8)
    body = tensor_map((160, 20), (span, rows), swizzle=swizzle)
    body += (
        EXPECT.format(span * rows) + _box_in(2, "128, 7") + WAIT + DUMP.format(span * rows // 128)
    )
    found = _run(body, data, np.zeros(4096, np.uint8), early)[1][: span * rows]
    padded = np.zeros((100, 400), np.uint8)
    padded[:20, :160] = data
    wanted = padded[7 : 7 + rows, 128 : 128 + span]
    np.testing.assert_array_equal(_unswizzled(found, SPANS[swizzle]).reshape(rows, span), wanted)


def test_corners_may_be_negative_and_elements_wide() -> None:
    data = np.arange(3 * 5 * 8, dtype=np.float32).reshape(3, 5, 8)
    body = tensor_map((8, 5, 3), (8, 2, 2), (7, 4)) + EXPECT.format(128)
    body += _box_in(3, "-4, 4, -1") + WAIT + DUMP.format(1)
    found = _run(body, data, np.zeros(32, np.float32))[1].reshape(2, 2, 8)
    wanted = np.zeros((2, 2, 8), np.float32)
    wanted[1, 0, 4:] = data[0, 4, :4]
    np.testing.assert_array_equal(found, wanted)


def test_boxes_begin_at_16_bytes() -> None:
    """An illegal instruction elsewhere, as an H200 says."""
    data = np.zeros((20, 160), np.uint8)
    body = tensor_map((160, 20), (128, 8), swizzle=3) + EXPECT.format(1024)
    body += _box_in(2, "8, 7") + WAIT + DUMP.format(8)
    with pytest.raises(PtxError, match="begins 8 elements into a row, at no 16 bytes"):
        _run(body, data, np.zeros(4096, np.uint8))


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_boxes_are_stored_within_bounds(adds: bool, early: bool) -> None:
    data = np.ones((6, 32), np.float32)
    source = np.arange(32 * 8, dtype=np.float32)
    kind = "cp.reduce.async.bulk" if adds else "cp.async.bulk"
    body = tensor_map((32, 6), (32, 8), (7, 4), swizzle=3 * (1 - adds))
    body += FILL.format(8) + FENCE + _box_out(2, "0, 2", kind) + COMMIT.format(0) + "ret;"
    found = _run(body, data, source, early)[0]
    wanted = data.copy()
    stored = source if adds else _unswizzled(source.view(np.uint8), 128).view(np.float32)
    wanted[2:] = stored.reshape(8, 32)[:4] + data[2:] * adds
    np.testing.assert_array_equal(found, wanted)


BYTES_IN = """@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \
[%r11], [%rd1], {}, [%r10];"""
BYTES_OUT = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r11], {};"


def test_plain_bytes_both_ways() -> None:
    data = np.arange(1, 257, dtype=np.uint32).astype(np.uint8)
    body = EXPECT.format(256) + BYTES_IN.format(256) + WAIT + DUMP.format(2)
    np.testing.assert_array_equal(_run(body, data, np.zeros(256, np.uint8))[1], data)
    body = FILL.format(2) + FENCE + BYTES_OUT.format(128) + COMMIT.format(0) + "ret;"
    found = _run(body, np.zeros(256, np.uint8), data)[0]
    np.testing.assert_array_equal(found, np.concatenate([data[:128], 0 * data[:128]]))


def test_what_was_read_may_be_overwritten() -> None:
    data = np.arange(128, dtype=np.uint8)
    body = FILL.format(1) + FENCE + BYTES_OUT.format(128) + "cp.async.bulk.commit_group;"
    body += "cp.async.bulk.wait_group.read 0; bar.sync 0; st.shared.b32 [%r11], 0; ret;"
    np.testing.assert_array_equal(_run(body, 0 * data, data)[0], data)


AMPERE = """shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r11; mul.wide.u32 %rd9, %r1, 16;
add.u64 %rd9, %rd9, %rd1; cp.async.cg.shared.global [%r4], [%rd9], 16, {};
cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"""


def test_copies_of_each_thread() -> None:
    data = np.random.default_rng(0).integers(1, 256, (32, 16), np.uint8)
    found = _run(AMPERE.format(12) + DUMP.format(4), data, np.zeros(512, np.uint8))[1]
    wanted = data.copy()
    wanted[:, 12:] = 0
    np.testing.assert_array_equal(found.reshape(32, 16), wanted)
    late = AMPERE.replace("wait_group 0", "wait_group 1").format(16)
    with pytest.raises(PtxError, match="is being written by a copy"):
        _run(late + DUMP.format(4), data, np.zeros(512, np.uint8))


def test_a_box_to_every_block_of_a_cluster() -> None:
    body = tensor_map((128, 1), (128, 1)) + EXPECT.format(128)
    body += """barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r20, %cluster_ctarank; setp.eq.and.u32 %p5, %r20, 1, %p1; mov.b16 %rs1, 3;
    @%p5 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes\
.multicast::cluster [%r11], [%rd3, {0, 0}], [%r10], %rs1;"""
    body += WAIT + "mad.wide.u32 %rd2, %r20, 128, %rd2;" + DUMP.format(1)
    slots = "mov.u32 %r20, %ctaid.x; mad.wide.u32 %rd3, %r20, 128, %rd3;"
    text = kernel(START + slots + body, 3, SHARED, ".explicitcluster .reqnctapercluster 2, 1, 1")
    data = np.arange(128, dtype=np.uint8)
    buffers = [data, np.zeros(256, np.uint8), np.zeros(256, np.uint8)]
    found = run_kernel(text, buffers, (2, 1), 32)[1]
    np.testing.assert_array_equal(found.reshape(2, 128), [data, data])
    with pytest.raises(PtxError, match="a mask of 0x7 in a cluster of 2"):
        run_kernel(text.replace("%rs1, 3", "%rs1, 7"), buffers, (2, 1), 32)


def test_the_assembler_takes_them(tmp_path: Path) -> None:
    bodies = [
        tensor_map((160, 20), (48, 16)) + EXPECT.format(9) + _box_in(2, "%r1, 7") + WAIT,
        tensor_map((8, 5, 3), (8, 2, 2), (7, 4)) + _box_in(3, "-4, 4, -1") + DUMP.format(1),
        FILL.format(8) + FENCE + _box_out(2, "0, 2") + COMMIT.format(0),
        _box_out(2, "0, 2", "cp.reduce.async.bulk") + BYTES_OUT.format(128) + BYTES_IN.format(16),
        AMPERE.format(12),
    ]
    for body in bodies:
        assemble(kernel(START + body + "ret;", 3, SHARED), tmp_path)


OUT = FILL.format(2) + FENCE + BYTES_OUT.format(128)
MAP = tensor_map((128, 4), (128, 4))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (FILL.format(2) + "bar.sync 0;" + BYTES_OUT.format(128) + COMMIT.format(0),
         "reads what thread 31 of block 0 stored without fence.proxy.async"),
        (OUT, "thread 0 ends before it commits its copies"),
        (OUT + "cp.async.bulk.commit_group;", "ends before its copies have read their bytes"),
        (OUT + "cp.async.bulk.commit_group; @%p1 st.shared.b32 [%r11], 0;",
         "is being read by a copy or a product"),
        (BYTES_OUT.format(120), "120 bytes are no multiple of 16"),
        ("add.u32 %r11, %r11, 8;" + BYTES_OUT.format(16), "is not aligned to 16 bytes"),
        ("add.u64 %rd1, %rd1, 8;" + BYTES_IN.format(16), "is not aligned to 16 bytes"),
        (EXPECT.format(1024) + BYTES_IN.format(1024), "outside of every buffer"),
        (EXPECT.format(128) + BYTES_IN.format(128), "the kernel ends before"),
        (EXPECT.format(128) + BYTES_IN.format(128) + "ld.shared.b32 %r8, [%r11];",
         "is being written by a copy that nobody has waited for"),
        (EXPECT.format(128) + BYTES_IN.format(128) * 2, "is being written by a copy"),
        (_box_in(2, "0, 0"), "nobody put a tensor map at"),
        (MAP + _box_in(3, "0, 0, 0"), "3 coordinates of a tensor of rank 2"),
        (MAP + "add.u32 %r11, %r11, 64;" + _box_in(2, "0, 0"), "is not aligned to 128 bytes"),
        (tensor_map((128, 4), (40, 4)) + _box_in(2, "0, 0"), "box rows of 40 bytes"),
        (tensor_map((128, 4), (128, 4), strides=(120,)) + _box_in(2, "0, 0"), "strides of .120"),
        (tensor_map((128, 4), (128, 4), swizzle=2) + _box_in(2, "0, 0"),
         "box rows of 128 bytes, swizzled by 64"),
        (tensor_map((128, 0), (128, 4)) + _box_in(2, "0, 0"), "dimensions of .128, 0"),
        (tensor_map((128, 4), (128, 300)) + _box_in(2, "0, 0"), "a box of .128, 300"),
    ],
)  # fmt: skip
def test_faults_are_found(body: str, reason: str) -> None:
    with pytest.raises(PtxError, match=reason):
        _run(body + "ret;", np.zeros(512, np.uint8), np.zeros(512, np.uint8))
