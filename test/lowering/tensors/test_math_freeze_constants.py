"""Functions of constants: `math-freeze-constants`, and what keeps them from folders before it."""

import sys

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.passes.pass_pipeline import run_pipeline


@pytest.mark.parametrize(("start", "frozen"), [("%x", 0), ("%one", 1)])
def test_chains_of_any_length_are_followed(start: str, frozen: int) -> None:
    length = sys.getrecursionlimit()
    chain = "\n".join(f"%v{i + 1} = arith.mulf %v{i}, %one : f32" for i in range(length))
    text = f"""
func.func @main(%x: f32) -> f32 {{
  %one = arith.constant 1.0 : f32
  %v0 = arith.addf {start}, %one : f32
  {chain}
  %0 = math.exp %v{length} : f32
  return %0 : f32
}}"""
    module = ir.Module.parse(text, make_context())
    run_pipeline(module, ["math-freeze-constants"])
    assert str(module).count("llvm.freeze") == frozen


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_functions_of_constants_are_those_of_arguments(element: str) -> None:
    type_ = f"tensor<7x{element}>"
    chlo = "acos acosh asin asinh atan atanh cosh erf erfc sinh tan lgamma digamma erf_inv"
    ops = [f"chlo.{name} %a : {type_} -> {type_}" for name in chlo.split()]
    for name in ("exponential", "logistic", "tanh", "log", "sine", "cbrt"):
        ops.append(f"stablehlo.{name} %a : {type_}")
    body = "\n".join(f"%{i} = {op}" for i, op in enumerate(ops))
    types = ", ".join([type_] * len(ops))
    returned = f"return {', '.join(f'%{i}' for i in range(len(ops)))} : {types}"
    numbers = np.array([0.5, 1.0, 2.0, -0.7, 3.3, 1e-3, -0.0])
    constant = f"%a = stablehlo.constant dense<{numbers.tolist()}> : {type_}"
    of_constants = f"func.func @main() -> ({types}) {{\n{constant}\n{body}\n{returned}\n}}"
    of_arguments = f"func.func @main(%a: {type_}) -> ({types}) {{\n{body}\n{returned}\n}}"
    compiled = mlir_fp8.compile(of_arguments)
    wanted = compiled(numbers.astype(compiled.arguments[0].dtype))
    for op, got, expected in zip(ops, mlir_fp8.compile(of_constants)(), wanted, strict=True):
        # Of bf16, numpy takes NaNs for different.
        np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64), op)
