"""Compiled ops on narrow floats and the codes that they should give."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

import mlir_fp8
from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.dialects.float_reference import decode, encode


def tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def compile_ops(
    arguments: Sequence[str], ops: Sequence[tuple[str, str]], before: str = ""
) -> mlir_fp8.CompiledModule:
    """`arguments` are the types of %0, %1, ...; `ops` are texts with their result types."""
    signature = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(arguments))
    results = ", ".join(type_ for _, type_ in ops)
    lines = [f"  %r{i} = {text}" for i, (text, _) in enumerate(ops)]
    returned = ", ".join(f"%r{i}" for i in range(len(ops)))
    return mlir_fp8.compile(
        f"func.func @main({signature}) -> ({results}) {{\n{before}\n"
        + "\n".join(lines)
        + f"\n  return {returned} : {results}\n}}\n"
    )


def call(name: str, arguments: Sequence[str], result: str, attributes: str = "") -> tuple[str, str]:
    names = ", ".join(f"%{i}" for i in range(len(arguments)))
    types = ", ".join(arguments)
    return f'"{name}"({names}) {attributes} : ({types}) -> {result}', result


def code_dtype(fmt: FloatFormat) -> np.dtype:
    return np.dtype(f"uint{fmt.storage_bits}")


@cache
def numbers(fmt: FloatFormat) -> np.ndarray:
    """The float64 values of all codes."""
    return np.array([float(decode(fmt, code)) for code in range(1 << fmt.bits)])


@cache
def rounded(fmt: FloatFormat, number: Fraction | float) -> int:
    return encode(fmt, number)


def nearest(fmt: FloatFormat, values: np.ndarray) -> np.ndarray:
    """The codes nearest to float64 values, in one rounding."""
    distinct, where = np.unique(values.view(np.int64), return_inverse=True)
    codes = [encode(fmt, float(value)) for value in distinct.view(np.float64)]
    return np.array(codes, code_dtype(fmt))[where]


def through_f32(fmt: FloatFormat, values: np.ndarray) -> np.ndarray:
    return nearest(fmt, values.astype(np.float32).astype(np.float64))


def assert_codes(
    fmt: FloatFormat, got: np.ndarray, want: np.ndarray, values: np.ndarray | None = None
) -> None:
    """Equal codes, any NaN for NaN; `values` are the float64 results, where a NaN of theirs may
    have any sign and so become either zero of a format without NaN."""
    got = got.view(code_dtype(fmt))
    assert got.dtype == want.dtype
    alike = got == want
    alike |= np.isnan(numbers(fmt)[got]) & np.isnan(numbers(fmt)[want])
    if values is not None and not fmt.has_nan:
        alike |= np.isnan(values) & (numbers(fmt)[got] == 0)
    bad = np.flatnonzero(~alike)
    assert not bad.size, f"{fmt.name}: {bad.size} wrong: {[(i, got[i], want[i]) for i in bad[:5]]}"
