"""`mlir_fp8.cast` against exact references, over all pairs of types and all kinds of arrays."""

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.compiling.native import cast as cast_module
from mlir_fp8.compiling.native.quick_cast import PER_THREAD
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS, FloatFormat

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "references"))
from rounding_table import table  # pyright: ignore[reportMissingImports]

E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)


@cache
def _numbers(fmt: FloatFormat) -> np.ndarray:
    """All numbers of a narrow format; for f32 and f64, neighbours of every code of the others."""
    if fmt.bits <= 16:
        return np.arange(1 << fmt.bits).astype(f"u{fmt.storage_bits // 8}").view(fmt.dtype)
    around = [np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, 2.0**-149])]
    for small in (*SMALL_FLOATS.values(), FORMATS["bf16"], FORMATS["f16"]):
        known = table(small)
        around += [known.values, known.midpoints]
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = np.concatenate(around).astype(fmt.dtype)
        numbers = np.concatenate([numbers, np.nextafter(numbers, fmt.dtype.type(np.inf)),
                                  np.nextafter(numbers, -fmt.dtype.type(np.inf))])  # fmt: skip
        return np.concatenate([numbers, -numbers])


def _codes(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.itemsize}")


def _as_f64(array: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        wide = array.astype(np.float32) if array.dtype.itemsize < 4 else array
        return wide.astype(np.float64)


@pytest.mark.sampled(23)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_every_pair_of_floats_is_exact(source: str, name: str) -> None:
    _check_cast(source, name, saturate=False)


@pytest.mark.sampled(23)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("source", ["f8E5M2", "f16", "f32", "f64"])
def test_saturating_casts_are_exact(source: str, name: str) -> None:
    _check_cast(source, name, saturate=True)


def _check_cast(source: str, name: str, *, saturate: bool) -> None:
    numbers = _numbers(FORMATS[source])
    exact = _as_f64(numbers)
    fmt = FORMATS[name]
    got = mlir_fp8.cast(numbers, name, saturate=saturate)
    assert got.dtype == fmt.dtype
    if name == source:
        np.testing.assert_array_equal(_codes(got), _codes(numbers))
    elif fmt.bits <= 16:
        wanted = table(fmt).round(exact, saturate=saturate and fmt.is_small)
        with np.errstate(invalid="ignore"):
            is_nan = np.isnan(exact) & (fmt.has_nan and fmt.bits == 16)
        bad = (_codes(got) != wanted.view(f"u{fmt.storage_bits // 8}")) & ~is_nan
        assert not bad.any(), f"{name}: {exact[bad][:4]} give {_codes(got)[bad][:4]}"
        assert np.isnan(_as_f64(got)[is_nan]).all(), name
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            np.testing.assert_array_equal(got, exact.astype(fmt.dtype), err_msg=name)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", ["i8", "ui8", "i32", "i64", "ui64"])
def test_integers_are_those_of_compiled_modules(element: str) -> None:
    dtype = np.dtype(f"{'u' if element.startswith('u') else ''}int{element.lstrip('ui')}")
    info = np.iinfo(dtype)
    random = np.random.default_rng(1).integers(info.min, info.max, 57, dtype)
    edges = np.array([0, 1, 2, info.min, info.max, info.max - 1, info.max // 2], dtype)
    integers = np.concatenate([edges, random])
    names = ("f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "bf16", "f16", "f32", "f64")
    floats = [_numbers(FORMATS[name])[-64:] for name in names]
    from_integers = _compiled_converts([(integers, element, name) for name in names])
    to_integers = _compiled_converts(
        [(array, name, element) for array, name in zip(floats, names, strict=True)]
    )
    for name, array, there, back in zip(names, floats, from_integers, to_integers, strict=True):
        got = mlir_fp8.cast(integers, name)
        np.testing.assert_array_equal(_codes(got), _codes(there), err_msg=name)
        np.testing.assert_array_equal(mlir_fp8.cast(array, element), back, err_msg=name)


def _compiled_converts(cases: list[tuple[np.ndarray, str, str]]) -> tuple[np.ndarray, ...]:
    """Of each array and its type, `stablehlo.convert` to another type."""
    takes = [f"tensor<{len(array)}x{source}>" for array, source, _ in cases]
    gives = [f"tensor<{len(array)}x{target}>" for array, _, target in cases]
    body = [
        f"  %r{i} = stablehlo.convert %a{i} : ({taken}) -> {given}"
        for i, (taken, given) in enumerate(zip(takes, gives, strict=True))
    ]
    arguments = ", ".join(f"%a{i}: {taken}" for i, taken in enumerate(takes))
    results = ", ".join(f"%r{i}" for i in range(len(cases)))
    lines = [f"func.func @main({arguments}) -> ({', '.join(gives)}) {{", *body]
    text = "\n".join([*lines, f"  return {results} : {', '.join(gives)}", "}"])
    return mlir_fp8.compile(text)(*(array for array, _, _ in cases))


BASE = np.random.default_rng(0).standard_normal((12, 10, 8)).astype(np.float32)
UNALIGNED = np.zeros(4 * 30 + 1, np.uint8)[1:].view(np.float32)
LAYOUTS = {
    "contiguous": BASE,
    "transposed": BASE.transpose(2, 0, 1),
    "every other": BASE[::2],
    "strided everywhere": BASE[::3, 1::2, ::5],
    "backwards": BASE[::-1, :, ::-1],
    "broadcast": np.broadcast_to(BASE[0, 0], (3, 4, 8)),
    "Fortran order": np.asfortranarray(BASE),
    "no elements": BASE[:0],
    "no elements, strided": BASE[3:3, ::2],
    "rank 0": np.array(1.7, np.float32),
    "one element": BASE[:1, :1, :1],
    "unaligned": UNALIGNED,
    "more than a block, strided": np.random.default_rng(2).random((20000, 3), np.float32)[:, 1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_as_astype_gives_them(layout: str) -> None:
    array = LAYOUTS[layout]
    before = array.copy()
    for given in (array, _read_only(array)):
        got = mlir_fp8.cast(given, E4M3)
        wanted = array.astype(E4M3)
        assert (got.shape, got.strides) == (wanted.shape, wanted.strides)
        np.testing.assert_array_equal(_codes(got), _codes(wanted))
    np.testing.assert_array_equal(array, before)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("layout", LAYOUTS)
def test_out_of_any_layout_takes_the_results(layout: str) -> None:
    array = LAYOUTS[layout]
    room = np.full(tuple(2 * size for size in array.shape), 0x55, np.uint8).view(E4M3)
    out = room[(..., *(slice(None, None, -2) for _ in array.shape))]
    assert mlir_fp8.cast(array, E4M3, out=out) is out
    np.testing.assert_array_equal(_codes(out), _codes(array.astype(E4M3)))
    untouched = np.ones(room.shape, bool)
    untouched[(..., *(slice(None, None, -2) for _ in array.shape))] = False
    assert (_codes(room)[untouched] == 0x55).all()


def test_out_may_overlap_the_array() -> None:
    memory = np.zeros(4 * 1000, np.uint8)
    for start in (0, 1, 999, 3000):
        array = memory.view(np.float32)
        array[:] = np.linspace(-500, 500, 1000, dtype=np.float32)
        wanted = array.astype(E4M3)
        mlir_fp8.cast(array, E4M3, out=memory[start : start + 1000].view(E4M3))
        np.testing.assert_array_equal(memory[start : start + 1000], _codes(wanted))
    codes = np.arange(256, dtype=np.uint8)
    wanted = codes.view(E4M3).astype(np.float32)
    room = np.zeros(1024, np.uint8)
    room[:256] = codes
    mlir_fp8.cast(room[:256].view(E4M3), np.float32, out=room.view(np.float32))
    np.testing.assert_array_equal(room.view(np.float32), wanted)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_threads_give_the_same(threads: int) -> None:
    array = np.random.default_rng(3).standard_normal(5 * (1 << 18) + 77).astype(np.float32)
    got = mlir_fp8.cast(array, "f8E5M2", threads=threads)
    np.testing.assert_array_equal(_codes(got), _codes(array.astype(ml_dtypes.float8_e5m2)))
    wide = mlir_fp8.cast(got, "f32", threads=threads)
    np.testing.assert_array_equal(wide, got.astype(np.float32))


def test_threads_work_in_a_forked_child() -> None:
    array = np.ones(1 << 20, np.float32)
    mlir_fp8.cast(array, E4M3, threads=2)
    child = os.fork()
    if not child:
        status = 1
        try:
            got = mlir_fp8.cast(array, E4M3, threads=2)
            status = int((_codes(got) != 0x38).any())
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "dtype", ["f8E4M3FN", E4M3, ml_dtypes.float8_e4m3fn, "float8_e4m3fn"], ids=str
)
def test_dtypes_have_many_names(dtype: object) -> None:
    assert mlir_fp8.cast(BASE, dtype).dtype == E4M3


def test_names_are_of_mlir_first() -> None:
    ones = np.ones(3, np.float32)
    assert mlir_fp8.cast(ones, "i8").dtype == np.int8
    assert mlir_fp8.cast(ones, "f16").dtype == np.float16
    assert mlir_fp8.cast(ones, "bf16").dtype == ml_dtypes.bfloat16
    assert mlir_fp8.cast(ones, "float64").dtype == np.float64


F32 = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("array", "dtype", "options", "message"),
    [
        (F32.astype(">f4"), E4M3, {}, r"array is >f4, of foreign byte order: .*newbyteorder"),
        (F32, ">f4", {}, r"dtype is >f4, of foreign byte order"),
        ([1.0], E4M3, {}, r"array is a list: give a numpy array"),
        (np.ma.masked_array(F32), E4M3, {}, r"array is masked"),
        (F32.astype(complex), E4M3, {}, r"array is complex128: only floats and integers"),
        (F32 > 0, E4M3, {}, r"array is bool: only floats and integers"),
        (F32, "i1", {}, r"dtype is bool: only floats and integers"),
        (F32, "i4", {}, r"dtype is int4: only floats and integers"),
        (F32, "f8", {}, None),
        (F32, "f8E4M3FNN", {}, r"dtype is 'f8E4M3FNN': give a numpy type or one of f8E5M2, "),
        (F32, object, {}, r"dtype is object: only floats"),
        (F32, ",", {}, r"dtype is ',': give a numpy type"),
        (F32, "\udc80", {}, r"dtype is '\\udc80': give a numpy type"),
        (F32, ("f4", -1), {}, r"dtype is \('f4', -1\): give a numpy type"),
        (np.ones(2, np.int32), np.int8, {}, r"from i32 to i8: numpy casts integers"),
        (np.full(2, 0xFF, np.uint8).view(ml_dtypes.float4_e2m1fn), "f32", {}, r"array .*"),
        (F32, E4M3, {"out": np.zeros((3, 2), E4M3)}, r"out is float8_e4m3fn\[3, 2\], the results"),
        (F32, E4M3, {"out": np.zeros((2, 3), np.int8)}, r"out is int8\[2, 3\], the results are"),
        (F32, E4M3, {"out": _read_only(np.zeros((2, 3), E4M3))}, r"out is read-only"),
        (F32, E4M3, {"out": [1]}, r"out is a list: give a numpy array"),
        (F32, E4M3, {"saturate": np.ones(2)}, r"saturate is a ndarray: give True or False"),
        (F32, E4M3, {"threads": 0}, r"threads=0: give a number of threads from 1 to 1024"),
        (F32, E4M3, {"threads": 1.5}, r"threads=1.5: give a number of threads"),
    ],
    ids=str,
)
def test_what_cannot_be_cast_is_named(
    array: Any, dtype: object, options: dict, message: str | None
) -> None:
    if message is None:  # numpy's name of f64
        assert mlir_fp8.cast(array, dtype, **options).dtype == np.float64
        return
    with pytest.raises(mlir_fp8.Fp8Error, match=f"^{message}"):
        mlir_fp8.cast(array, dtype, **options)


def test_the_number_of_threads_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLIR_FP8_NUM_THREADS", "3")
    assert cast_module.thread_count() == 3
    monkeypatch.setenv("MLIR_FP8_NUM_THREADS", "many")
    with pytest.raises(
        mlir_fp8.Fp8Error, match=r"^MLIR_FP8_NUM_THREADS=many: give a number of threads"
    ):
        mlir_fp8.cast(np.zeros(2 * PER_THREAD, np.float32), E4M3)
