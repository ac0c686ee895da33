"""Compiled functions: all codes of the small floats, f32, and the code that is made."""

import math
import subprocess
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from exact_transcendentals import FUNCTIONS
from float_cases import call, compile_ops, numbers, tensor
from flushed_subnormals import flushing_subnormals
from torch_mlir import ir

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.base.context import make_context, symbol_name
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.dialects.float_reference import encode
from mlir_fp8.passes.pass_pipeline import run_pipeline

MOST = 0.51
"""The largest error of f32, in ULP."""
MOST_AT_ROOTS = {"chlo.digamma": 0.75, "chlo.lgamma": 0.75}
"""Where the decomposition in f64 cancels: the largest found is 0.72, of lgamma below 1."""


@cache
def exact(op: str, x: float, sign: float) -> Fraction | float:
    """`sign` tells -0 from 0, which are one key."""
    return FUNCTIONS[op](math.copysign(x, sign))


def values(op: str, x: np.ndarray) -> list[Fraction | float]:
    return [exact(op, float(number), math.copysign(1, number)) for number in x]


# All codes of every small float.


@pytest.mark.sampled(12)
@pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
def test_small_floats_are_correctly_rounded(fmt: FloatFormat) -> None:
    """Functions that have NaN among their results are refused where the format has none."""
    x = numbers(fmt)
    wanted = {op: values(op, x) for op in FUNCTIONS}
    if not fmt.has_nan:
        wanted = {op: want for op, want in wanted.items() if not any(v != v for v in want)}
    type_ = tensor([len(x)], fmt.name)
    module = compile_ops([type_], [call(op, [type_], type_) for op in wanted])
    results = module(np.arange(len(x), dtype=np.uint8).view(fmt.dtype))
    wrong, tiny = [], Fraction(1, 1 << 150)
    for (op, want), got in zip(wanted.items(), results, strict=True):
        # Smaller ones have the same codes, and fractions too long to compute with.
        want = [tiny if 0 < value < tiny else value for value in want]
        got, codes = got.view(np.uint8), np.array([encode(fmt, value) for value in want])
        alike = (got == codes) | (np.isnan(x[got]) & np.isnan(x[codes]))
        wrong += [(op, x[i], got[i], codes[i]) for i in np.flatnonzero(~alike)]
    assert not wrong, f"{len(wrong)} wrong codes: {wrong[:5]}"


# f32.


def assert_near(
    op: str, arguments: Sequence[np.ndarray], got: np.ndarray, want: np.ndarray
) -> None:
    """float32 results near float64 ones, and as they are where those are no numbers."""
    with np.errstate(all="ignore"):
        rounded = want.astype(np.float32)
        error = np.abs(got.astype(np.float64) - want) / np.spacing(np.abs(rounded))
    same = got.view(np.uint32) == rounded.view(np.uint32)
    same |= np.isnan(got) & np.isnan(rounded)
    bad = np.flatnonzero(~same & ~(error <= MOST_AT_ROOTS.get(op, MOST)))
    shown = [(*(float(x[i]) for x in arguments), got[i], want[i]) for i in bad[:5]]
    assert not bad.size, f"{op}: {bad.size} wrong: {shown}"


def some_f32() -> np.ndarray:
    rng = np.random.default_rng(4)
    special = [0, 1, 2, 27, 100, 1e-45, 2.0**-126, 2.0**-13, 0.5, 3.4028235e38, np.inf, np.nan]
    parts = [
        np.array(special),
        -np.array(special),
        np.array([1 - 2.0**-24, 1 + 2.0**-23]),
        np.array([88.72284, -87.33655, -103.97208, 16.0, 9.3, 10.05, 16367173.0 * 2.0**72]),
        rng.uniform(-1, 1, 60),
        rng.normal(scale=20, size=60),
        10.0 ** rng.uniform(-38, 38, 30),
        -(10.0 ** rng.uniform(-38, 38, 30)),
    ]
    return np.concatenate(parts).astype(np.float32)


@cache
def f32_module() -> mlir_fp8.CompiledModule:
    """All functions of `some_f32`."""
    type_ = tensor([len(some_f32())], "f32")
    return compile_ops([type_], [call(op, [type_], type_) for op in FUNCTIONS])


def test_f32_is_within_an_ulp() -> None:
    """Within little more than half of one."""
    x = some_f32()
    for op, got in zip(FUNCTIONS, f32_module()(x), strict=True):
        assert_near(op, [x], got, np.array([float(value) for value in values(op, x)]))


def test_functions_do_not_depend_on_subnormals() -> None:
    """But for those that go in and come out."""
    x = some_f32()
    smallest = np.float32(2.0**-126)
    normal = f32_module()(x)
    with flushing_subnormals():
        flushed = f32_module()(x)
    is_normal = ~(np.abs(x) < smallest) | (x == 0)
    for op, want, got in zip(FUNCTIONS, normal, flushed, strict=True):
        same = got.view(np.uint32) == want.view(np.uint32)
        is_free = is_normal & ~((np.abs(want) < smallest) & (want != 0))
        assert (same | ~is_free).all(), op


@cache
def pairs_module(count: int) -> mlir_fp8.CompiledModule:
    type_ = tensor([count], "f32")
    return compile_ops(
        [type_] * 2,
        [call(f"stablehlo.{op}", [type_] * 2, type_) for op in ("power", "atan2")],
    )


def test_functions_of_pairs() -> None:
    """Special cases are those of the C library, in f64; so are the numbers, to 2**-28 ULP."""
    special = [0, 1, 2, 3, 0.5, 1.5, 149, 2.0**24 - 1, 2.0**24, 2.0**105, 3e38, np.inf, 1e-45]
    special = [*special, *(-number for number in special), np.nan]
    rng = np.random.default_rng(5)
    x, y = (grid.ravel() for grid in np.meshgrid(special, special))
    x = np.concatenate([x, np.exp(rng.normal(scale=4, size=4096))]).astype(np.float32)
    y = np.concatenate([y, rng.normal(scale=8, size=4096)]).astype(np.float32)
    power, angle = pairs_module(len(x))(x, y)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    assert_near("stablehlo.power", [x, y], power, want)
    want = np.arctan2(x.astype(np.float64), y.astype(np.float64))
    assert_near("stablehlo.atan2", [x, y], angle, want)


def test_powers_half_way_between_two_numbers_go_to_the_even_one() -> None:
    bases = [
        (n * 2.0**k, e, n**e, k) for k in (-3, 0, 4) for e in (2, 3, 5) for n in range(3, 8192)
    ]
    ties = [(b, e, float(n) * 2.0 ** (k * e)) for b, e, n, k in bases if n.bit_length() == 25]
    x, y, want = np.array(ties).T
    got, _ = pairs_module(len(x))(x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_array_equal(got, want.astype(np.float32))


# The code.

IN_F64 = {"chlo.digamma", "chlo.lgamma"}
"""What CHLO decomposes, here in f64, with logarithms and sines that the C library has."""


def test_no_function_is_called() -> None:
    """But for roots, signs and maxima, which every machine has as instructions."""
    type_ = tensor([4], "f32")
    ops = [call(op, [type_], type_)[0] for op in FUNCTIONS if op not in IN_F64]
    ops += [call(f"stablehlo.{op}", [type_] * 2, type_)[0] for op in ("power", "atan2")]
    lines = "\n".join(f"%r{i} = {text}" for i, text in enumerate(ops))
    returned = ", ".join(f"%r{i}" for i in range(len(ops)))
    types = ", ".join([type_] * len(ops))
    module = ir.Module.parse(
        f"func.func @main(%0: {type_}, %1: {type_}) -> ({types}) {{\n{lines}\n"
        f"return {returned} : {types}\n}}",
        make_context(),
    )
    run_pipeline(module, [*pipelines.to_linalg(), *pipelines.to_llvm()])
    found = operations(module.operation)
    intrinsics = {op.name for op in found if op.name.startswith("llvm.intr.")}
    known = {f"llvm.intr.{name}" for name in ("fabs", "copysign", "fma", "sqrt", "umax")}
    assert intrinsics == known
    functions = [op for op in found if op.name == "llvm.func"]
    declared = [symbol_name(op) for op in functions if not len(op.regions[0].blocks)]
    assert set(declared) <= {"malloc", "free"}


REMARKS = """
import ctypes, sys
from pathlib import Path
from torch_mlir import _mlir_libs
from mlir_fp8.compiling import compilation
from mlir_fp8.compiling import execution

(library,) = Path(_mlir_libs.__file__).parent.glob("libTorchMLIRAggregateCAPI.*")
options = [b"test", b"-vectorize-slp=false", b"-pass-remarks=loop-vectorize"]
arguments = (ctypes.c_char_p * len(options))(*options)
ctypes.CDLL(str(library)).LLVMParseCommandLineOptions(len(options), arguments, None)
execution._set_llvm_options = lambda: None  # the options of LLVM are given once
compilation.compile(sys.argv[1])
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("op", ["exponential", "log", "tanh", "logistic", "power", "sine"])
def test_llvm_vectorizes(op: str) -> None:
    type_ = tensor([1024], "f32")
    arguments = [type_] * (2 if op == "power" else 1)
    text, _ = call(f"stablehlo.{op}", arguments, type_)
    signature = ", ".join(f"%{i}: {type_}" for i in range(len(arguments)))
    module = f"func.func @main({signature}) -> {type_} {{\n%r = {text}\nreturn %r : {type_}\n}}"
    child = subprocess.run(
        [sys.executable, "-c", REMARKS, module], capture_output=True, text=True, check=True
    )
    assert "vectorized loop" in child.stderr
