"""Functions of f8 from a table give the bits of those computed per element."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.dialects.float_formats import SMALL_FLOATS, FloatFormat
from mlir_fp8.passes.pass_pipeline import run_pipeline

CODES, MANY = 256, 1 << 15


def program(count: int, name: str, result: str) -> str:
    """tanh(x0 * scale) rounded to `result`, a product of exp(x1) with an array, logistic(x2)."""
    x, wide, out = (f"tensor<{count}x{each}>" for each in (name, "f32", result))
    return f"""
func.func @main(%x0: {x}, %x1: {x}, %x2: {x}, %s: tensor<f32>, %y: {wide})
    -> ({out}, {wide}, {x}) {{
  %0 = stablehlo.convert %x0 : ({x}) -> {wide}
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> {wide}
  %2 = stablehlo.multiply %0, %1 : {wide}
  %3 = stablehlo.tanh %2 : {wide}
  %4 = stablehlo.convert %3 : ({wide}) -> {out}
  %5 = stablehlo.convert %x1 : ({x}) -> {wide}
  %6 = stablehlo.exponential %5 : {wide}
  %7 = stablehlo.multiply %6, %y : {wide}
  %8 = stablehlo.logistic %x2 : {x}
  return %4, %7, %8 : {out}, {wide}, {x}
}}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fmt", SMALL_FLOATS.values(), ids=SMALL_FLOATS)
def test_tables_hold_what_is_computed(fmt: FloatFormat) -> None:
    result = "bf16" if fmt.name == "f8E4M3FN" else fmt.name
    codes = np.arange(CODES, dtype=np.uint8) & ((1 << fmt.bits) - 1)
    x, y = codes.view(fmt.dtype), np.linspace(-2, 2, CODES, dtype=np.float32)
    wanted = mlir_fp8.compile(program(CODES, fmt.name, result))(x, x, x, 0.75, y)
    repeats = MANY // CODES
    module = mlir_fp8.compile(program(MANY, fmt.name, result))
    got = module(*[np.tile(x, repeats)] * 3, 0.75, np.tile(y, repeats))
    for one, want in zip(got, wanted, strict=True):
        assert one.tobytes() == np.tile(want, repeats).tobytes()


def test_f8_functions_are_tabulated_as_they_come() -> None:
    module = mlir_fp8.load(program(MANY, "f8E5M2", "f8E5M2"))
    road = [*pipelines.to_linalg(), *pipelines.to_llvm()]
    run_pipeline(module, road[: road.index("linalg-tabulate-functions") + 1])
    text = str(module)
    assert text.count("outs(%alloca") == 3  # f8 codes twice, in one buffer
    assert text.count("memref.alloca() : memref<256x") == 2
