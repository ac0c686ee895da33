"""Dynamic shapes: refined from arguments and constants, or refused by name."""

import re
from pathlib import Path

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error
from mlir_fp8.tools import run

A = np.arange(12, dtype=np.float32).reshape(4, 3)
OPEN = """
func.func @main(%a: tensor<?x3xf32>, %b: tensor<?xf32>) -> (tensor<?x3xf32>, tensor<i32>) {
  %0 = call @half(%a) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "chlo.broadcast_add"(%0, %b) : (tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x3xf32>
  %2 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  return %1, %2 : tensor<?x3xf32>, tensor<i32>
}
func.func private @half(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %d = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %n = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %m = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.concatenate %n, %m, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %h = stablehlo.constant dense<0.5> : tensor<f32>
  %w = stablehlo.dynamic_broadcast_in_dim %h, %s, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = stablehlo.multiply %a, %w : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("entry", ["main", "other"])
def test_shapes_from_arguments(rows: int, entry: str) -> None:
    """By shape or by array, whatever the entry is called."""
    source = OPEN.replace("@main", f"@{entry}")
    compiled = mlir_fp8.compile(source, entry=entry, shapes=[(rows, 3), A[0]])
    assert [str(spec) for spec in compiled.arguments] == [f"tensor<{rows}x3xf32>", "tensor<3xf32>"]
    assert [str(spec) for spec in compiled.results] == [f"tensor<{rows}x3xf32>", "tensor<i32>"]
    total, size = compiled(A[:rows], A[0])
    np.testing.assert_array_equal(total, A[:rows] / 2 + A[0])
    assert size == rows


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            None,
            "argument 0 is tensor<?x3xf32>: give every dimension a size, or compile with shapes=",
        ),
        ([(4, 3)], "takes 2 arguments, 1 shapes were given"),
        ([(4, 2), (3,)], "argument 0 is tensor<?x3xf32>, not of the given shape [4, 2]"),
        ([(4, 3), (3, 1)], "argument 1 is tensor<?xf32>, not of the given shape [3, 1]"),
    ],
)
def test_shapes_that_do_not_fit(shapes: list[tuple[int, ...]] | None, message: str) -> None:
    with pytest.raises(Fp8Error, match=f"^-:2:1: 'func.func' {re.escape(message)}"):
        mlir_fp8.compile(OPEN, shapes=shapes)


HELPER = """
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %c3 = stablehlo.constant dense<3> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %a = call @times(%n, %c2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %b = call @times(%n, %c3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %s = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
  %t = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.dynamic_broadcast_in_dim %z, %s, dims = []
    : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %z, %t, dims = []
    : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = call @double(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = call @double(%1) : (tensor<?xf32>) -> tensor<?xf32>
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}
func.func private @times(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.multiply %a, %b : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @double(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_helpers_called_with_two_sizes_and_two_shapes(rows: int) -> None:
    """Compiled and interpreted."""
    x = np.zeros(rows, np.float32)
    module = mlir_fp8.load(HELPER.encode())
    for two, three in (mlir_fp8.compile(module, shapes=[x])(x), mlir_fp8.interpret(module, x)):
        assert two.tolist() == [2.0] * (2 * rows)
        assert three.tolist() == [2.0] * (3 * rows)


RESULT = """
func.func @main(%a: tensor<3xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3xf32>) -> tensor<i32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""


def test_results_alone_are_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their sizes follow from what is declared, for every engine and tool, without shapes."""
    module = mlir_fp8.load(RESULT.encode())
    for judge in (mlir_fp8.compile(module), lambda a: mlir_fp8.interpret(module, a)):
        assert judge(A[0])[0].tolist() == [0, 1, 2]
    assert mlir_fp8.compare(module, A[0], judges=("llvm", "interpreter")).is_good
    (tmp_path / "result.mlir").write_text(RESULT)
    assert run.main([str(tmp_path / "result.mlir"), "--random", "0"]) == 0
    assert "tensor<3xf32>" in capsys.readouterr().out
    size = "%n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<3xf32>) -> tensor<i32>"
    data = RESULT.replace(size, "").replace("%a: tensor<3xf32>", "%n: tensor<i32>")
    with pytest.raises(Fp8Error, match=r"^-:5:8: 'stablehlo.dynamic_iota' is of tensor<\?xf32>"):
        mlir_fp8.compile(data)


def test_shapes_that_contradict_the_module() -> None:
    with pytest.raises(
        Fp8Error, match=r"^-:4:8: 'chlo.broadcast_add' is of tensor<\?x3xf32>, whose"
    ):
        mlir_fp8.compile(OPEN, shapes=[(4, 3), (2,)])


def test_run_takes_sizes_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "open.mlir").write_text(OPEN)
    line = '"chlo.broadcast_add"(%0, %b) : (tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x3xf32>'
    (tmp_path / "half.mlir").write_text(OPEN.replace(line, "stablehlo.negate %0 : tensor<?x3xf32>"))
    np.savez(tmp_path / "in.npz", arg1=A[0], arg0=A)
    np.savez(tmp_path / "out.npz", res0=A / 2 + A[0], res1=np.int32(4))
    command = [str(tmp_path / "open.mlir"), "--args", str(tmp_path / "in.npz")]
    assert run.main([*command, "--expect", str(tmp_path / "out.npz")]) == 0
    assert "tensor<4x3xf32>" in capsys.readouterr().out
    assert run.main([str(tmp_path / "half.mlir"), *command[1:], "--compare=llvm,interpreter"]) == 0
    assert run.main([command[0], "--random", "0"]) == 1
    assert "give every dimension a size" in capsys.readouterr().err


STATIC = """
func.func @main(%a: tensor<4x3xf32>, %v: tensor<f32>) -> (tensor<3x4xf32>, tensor<5x4xf32>,
    tensor<4x3xf32>, tensor<2x5xi32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<1x2x1xf32>) {
  %s34 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
  %reshaped = stablehlo.dynamic_reshape %a, %s34
    : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  %s10 = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %s01 = stablehlo.constant dense<[0, 1]> : tensor<2xi64>
  %s00 = stablehlo.constant dense<0> : tensor<2xi64>
  %padded = stablehlo.dynamic_pad %a, %v, %s10, %s01, %s00 : (tensor<4x3xf32>, tensor<f32>,
    tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<5x4xf32>
  %s43 = stablehlo.constant dense<[4, 3]> : tensor<2xi64>
  %broadcast = stablehlo.dynamic_broadcast_in_dim %v, %s43, dims = []
    : (tensor<f32>, tensor<2xi64>) -> tensor<4x3xf32>
  %s25 = stablehlo.constant dense<[2, 5]> : tensor<2xi64>
  %counted = stablehlo.dynamic_iota %s25, dim = 1 : (tensor<2xi64>) -> tensor<2x5xi32>
  %s23 = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %s11 = stablehlo.constant dense<1> : tensor<2xi64>
  %sliced = stablehlo.real_dynamic_slice %a, %s01, %s23, %s11 : (tensor<4x3xf32>, tensor<2xi64>,
    tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>
  %rows = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi64>
  %s13 = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %gathered = "stablehlo.dynamic_gather"(%a, %rows, %s13) {dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
    : (tensor<4x3xf32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3xf32>
  %image = stablehlo.slice %a [0:1, 0:3] : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %lhs = stablehlo.reshape %image : (tensor<1x3xf32>) -> tensor<1x3x1xf32>
  %kernel = stablehlo.slice %a [1:2, 0:2] : (tensor<4x3xf32>) -> tensor<1x2xf32>
  %rhs = stablehlo.reshape %kernel : (tensor<1x2xf32>) -> tensor<2x1x1xf32>
  %none = stablehlo.constant dense<0> : tensor<1x2xi64>
  %filtered = "stablehlo.dynamic_conv"(%lhs, %rhs, %none) {
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, batch_group_count = 1 : i64}
    : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x2x1xf32>
  return %reshaped, %padded, %broadcast, %counted, %sliced, %gathered, %filtered
    : tensor<3x4xf32>, tensor<5x4xf32>, tensor<4x3xf32>, tensor<2x5xi32>, tensor<2x2xf32>,
      tensor<2x3xf32>, tensor<1x2x1xf32>
}
"""


def test_dynamic_ops_on_constants() -> None:
    reshaped, padded, broadcast, counted, sliced, gathered, filtered = mlir_fp8.compile(STATIC)(
        A, np.float32(7)
    )
    np.testing.assert_array_equal(reshaped, A.reshape(3, 4))
    np.testing.assert_array_equal(padded, np.pad(A, [(1, 0), (0, 1)], constant_values=7))
    np.testing.assert_array_equal(broadcast, np.full((4, 3), 7))
    np.testing.assert_array_equal(counted, [range(5)] * 2)
    np.testing.assert_array_equal(sliced, A[:2, 1:])
    np.testing.assert_array_equal(gathered, A[[3, 0]])
    np.testing.assert_array_equal(filtered.reshape(2), np.correlate(A[0], A[1, :2]))


def test_a_static_entry_with_open_sizes_inside() -> None:
    compiled = mlir_fp8.compile("""
      func.func @main(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
        %0 = stablehlo.convert %a : (tensor<4x3xf32>) -> tensor<?x?xf32>
        %1 = stablehlo.negate %0 : tensor<?x?xf32>
        %2 = stablehlo.convert %1 : (tensor<?x?xf32>) -> tensor<4x3xf32>
        return %2 : tensor<4x3xf32>
      }""")
    np.testing.assert_array_equal(compiled(A)[0], -A)


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("tensor<?xf32, #stablehlo.bounds<5>>", "only dense, unbounded tensors can be run"),
        ("tensor<*xf32>", "only ranked tensors"),
    ],
)
@pytest.mark.parametrize("shapes", [None, [(5,)]])
def test_bounded_and_unranked_arguments(
    type_: str, message: str, shapes: list[tuple[int]] | None
) -> None:
    source = f"func.func @main(%a: {type_}) {{\n  return\n}}"
    with pytest.raises(Fp8Error, match=rf"argument 0 is {re.escape(type_)}: {message}"):
        mlir_fp8.compile(source, shapes=shapes)
