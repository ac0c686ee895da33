"""What breaks a constraint of the specification is refused with it, its op and its place."""

import re

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error

ADD = """({
  ^bb0(%x: tensor<$T>, %y: tensor<$T>):
    %s = stablehlo.add %x, %y : tensor<$T>
    stablehlo.return %s : tensor<$T>
})"""


def _compare(element: str, kind: str) -> str:
    t = f"tensor<4x{element}>"
    return f"""func.func @main(%a: {t}) -> tensor<4xi1> {{
      %0 = stablehlo.compare EQ, %a, %a, {kind} : ({t}, {t}) -> tensor<4xi1>
      return %0 : tensor<4xi1>
    }}"""


def _reduce(element: str, init: str, body: str) -> str:
    return f"""func.func @main(%a: tensor<4x{element}>, %i: tensor<{init}>) -> tensor<{body}> {{
      %0 = "stablehlo.reduce"(%a, %i) {ADD.replace("$T", body)} {{dimensions = array<i64: 0>}}
        : (tensor<4x{element}>, tensor<{init}>) -> tensor<{body}>
      return %0 : tensor<{body}>
    }}"""


WINDOW = f"""func.func @main(%a: tensor<4xf32>, %i: tensor<f64>) -> tensor<3xf32> {{
  %0 = "stablehlo.reduce_window"(%a, %i) {ADD.replace("$T", "f32")}
    {{window_dimensions = array<i64: 2>}} : (tensor<4xf32>, tensor<f64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""
SCATTER = f"""func.func @main(%a: tensor<4xf32>, %i: tensor<1x1xi32>, %u: tensor<1xf64>)
    -> tensor<4xf32> {{
  %0 = "stablehlo.scatter"(%a, %i, %u) {ADD.replace("$T", "f32")} {{scatter_dimension_numbers =
    #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    index_vector_dim = 1>}} : (tensor<4xf32>, tensor<1x1xi32>, tensor<1xf64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
SELECT = f"""func.func @main(%a: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f64>)
    -> tensor<4xf32> {{
  %0 = "stablehlo.select_and_scatter"(%a, %u, %i) ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }}, {ADD.replace("$T", "f32")[1:-1]}) {{window_dimensions = array<i64: 2>,
    window_strides = array<i64: 2>}} : (tensor<4xf32>, tensor<2xf32>, tensor<f64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
FFT = """func.func @main(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = IFFT, length = [3]
    : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}"""


def _index_select(dim: int, batch: int, result: str) -> str:
    return f"""func.func @main(%a: tensor<5x3xf32>, %i: tensor<2xi32>) -> {result} {{
      %0 = "stablehlo.torch_index_select"(%a, %i) {{dim = {dim} : i64, batch_dims = {batch} : i64}}
        : (tensor<5x3xf32>, tensor<2xi32>) -> {result}
      return %0 : {result}
    }}"""


CALL = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%a: tensor<5xf32>) -> tensor<4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""

BROKEN = [
    (_compare("i8", "FLOAT"), "compare' of i8 takes compare_type SIGNED, not FLOAT (C3)"),
    (_compare("i8", "UNSIGNED"), "compare' of i8 takes compare_type SIGNED, not UNSIGNED (C3)"),
    (_compare("ui8", "SIGNED"), "compare' of ui8 takes compare_type UNSIGNED, not SIGNED (C3)"),
    (_compare("i1", "SIGNED"), "compare' of i1 takes compare_type UNSIGNED, not SIGNED (C3)"),
    (_compare("f32", "SIGNED"), "takes compare_type FLOAT or TOTALORDER, not SIGNED (C3)"),
    (_compare("complex<f32>", "TOTALORDER"), "takes compare_type FLOAT, not TOTALORDER (C3)"),
    (_reduce("f32", "f64", "f64"), "reduce' has inputs of f32 and init_values of f64"),
    (_reduce("f32", "f32", "bf16"), "inputs of f32, which cannot be promoted to the body's bf16"),
    (WINDOW, "reduce_window' has inputs of f32 and init_values of f64"),
    (SCATTER, "scatter' has inputs of f32 and updates of f64"),
    (SELECT, "select_and_scatter' has operands of f32, f32, f64"),
    (FFT, "fft' of type IFFT has fft_length [3], not the operand's last sizes [4]"),
    (_index_select(2, 0, "tensor<2x3xf32>"), "torch_index_select' has dim 2 and batch_dims 0"),
    (_index_select(0, 1, "tensor<2x3xf32>"), "torch_index_select' has dim 0 and batch_dims 1"),
    (_index_select(0, 0, "tensor<4x3xf32>"), "which have the shape [2, 3]"),
    (CALL, "operand type mismatch: expected operand type 'tensor<5xf32>'"),
]


@pytest.mark.parametrize(("source", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_broken_constraint(source: str, message: str) -> None:
    with pytest.raises(Fp8Error, match=rf"^\S+:\d+:\d+: .*{re.escape(message)}"):
        mlir_fp8.compile(source)


@pytest.mark.parametrize(
    ("element", "kind"),
    [("i8", "SIGNED"), ("ui8", "UNSIGNED"), ("i1", "UNSIGNED"), ("f32", "TOTALORDER"),
     ("complex<f32>", "FLOAT"), ("f8E4M3FN", "FLOAT"), ("i8", "NOTYPE")],
)  # fmt: skip
def test_kept_constraint(element: str, kind: str) -> None:
    compiled = mlir_fp8.compile(_compare(element, kind))
    array = np.zeros(4, np.int8).astype(compiled.arguments[0].dtype)
    assert compiled(array)[0].tolist() == [True] * 4
