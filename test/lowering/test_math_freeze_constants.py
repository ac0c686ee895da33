"""`math-freeze-constants` on chains of ops longer than Python's stack."""

import sys

import pytest
from torch_mlir import ir

from mlir_fp8.context import make_context
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
