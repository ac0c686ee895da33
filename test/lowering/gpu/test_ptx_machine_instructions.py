"""Instructions on registers, in memory and between the threads of a warp, as the PTX ISA says."""

from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hand_written_ptx import assemble, kernel
from ptx_machine import PtxError, run_kernel

LANES = 32
_U = np.uint32(0xFFFFFFFF)
_X = np.array([0, 1, 7, 31, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFFFFFFF9], np.uint32).repeat(4)
_Y = np.tile(np.array([3, 0xFFFFFFFE, 33, 0x7FFFFFFF], np.uint32), 8)
_SX, _SY = _X.view(np.int32).astype(np.int64), _Y.view(np.int32).astype(np.int64)
_LX, _LY = _X.astype(object), _Y.astype(object)
_F = np.array([1.5, -0.0, np.nan, 1e-40, 3.4e38, -7.25, np.inf, 0.3], np.float32).repeat(4)
_G = np.tile(np.array([2.0, 0.0, -1e-39, 1.0000001], np.float32), 8)


def _wrapped(values: Sequence[int] | np.ndarray) -> np.ndarray:
    return np.array([int(each) % (1 << 32) for each in values], np.uint32)


def _signed_quotient() -> np.ndarray:
    return _wrapped([int(abs(a) // abs(b)) * (1 if a * b >= 0 else -1)
                     for a, b in zip(_SX, _SY, strict=True)])  # fmt: skip


# Of x in %r1, y in %r2, to %r3.
INTEGERS: dict[str, np.ndarray] = {
    "max.s32 %r3, %r1, %r2;": _wrapped(np.maximum(_SX, _SY)),
    "min.u32 %r3, %r1, %r2;": np.minimum(_X, _Y),
    "div.s32 %r3, %r1, %r2;": _signed_quotient(),
    "rem.s32 %r3, %r1, %r2;": _wrapped(np.fmod(_SX, _SY)),
    "mul.hi.u32 %r3, %r1, %r2;": _wrapped(_LX * _LY >> 32),
    "mul.hi.s32 %r3, %r1, %r2;": _wrapped(_SX * _SY >> 32),
    "mad.lo.s32 %r3, %r1, %r2, %r1;": _wrapped(_LX * _LY + _LX),
    "shl.b32 %r3, %r1, %r2;": _wrapped(np.where(_Y < 32, _LX << np.minimum(_LY, 32), 0)),
    "shr.u32 %r3, %r1, %r2;": _wrapped(np.where(_Y < 32, _LX >> np.minimum(_LY, 32), 0)),
    "shr.s32 %r3, %r1, %r2;": _wrapped(_SX >> np.minimum(_Y, 31)),
    "shf.l.wrap.b32 %r3, %r1, %r2, 8;": _wrapped(_LY << 8 | _LX >> 24),
    "shf.r.clamp.b32 %r3, %r1, %r2, 40;": _Y,
    "bfe.u32 %r3, %r1, 4, 8;": _X >> 4 & 0xFF,
    "bfe.s32 %r3, %r1, 28, 4;": _wrapped(_SX >> 28),
    "bfi.b32 %r3, %r1, %r2, 8, 4;": _Y & ~np.uint32(0xF00) | (_X & 15) << 8,
    "lop3.b32 %r3, %r1, %r2, 255, 0x96;": _X ^ _Y ^ 255,
    "prmt.b32 %r3, %r1, %r2, 0x8765;": _wrapped(
        [(y >> 8) | (0xFF000000 if x & 0x80 else 0) for x, y in zip(_LX, _LY, strict=True)]
    ),
    "popc.b32 %r3, %r1;": _wrapped([x.bit_count() for x in _LX]),
    "clz.b32 %r3, %r1;": _wrapped([32 - x.bit_length() for x in _LX]),
    "brev.b32 %r3, %r1;": _wrapped([int(f"{x:032b}"[::-1], 2) for x in _LX]),
    "neg.s32 %r3, %r1;": _wrapped(-_SX),
    "abs.s32 %r3, %r1;": _wrapped(np.abs(_SX)),
    "setp.lt.s32 %p1, %r1, %r2; selp.u32 %r3, 5, 9, %p1;": np.where(_SX < _SY, 5, 9),
    "setp.gt.and.u32 %p1, %r1, 6, !%p9; selp.u32 %r3, 5, 9, %p1;": np.where(_X > 6, 5, 9),
    "setp.hi.u32 %p1|%p2, %r1, %r2; selp.u32 %r3, 5, 9, %p2;": np.where(_X > _Y, 9, 5),
    "cvt.rn.f32.s32 %f3, %r1; mov.b32 %r3, %f3;": _SX.astype(np.float32).view(np.uint32),
    "cvt.rn.f32.u32 %f3, %r1; mov.b32 %r3, %f3;": _X.astype(np.float32).view(np.uint32),
    "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %r1; mov.b32 %r3, {hi, lo}; }": _X << 16 | _X >> 16,
}  # fmt: skip

with np.errstate(all="ignore"):
    _FMA = (_F.astype(np.longdouble) * _G + _F).astype(np.float32)
    _MUL = _F * _G
    _TO_S32 = [
        0 if np.isnan(x) else int(np.clip(np.trunc(float(x)), -(2**31), 2**31 - 1)) for x in _F
    ]
    # Of f in %f1, g in %f2, to %f3.
    FLOATS: dict[str, np.ndarray] = {
        "mul.rn.f32 %f3, %f1, %f2;": _MUL,
        "fma.rn.f32 %f3, %f1, %f2, %f1;": _FMA,
        "mul.rn.ftz.f32 %f3, %f1, %f2;": np.where(
            np.abs(_G) < 2.0**-126, np.where(np.isinf(_F), np.nan, _F * (_G * 0)),
            np.where(np.abs(_F) < 2.0**-126, _F * 0 * _G, _MUL),
        ),
        "min.f32 %f3, %f1, %f2;": np.where(
            np.isnan(_F), _G, np.where((_F == 0) & (_G == 0), np.float32(-0.0), np.minimum(_F, _G))
        ),
        "max.NaN.f32 %f3, %f1, %f2;": np.where(
            (_F == 0) & (_G == 0), np.float32(0), np.maximum(_F, _G)
        ),
        "setp.ne.f32 %p1, %f1, %f1; selp.f32 %f3, %f1, %f2, %p1;": _G,
        "setp.neu.f32 %p1, %f1, %f1; selp.f32 %f3, 0f40000000, %f2, %p1;": np.where(
            np.isnan(_F), np.float32(2), _G
        ),
        "cvt.rzi.s32.f32 %r3, %f1; mov.b32 %f3, %r3;": _wrapped(_TO_S32).view(np.float32),
        "cvt.rni.f32.f32 %f3, %f1;": np.rint(_F),
        "cvt.rn.bf16.f32 %rs1, %f1; cvt.f32.bf16 %f3, %rs1;": _F.astype(
            ml_dtypes.bfloat16
        ).astype(np.float32),
        "cvt.rn.f16x2.f32 %r3, %f1, %f2; { .reg .b16 lo, hi; mov.b32 {lo, hi}, %r3;"
        " cvt.f32.f16 %f3, hi; }": _F.astype(np.float16).astype(np.float32),
        "copysign.f32 %f3, %f2, %f1;": np.copysign(np.where(np.isnan(_F), np.nan, _F), _G),
    }  # fmt: skip


def _on_lanes(body: str, kind: str) -> str:
    name = {"b": "r", "f": "f"}[kind]
    return kernel(
        f"""mov.u32 %r9, %tid.x; mul.wide.u32 %rd9, %r9, 4; setp.ne.u32 %p9, 0, 0;
        add.u64 %rd4, %rd1, %rd9; add.u64 %rd5, %rd2, %rd9; add.u64 %rd6, %rd3, %rd9;
        ld.global.{kind}32 %{name}1, [%rd4]; ld.global.{kind}32 %{name}2, [%rd5];
        {body}
        st.global.{kind}32 [%rd6], %{name}3; ret;""",
        3,
    )


def _lanes(ptx: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return run_kernel(ptx, [x, y, np.zeros_like(x)], (1, 1), LANES)[2]


@pytest.mark.parametrize("body", INTEGERS)
def test_integers(body: str) -> None:
    found = _lanes(_on_lanes(body, "b"), _X, _Y)
    np.testing.assert_array_equal(found, INTEGERS[body])


@pytest.mark.parametrize("body", FLOATS)
def test_floats(body: str) -> None:
    found, wanted = _lanes(_on_lanes(body, "f"), _F, _G), FLOATS[body].astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


_T = np.arange(LANES)
WARPS: dict[str, np.ndarray] = {
    "shfl.sync.up.b32 %r3|%p1, %r1, 3, 0, -1; @!%p1 mov.b32 %r3, 77;": np.where(
        _T < 3, 77, _X[_T - 3]
    ),
    "shfl.sync.down.b32 %r3, %r1, 2, 0x181f, -1;": _X[np.where(_T % 8 < 6, _T + 2, _T)],
    "shfl.sync.bfly.b32 %r3, %r1, 5, 31, 0xffffffff;": _X[_T ^ 5],
    "shfl.sync.idx.b32 %r3, %r1, %r9, 0x1c1f, -1;": _X,
    "setp.lt.u32 %p1, %r1, 100; vote.sync.ballot.b32 %r3, %p1, -1;": np.full(
        32, (1 << 16) - 1, np.uint32
    ),
    "setp.lt.u32 %p1, %r9, 40; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r3, 1, 0, %p2;": np.ones(
        32, np.uint32
    ),
    "match.any.sync.b32 %r3, %r1, -1;": 15 << (_T // 4 * 4),
    "redux.sync.add.s32 %r3, %r1, -1;": np.full(32, _wrapped([4 * sum(_SX[::4])])[0]),
    "redux.sync.min.s32 %r3, %r1, -1;": np.full(32, 0x80000000, np.uint32),
    "elect.sync %r3|%p1, -1; @%p1 mov.b32 %r3, 9;": np.where(_T == 0, 9, 0),
    "mov.u32 %r3, %lanemask_lt;": (1 << _T) - 1,
    # Those who are left meet behind the branch, and then are a warp again.
    "setp.lt.u32 %p1, %r9, 4; @%p1 bra $few; vote.sync.ballot.b32 %r3, !%p9, 0xfffffff0;"
    "bra.uni $all; $few: activemask.b32 %r3; $all: shfl.sync.idx.b32 %r3, %r3, 31, 31, -1;": (
        np.full(32, 0xFFFFFFF0, np.uint32)
    ),
}


@pytest.mark.parametrize("body", WARPS)
def test_warps(body: str) -> None:
    np.testing.assert_array_equal(_lanes(_on_lanes(body, "b"), _X, _Y), WARPS[body])


def test_the_assembler_takes_them(tmp_path: Path) -> None:
    tables = ((INTEGERS, "b"), (FLOATS, "f"), (WARPS, "b"))
    for table, kind in tables:
        scoped = [f"{{ {each} }}" for each in table]
        assemble(_on_lanes("\n".join(scoped), kind), tmp_path)


def test_a_lane_that_is_missing_is_found() -> None:
    body = "setp.eq.u32 %p1, %r9, 5; @%p1 bra $end; shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1; $end:"
    with pytest.raises(PtxError, match="waits at shfl.sync.bfly.b32 .* for the rest of the warp"):
        _lanes(_on_lanes(body, "b"), _X, _Y)
    masked = body.replace("-1;", "0xffffffdf;")
    with pytest.raises(PtxError, match="reads a lane that does not take part"):
        _lanes(_on_lanes(masked, "b"), _X, _Y)


ATOMICS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "red.relaxed.gpu.global.add.f32 [%rd3], 0f3F800000;": (
        np.array([0.5], np.float32), np.array([32.5], np.float32)),
    "red.global.add.u32 [%rd3], %r9;": (np.array([7], np.uint32), np.array([503], np.uint32)),
    "atom.acq_rel.gpu.global.max.s32 %r4, [%rd3], %r2;": (
        np.array([-9], np.int32), np.array([0x7FFFFFFF], np.int32)),
    "atom.global.min.u32 %r4, [%rd3], %r2;": (np.array([9], np.uint32), np.array([3], np.uint32)),
    "atom.global.exch.b32 %r4, [%rd3], %r9;": (np.array([9], np.uint32), np.array([31], np.uint32)),
    "atom.relaxed.sys.global.cas.b32 %r4, [%rd3], 9, 4;": (
        np.array([9], np.uint32), np.array([4], np.uint32)),
    "atom.global.inc.u32 %r4, [%rd3], 9;": (np.array([5], np.uint32), np.array([7], np.uint32)),
    "mov.b32 %r5, 0x3F804000; red.global.add.noftz.bf16x2 [%rd3], %r5;": (
        np.array([1, 2], ml_dtypes.bfloat16).view(np.uint32),
        np.array([65, 34], ml_dtypes.bfloat16).view(np.uint32)),
    "mov.b32 %f1, 0f3F800000; add.rn.f32 %f2, %f1, %f1;"
    " red.global.add.v2.f32 [%rd3], {%f1, %f2};": (
        np.array([1, 2], np.float32), np.array([33, 66], np.float32)),
}  # fmt: skip


@pytest.mark.parametrize("body", ATOMICS)
def test_atomics(body: str) -> None:
    start, wanted = ATOMICS[body]
    ptx = kernel(_atomic(body), 3)
    found = run_kernel(ptx, [_X, _Y, start], (1, 1), LANES)[2]
    np.testing.assert_array_equal(found, wanted)


def _atomic(body: str) -> str:
    return f"""mov.u32 %r9, %tid.x; mul.wide.u32 %rd9, %r9, 4; add.u64 %rd5, %rd2, %rd9;
    ld.global.nc.L1::no_allocate.b32 %r2, [%rd5]; {body} ret;"""


def test_the_assembler_takes_atomics(tmp_path: Path) -> None:
    for body in ATOMICS:
        assemble(kernel(_atomic(body), 3), tmp_path)


def test_a_flag_is_polled_until_another_block_sets_it() -> None:
    text = kernel(
        """mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra $wait;
        st.global.b32 [%rd2], 41; st.release.gpu.global.b32 [%rd1], 1; ret;
        $wait: ld.acquire.gpu.global.b32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra $wait;
        ld.global.b32 %r3, [%rd2]; add.u32 %r3, %r3, 1; st.global.b32 [%rd2], %r3; ret;""",
        2,
    )
    flag, value = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    assert run_kernel(text, [flag, value], (2, 1), 1)[1][0] == 42
    with pytest.raises(PtxError, match="polls memory"):
        run_kernel(text, [flag, value], (1, 1), 1)
