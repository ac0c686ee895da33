"""Fragments of matrices in the interpreter: `ldmatrix`, `stmatrix`, `mma`, and forms of `wgmma`."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hand_written_ptx import assemble, kernel
from ptx_machine import PtxError, run_kernel

SHARED = ".shared .align 1024 .b8 tile[32768];"
TYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
}  # fmt: skip
# %rd1 goes to shared memory as it is, a word of each thread at a time.
START = """mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.b32 %r10, tile; mov.b32 %r5, 0;
$f: mad.lo.u32 %r6, %r5, %r2, %r1; shl.b32 %r6, %r6, 2; cvt.u64.u32 %rd8, %r6;
add.u64 %rd8, %rd8, %rd1; ld.global.b32 %r8, [%rd8]; add.u32 %r6, %r6, %r10;
st.shared.b32 [%r6], %r8; add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, {}; @%p4 bra $f;
fence.proxy.async.shared::cta; bar.sync 0; mul.wide.u32 %rd9, %r1, {}; add.u64 %rd9, %rd9, %rd2;"""


def _run(body: str, data: np.ndarray, out: np.ndarray, threads: int = 32) -> np.ndarray:
    text = kernel(_started(body, data, out, threads), 2, SHARED)
    return run_kernel(text, [data, out], (1, 1), threads)[1]


def _started(body: str, data: np.ndarray, out: np.ndarray, threads: int) -> str:
    return START.format(data.nbytes // threads // 4, out.nbytes // threads) + body + "ret;"


LDMATRIX = """shl.b32 %r20, %r1, 4; add.u32 %r20, %r20, %r10;
ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%r21, %r22, %r23, %r24}}, [%r20];
st.global.v4.b32 [%rd9], {{%r21, %r22, %r23, %r24}};"""
STMATRIX = """mul.wide.u32 %rd10, %r1, 8; add.u64 %rd10, %rd10, %rd1;
ld.global.v2.b32 {{%r21, %r22}}, [%rd10]; and.b32 %r20, %r1, 15; shl.b32 %r20, %r20, 4;
add.u32 %r20, %r20, %r10;
stmatrix.sync.aligned.m8n8.x2{}.shared.b16 [%r20], {{%r21, %r22}}; bar.sync 0;
shl.b32 %r20, %r1, 3; add.u32 %r20, %r20, %r10; ld.shared.v2.b32 {{%r21, %r22}}, [%r20];
st.global.v2.b32 [%rd9], {{%r21, %r22}};"""


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrices_of_eight_rows(trans: str) -> None:
    data = np.arange(4 * 64, dtype=np.uint16).reshape(4, 8, 8)
    found = _run(LDMATRIX.format(trans), data, np.zeros((32, 4, 2), np.uint16))
    matrices = data.transpose(0, 2, 1) if trans else data
    for thread in range(32):
        row, column = thread // 4, 2 * (thread % 4)
        np.testing.assert_array_equal(found[thread], matrices[:, row, column : column + 2])


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrices_are_stored(trans: str) -> None:
    data = np.arange(128, dtype=np.uint16).reshape(32, 2, 2)
    found = _run(STMATRIX.format(trans), data, np.zeros((2, 8, 8), np.uint16))
    for thread in range(32):
        row, column = thread // 4, 2 * (thread % 4)
        for matrix in range(2):
            own = found[matrix].T if trans else found[matrix]
            np.testing.assert_array_equal(own[row, column : column + 2], data[thread, matrix])


def _integers(shape: tuple[int, ...], type_: str, seed: int) -> np.ndarray:
    """Whose products' sums are exact."""
    whole = np.random.default_rng(seed).integers(-4, 5, shape)
    return whole.astype(np.float32).astype(TYPES[type_])


def _mma(first: str, second: str) -> str:
    depth = 32 if first[0] == "e" else 16
    return f"""shl.b32 %r20, %r1, 4; add.u32 %r20, %r20, %r10;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r21, %r22, %r23, %r24}}, [%r20];
    and.b32 %r20, %r1, 15; shl.b32 %r20, %r20, 4; add.u32 %r20, %r20, %r10;
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{%r25, %r26}}, [%r20+512];
    mov.b32 %f1, 0f3F800000; mov.b32 %f2, 0f40000000;
    mma.sync.aligned.m16n8k{depth}.row.col.f32.{first}.{second}.f32 {{%f3, %f4, %f5, %f6}},
    {{%r21, %r22, %r23, %r24}}, {{%r25, %r26}}, {{%f1, %f2, %f1, %f2}};
    st.global.v4.f32 [%rd9], {{%f3, %f4, %f5, %f6}};"""


PAIRS = [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"),
         ("bf16", "bf16"), ("f16", "f16")]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_mma(first: str, second: str) -> None:
    """Fragments come by `ldmatrix`: 8 rows of 16 bytes, the four of A down and then right."""
    a = _integers((16, 32 // np.dtype(TYPES[first]).itemsize), first, 0)
    b = _integers((8, a.shape[1]), second, 1)
    a_bytes, b_bytes = a.view(np.uint8).reshape(2, 8, 2, 16), b.view(np.uint8).reshape(8, 2, 16)
    data = np.concatenate(
        [a_bytes.transpose(2, 0, 1, 3).reshape(-1), b_bytes.transpose(1, 0, 2).reshape(-1)]
    )
    data = np.concatenate([data, np.zeros(256, np.uint8)])
    found = _run(_mma(first, second), data, np.zeros((32, 4), np.float32))
    wanted = a.astype(np.float32) @ b.astype(np.float32).T
    for thread in range(32):
        row, column = thread // 4, 2 * (thread % 4)
        own = np.concatenate([wanted[row, column:][:2], wanted[row + 8, column:][:2]])
        np.testing.assert_array_equal(found[thread], own + [1, 2, 1, 2])


def _blocked(matrix: np.ndarray, span: int) -> np.ndarray:
    """K-major bytes in rows of `span`, exchanged; for 0 in core matrices, 8 x 16 bytes each."""
    rows = matrix.view(np.uint8)
    if not span:
        return rows.reshape(-1, 8, 2, 16).transpose(0, 2, 1, 3).reshape(-1)
    padded = np.zeros((len(rows), span), np.uint8)
    padded[:, : rows.shape[1]] = rows
    pieces = padded.reshape(-1, 8, 16)
    lines = np.arange(len(pieces))[:, None]
    return pieces[lines, np.arange(8) ^ (lines % (span // 16))].reshape(-1)


def _wgmma(types: tuple[str, str], columns: int, span: int, between: str = "", at: int = 0) -> str:
    """A at 0, B at 16384; `at` bytes of K before both."""
    depth = 32 if types[0][0] == "e" else 16
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[span]
    leading, stride = (128, 256) if not span else (16, 8 * span)
    word = mode << 62 | stride >> 4 << 32 | leading >> 4 << 16
    names = [f"%f{i}" for i in range(columns // 2)]
    more = ", 0, 0" if depth == 16 else ""
    product = f"""wgmma.mma_async.sync.aligned.m64n{columns}k{depth}.f32.{types[0]}.{types[1]}
    {{{", ".join(names)}}}, %rd20, %rd21, %p5, 1, 1{more};"""
    stores = "\n".join(f"st.global.f32 [%rd9+{4 * i}], {each};" for i, each in enumerate(names))
    return f"""add.u32 %r20, %r10, {at}; shr.u32 %r20, %r20, 4; cvt.u64.u32 %rd20, %r20;
    or.b64 %rd20, %rd20, {word:#x}; add.u64 %rd21, %rd20, 1024; setp.ne.u32 %p5, 0, 0;
    wgmma.fence.sync.aligned; {product} setp.eq.u32 %p5, 0, 0; {product}
    wgmma.commit_group.sync.aligned; {between} wgmma.wait_group.sync.aligned 0;
    {stores}"""


WGMMA = [
    (("e4m3", "e4m3"), 8, 0), (("e5m2", "e4m3"), 24, 32), (("e4m3", "e5m2"), 64, 64),
    (("e5m2", "e5m2"), 256, 32), (("e4m3", "e4m3"), 32, 128), (("bf16", "bf16"), 16, 0),
    (("f16", "f16"), 16, 128),
]  # fmt: skip


def _operands(types: tuple[str, str], columns: int, span: int) -> tuple[np.ndarray, ...]:
    depth = 32 // np.dtype(TYPES[types[0]]).itemsize
    a, b = _integers((64, depth), types[0], 0), _integers((columns, depth), types[1], 1)
    data = np.zeros(32768, np.uint8)
    for start, each in ((0, a), (16384, b)):
        blocked = _blocked(each, span)
        data[start : start + len(blocked)] = blocked
    return a, b, data


@pytest.mark.parametrize(("types", "columns", "span"), WGMMA)
def test_wgmma(types: tuple[str, str], columns: int, span: int) -> None:
    """Twice the product: the second adds to what the first has not given yet."""
    a, b, data = _operands(types, columns, span)
    out = np.zeros((128, columns // 2), np.float32)
    found = _run(_wgmma(types, columns, span), data, out, 128)
    wanted = 2 * (a.astype(np.float32) @ b.astype(np.float32).T)
    for thread in range(128):
        warp, lane = divmod(thread, 32)
        for i in range(columns // 2):
            row = 16 * warp + lane // 4 + 8 * (i % 4 // 2)
            assert found[thread, i] == wanted[row, 8 * (i // 4) + 2 * (lane % 4) + i % 2]


def test_the_assembler_takes_them(tmp_path: Path) -> None:
    bodies = [LDMATRIX.format(".trans"), STMATRIX.format(".trans")]
    bodies += [_mma(*each) for each in PAIRS]
    for body in bodies:
        assemble(kernel(START.format(1, 8) + body + "ret;", 2, SHARED), tmp_path)
    for each in WGMMA:
        text = START.format(64, 4) + _wgmma(*each) + "ret;"
        assemble(kernel(text, 2, SHARED, ".maxntid 128, 1, 1"), tmp_path)


def test_what_is_read_too_early_is_no_sum() -> None:
    types, columns, span = WGMMA[4]
    a, b, data = _operands(types, columns, span)
    early = "add.rn.f32 %f200, %f0, %f1;"
    body = _wgmma(types, columns, span, early) + "st.global.f32 [%rd9], %f200;"
    found = _run(body, data, np.zeros((128, columns // 2), np.float32), 128)
    wanted = 2 * (a.astype(np.float32) @ b.astype(np.float32).T)
    assert abs(found[0, 0]) > 1e18 > abs(wanted).max()
    # A copy of them is there when they are: assemblers make one register of both.
    body = _wgmma(types, columns, span, "mov.b32 %f200, %f0;") + "st.global.f32 [%rd9], %f200;"
    found = _run(body, data, np.zeros((128, columns // 2), np.float32), 128)
    assert found[0, 0] == wanted[0, 0]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("wgmma.fence.sync.aligned;", "", "before wgmma.fence"),
        ("wgmma.wait_group.sync.aligned 0;", "", "ends before wgmma.wait_group"),
        ("wgmma.wait_group", "st.shared.b32 [%r10], 0; wgmma.wait_group",
         "is being read by a copy or a product"),
        ("fence.proxy.async.shared::cta;", "", "without fence.proxy.async"),
        ("add.u32 %r20, %r10, 0;", "add.u32 %r20, %r10, 112;", "in patterns of 8 x 128 bytes"),
        ("add.u32 %r20, %r10, 0;", "add.u32 %r20, %r10, 128;", "in patterns of 8 x 128 bytes"),
        ("add.u32 %r20, %r10, 0;", "add.u32 %r20, %r10, 31744;", "outside of shared memory"),
        ("setp.ne.u32 %p5, 0, 0;", "setp.ne.u32 %p5, %r1, 0;", "differ within a warpgroup"),
        ("setp.ne.u32 %p5, 0, 0;", "setp.ge.u32 %p6, %r1, 96; @%p6 bra $e;", "rest of the warp"),
        ("m64n32k32", "m64n32k16", "is not known"),
    ],
)  # fmt: skip
def test_faults_are_found(old: str, new: str, reason: str) -> None:
    types, columns, span = WGMMA[4]
    data = _operands(types, columns, span)[2]
    out = np.zeros((128, columns // 2), np.float32)
    text = kernel(_started(_wgmma(types, columns, span), data, out, 128), 2, SHARED)
    assert old in text
    text = text.replace(old, new).replace("ret;", "$e: ret;")
    with pytest.raises(PtxError, match=reason):
        run_kernel(text, [data, out], (1, 1), 128)
