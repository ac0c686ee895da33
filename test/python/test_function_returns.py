"""Functions that end in `stablehlo.return`: called, in loops, as decompositions, no results."""

from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.tools.opt import main

PICK = """
func.func private @pick(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
  %0 = call @pick(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
"""
# 2a, then 2a more until that is 10 or above: of 1.5 it is 3, 6, 9, 12.
LOOP = """
func.func private @nothing(%a: tensor<f32>) { stablehlo.return }
func.func private @double(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %a : tensor<f32>
  stablehlo.return %0 : tensor<f32>
}
func.func private @less(%a: tensor<f32>) -> tensor<i1> {
  %c = stablehlo.constant dense<10.0> : tensor<f32>
  %0 = stablehlo.compare LT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  call @nothing(%a) : (tensor<f32>) -> ()
  %1 = stablehlo.composite "my.x" %a {decomposition = @double} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.while(%x = %1) : tensor<f32> cond {
    %p = func.call @less(%x) : (tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %y = stablehlo.add %x, %1 : tensor<f32>
    stablehlo.return %y : tensor<f32>
  }
  stablehlo.return %2 : tensor<f32>
}
"""
# Its calls give its results in another order: (a, 2a), then (2a, 4a).
TWO_RESULTS = """
func.func private @both(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.add %a, %a : tensor<f32>
  stablehlo.return %a, %0 : tensor<f32>, tensor<f32>
}
func.func @main(%a: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = call @both(%a) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %1:2 = call @both(%0#1) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  stablehlo.return %1#1, %0#0 : tensor<f32>, tensor<f32>
}
"""
TWO_BLOCKS = """
func.func private @jump(%a: tensor<f32>) -> tensor<f32> {
  cf.br ^end(%a : tensor<f32>)
^end(%x: tensor<f32>):
  stablehlo.return %x : tensor<f32>
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @jump(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""
MHLO = """
func.func private @double(%a: tensor<f32>) -> tensor<f32> {
  %0 = "mhlo.add"(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  "mhlo.return"(%0) : (tensor<f32>) -> ()
}
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = call @double(%a) : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
"""
PROGRAMS = {
    "pick": (PICK, (2.0, 1.0), (True,)),
    "loop": (LOOP, (1.5,), (12.0,)),
    "two results": (TWO_RESULTS, (1.0,), (4.0, 1.0)),
    "two blocks": (TWO_BLOCKS, (3.0,), (3.0,)),
    "mhlo": (MHLO, (1.5,), (3.0,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name: str) -> None:
    text, arguments, wanted = PROGRAMS[name]
    results = mlir_fp8.compile(text)(*map(np.float32, arguments))
    assert tuple(result.item() for result in results) == wanted


def test_module_that_others_parsed() -> None:
    module = ir.Module.parse(LOOP, make_context())
    assert mlir_fp8.compile(module)(np.float32(1.5))[0] == 12.0
    assert mlir_fp8.explain(module).rows == ()
    assert mlir_fp8.lint(module) == []
    assert "stablehlo.composite" in str(mlir_fp8.quantize(module).module)


def test_artifact() -> None:
    artifact = mlir_fp8.serialize(ir.Module.parse(TWO_RESULTS, make_context()))
    results = mlir_fp8.compile(artifact)(np.float32(1.0))
    assert [result.item() for result in results] == [4.0, 1.0]


def test_upstream_inliner(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pick.mlir"
    file.write_text(PICK)
    assert main([str(file), "--inline", "--symbol-dce"]) == 0
    text = capfd.readouterr().out
    assert "call" not in text
    assert "stablehlo.compare GT" in text


def test_wrong_number_of_results() -> None:
    text = "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  stablehlo.return\n}\n"
    with pytest.raises(mlir_fp8.Fp8Error, match=r"^<text>:2:3: 'func.return' op has 0 operands"):
        mlir_fp8.load(text)
