"""Which function `mlir_fp8.compile` takes, and what it refuses by name and place."""

import re
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error

FUNCTIONS = """\
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = func.call @helper(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @helper(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %a : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @declared(%a: tensor<f32>) -> tensor<f32>
func.func @calls_declared(%a: tensor<f32>) -> tensor<f32> {
  %0 = func.call @declared(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @cannot_be_compiled(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.mark.parametrize("entry", ["main", "helper"])
def test_entry(entry: str) -> None:
    """Other functions need not be compilable; a private one can be the entry."""
    compiled = mlir_fp8.compile(FUNCTIONS, entry=entry)
    assert compiled(np.float32(2))[0] == -2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "other",
            "there is no function 'other' to compile "
            "(functions: main, helper, declared, calls_declared, cannot_be_compiled)",
        ),
        ("declared", "-:9:1: 'func.func' 'declared' is only declared: it has no body to compile"),
        (
            "calls_declared",
            "-:9:1: 'func.func' 'declared' is called, but only declared: give it a body",
        ),
        (
            "cannot_be_compiled",
            "-:14:1: 'func.func' argument 0 is tensor<?xf32>: give every dimension a size, "
            "or compile with shapes= (fp8-run: --args)",
        ),
    ],
)
def test_refused_entry(entry: str, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"^{re.escape(message)}$"):
        mlir_fp8.compile(FUNCTIONS, entry=entry)


@pytest.mark.parametrize("name", ["malloc", "free", "expf", "loops_0", "fp8.main", "a b\u00e9"])
def test_names_of_the_c_library_and_of_the_compiler(name: str) -> None:
    """A function is not taken for what its code calls: `expf` calls the C library's expf."""
    source = (
        f'func.func @"{name}"(%a: tensor<4xf32>) -> tensor<4xf32> {{\n'
        f'  %0 = func.call @"{name}.inner"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "  %1 = stablehlo.dot_general %0, %0, contracting_dims = [] x [] "
        ": (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>\n"
        "  %2 = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [1] "
        ": (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
        "  return %3 : tensor<4xf32>\n}\n"
        f'func.func @"{name}.inner"(%a: tensor<4xf32>) -> tensor<4xf32> {{\n'
        "  %0 = stablehlo.exponential %a : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    (result,) = mlir_fp8.compile(source, entry=name)(np.zeros(4, np.float32))
    assert result.tolist() == [4, 4, 4, 4]


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("tensor<?xf32>", "argument 0 is tensor<?xf32>: give every dimension a size"),
        ("tensor<*xf32>", "argument 0 is tensor<*xf32>: only ranked tensors can be run"),
        ("f32", "argument 0 is f32: only ranked tensors can be run"),
        ("memref<2xf32>", "argument 0 is memref<2xf32>: only ranked tensors can be run"),
        ("tuple<tensor<f32>, f32>", "argument 1 is f32: only ranked tensors can be run"),
        ("tensor<2xi3>", "argument 0: element type i3 has no numpy dtype"),
        ("tensor<2xindex>", "argument 0: element type index has no numpy dtype"),
        ("tensor<2x!quant.any<i8:f32>>", "argument 0: element type !quant.any<i8:f32> has no"),
        ("tensor<2xf32, 5 : i32>", "argument 0 is tensor<2xf32, 5 : i32>: only dense, unbounded"),
    ],
)
def test_refused_signatures(type_: str, message: str) -> None:
    source = f"func.func @main(%a: {type_}) {{\n  return\n}}\n"
    with pytest.raises(Fp8Error, match=f"^-:1:1: 'func.func' {re.escape(message)}"):
        mlir_fp8.compile(source)


def test_refused_result() -> None:
    source = (
        "func.func @main(%a: tensor<f32>) -> (tensor<f32>, f32) {\n"
        "  %0 = arith.constant 1.0 : f32\n"
        "  return %a, %0 : tensor<f32>, f32\n}"
    )
    with pytest.raises(Fp8Error, match=r"'func.func' result 1 is f32: only ranked"):
        mlir_fp8.compile(source)


def test_unsupported_op_is_named(tmp_path: Path) -> None:
    file = tmp_path / "model.mlir"
    file.write_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.negate %a : tensor<2xf32>\n"
        "  %1 = stablehlo.custom_call @unknown(%0) : (tensor<2xf32>) -> tensor<2xf32>\n"
        "  return %1 : tensor<2xf32>\n}\n"
    )
    place = re.escape(f"{file}:3:8")
    with pytest.raises(Fp8Error, match=f"^{place}: 'stablehlo.custom_call' calls 'unknown'"):
        mlir_fp8.compile(file)


@pytest.mark.parametrize("source", ["module {\n}", "llvm.func @main() {\n  llvm.return\n}"])
def test_no_functions(source: str) -> None:
    with pytest.raises(Fp8Error, match=r"^there is no function 'main' .*\(functions: none\)$"):
        mlir_fp8.compile(source)
