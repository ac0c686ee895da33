"""`bf16-functions-to-math`: every bf16 number gives what the exact result rounds to."""

import math

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

NUMBERS = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
TYPE = "tensor<65536xbf16>"
EXACT = {
    "chlo.erf %x : {t} -> {t}": np.vectorize(math.erf),
    "stablehlo.exponential %x : {t}": np.exp,
    "stablehlo.logistic %x : {t}": lambda x: np.where(
        x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x))
    ),
    "stablehlo.tanh %x : {t}": np.tanh,
}


def _rounded(exact: np.ndarray) -> np.ndarray:
    """f64 to bf16, by way of f32: what comes to a tie there stays on its side of it."""
    with np.errstate(all="ignore"):
        single = exact.astype(np.float32)
        there = np.where(exact > single, np.inf, -np.inf).astype(np.float32)
        is_tie = single.view(np.uint32) & 0xFFFF == 0x8000
        moved = np.where(is_tie & (single != exact), np.nextafter(single, there), single)
    return moved.astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("op", EXACT)
def test_every_number(op: str) -> None:
    body = f"%y = {op.format(t=TYPE)}\nreturn %y : {TYPE}\n"
    (got,) = mlir_fp8.compile(f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n{body}}}")(NUMBERS)
    with np.errstate(all="ignore"):
        exact = EXACT[op](NUMBERS.astype(np.float64))
    expected = _rounded(exact)
    is_nan = np.isnan(exact)
    assert np.array_equal(np.isnan(got.astype(np.float32)), is_nan)
    assert np.array_equal(got.view(np.uint16)[~is_nan], expected.view(np.uint16)[~is_nan])
