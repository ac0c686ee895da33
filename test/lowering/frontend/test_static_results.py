"""Dynamic ops whose operands are data and whose result type has the sizes."""

from collections.abc import Sequence

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import Fp8Error

A = np.arange(12, dtype=np.float32).reshape(4, 3)


def _run(arguments: str, op: str, result: str, *arrays: np.ndarray) -> np.ndarray:
    source = f"""func.func @main({arguments}) -> {result} {{
      %0 = {op} -> {result}
      return %0 : {result}
    }}"""
    return mlir_fp8.compile(source)(*arrays)[0]


def _sizes(*numbers: int, dtype: str = "int64") -> np.ndarray:
    return np.array(numbers, dtype)


def test_a_size_that_data_tells_is_the_declared_one() -> None:
    """Whatever it is: the specification leaves the contradiction open."""
    for size in (8, 3):
        source = """func.func @main(%n: tensor<1xi64>) -> tensor<8xi32> {
          %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<8xi32>
          return %0 : tensor<8xi32>
        }"""
        np.testing.assert_array_equal(mlir_fp8.compile(source)(_sizes(size))[0], range(8))
    reshaped = _run(
        "%a: tensor<4x3xf32>, %s: tensor<2xi64>",
        "stablehlo.dynamic_reshape %a, %s : (tensor<4x3xf32>, tensor<2xi64>)",
        "tensor<2x6xf32>",
        A,
        _sizes(2, 6),
    )
    np.testing.assert_array_equal(reshaped, A.reshape(2, 6))
    broadcast = _run(
        "%a: tensor<3xf32>, %s: tensor<2xi64>",
        "stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>)",
        "tensor<2x3xf32>",
        A[1],
        _sizes(2, 3),
    )
    np.testing.assert_array_equal(broadcast, [A[1], A[1]])


@pytest.mark.parametrize("element", ["i64", "i32", "ui64", "i8"])
def test_real_dynamic_slice(element: str) -> None:
    """Of two rows and two columns, from anywhere, with any strides."""
    dtype = {"i64": "int64", "i32": "int32", "ui64": "uint64", "i8": "int8"}[element]
    operand = f"tensor<2x{element}>"
    source = f"""func.func @main(%a: tensor<4x3xf32>, %s: {operand}, %l: {operand}, %d: {operand})
        -> tensor<2x2xf32> {{
      %0 = stablehlo.real_dynamic_slice %a, %s, %l, %d
        : (tensor<4x3xf32>, {operand}, {operand}, {operand}) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }}"""
    compiled = mlir_fp8.compile(source)
    for (row, column), (down, across) in (
        ((1, 0), (1, 1)),
        ((0, 0), (3, 2)),
        ((1, 1), (2, 1)),
        ((2, 1), (1, 1)),
    ):
        limits = _sizes(row + down + 1, column + across + 1, dtype=dtype)
        given = [_sizes(row, column, dtype=dtype), limits, _sizes(down, across, dtype=dtype)]
        wanted = A[[row, row + down]][:, [column, column + across]]
        np.testing.assert_array_equal(compiled(A, *given)[0], wanted)


def test_a_slice_out_of_range_moves_inside() -> None:
    """As `dynamic_slice` does, whose start is clamped so that all of it is there."""
    source = """func.func @main(%a: tensor<4xi32>, %i: tensor<1xi64>) -> tensor<2xi32> {
      %one = stablehlo.constant dense<1> : tensor<1xi64>
      %two = stablehlo.constant dense<2> : tensor<1xi64>
      %end = stablehlo.add %i, %two : tensor<1xi64>
      %0 = stablehlo.real_dynamic_slice %a, %i, %end, %one
        : (tensor<4xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi32>
      return %0 : tensor<2xi32>
    }"""
    moved = source.replace("stablehlo.add %i, %two", "stablehlo.subtract %two, %i")
    a = np.array([5, 6, 7, 8], np.int32)
    for each in (source, moved):
        compiled = mlir_fp8.compile(each)
        for start, wanted in ((-2, [5, 6]), (1, [6, 7]), (2, [7, 8]), (3, [7, 8]), (99, [7, 8])):
            assert compiled(a, _sizes(start))[0].tolist() == wanted


PAD = """func.func @main(%a: tensor<4x3xf32>, %v: tensor<f32>, %l: tensor<2xi64>,
    %h: tensor<2xi64>, %i: tensor<2xi64>) -> tensor<9x6xf32> {
  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i : (tensor<4x3xf32>, tensor<f32>,
    tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<9x6xf32>
  return %0 : tensor<9x6xf32>
}"""


def _padded(low: Sequence[int], interior: Sequence[int]) -> np.ndarray:
    """Element by element, from the specification's formula."""
    result = np.full((9, 6), 7, np.float32)
    for (i, j), number in np.ndenumerate(A):
        row, column = low[0] + i * (interior[0] + 1), low[1] + j * (interior[1] + 1)
        if 0 <= row < 9 and 0 <= column < 6:
            result[row, column] = number
    return result


def test_dynamic_pad() -> None:
    compiled = mlir_fp8.compile(PAD)
    for low, high, interior in (
        ((1, 2), (4, 1), (0, 0)),
        ((-1, 0), (6, 1), (0, 1)),
        ((0, -1), (-1, 4), (2, 0)),
        ((2, 3), (-3, -2), (2, 1)),
    ):
        given = [_sizes(*each) for each in (low, high, interior)]
        (result,) = compiled(A, np.float32(7), *given)
        np.testing.assert_array_equal(result, _padded(low, interior))


def test_dynamic_pad_of_nothing() -> None:
    compiled = mlir_fp8.compile(PAD.replace("4x3", "0x3"))
    given = [_sizes(*each) for each in ((4, 1), (5, 2), (0, 0))]
    np.testing.assert_array_equal(compiled(A[:0], np.float32(7), *given)[0], np.full((9, 6), 7))


def test_dynamic_gather() -> None:
    """Slices of a row and two columns, the row left out."""
    numbers = (
        "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],"
        " start_index_map = [0, 1], index_vector_dim = 1>"
    )
    result = _run(
        "%a: tensor<4x3xf32>, %r: tensor<2x2xi64>, %s: tensor<2xi64>",
        f'"stablehlo.dynamic_gather"(%a, %r, %s) {{dimension_numbers = {numbers}}}'
        " : (tensor<4x3xf32>, tensor<2x2xi64>, tensor<2xi64>)",
        "tensor<2x2xf32>",
        A,
        np.array([[3, 1], [0, 0]]),
        _sizes(1, 2),
    )
    np.testing.assert_array_equal(result, [A[3, 1:3], A[0, :2]])


@pytest.mark.parametrize("padding", [(1, 1), (2, 0), (-1, 3)])
def test_dynamic_conv(padding: tuple[int, int]) -> None:
    """Strided, both sides dilated; from the padded and dilated sequence, element by element."""
    data, kernel = np.arange(1, 8, dtype=np.float32), np.array([2, 3, 5], np.float32)
    dilated = np.zeros(13, np.float32)
    dilated[::2] = data
    low, high = padding
    whole = np.pad(dilated[max(-low, 0) :], (max(low, 0), high))
    wanted = [sum(kernel * whole[i : i + 5 : 2]) for i in range(0, len(whole) - 4, 2)]
    attributes = (
        "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,"
        " feature_group_count = 1 : i64, batch_group_count = 1 : i64,"
        " window_strides = array<i64: 2>, lhs_dilation = array<i64: 2>,"
        " rhs_dilation = array<i64: 2>"
    )
    result = _run(
        "%a: tensor<1x7x1xf32>, %w: tensor<3x1x1xf32>, %p: tensor<1x2xi32>",
        f'"stablehlo.dynamic_conv"(%a, %w, %p) {{{attributes}}}'
        " : (tensor<1x7x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi32>)",
        f"tensor<1x{len(wanted)}x1xf32>",
        data.reshape(1, 7, 1),
        kernel.reshape(3, 1, 1),
        np.array([padding], np.int32),
    )
    assert result.ravel().tolist() == wanted


def test_set_dimension_size_to_a_constant() -> None:
    source = """func.func @main(%a: tensor<4x3xf32>) -> tensor<2x3xf32> {
      %n = stablehlo.constant dense<2> : tensor<i32>
      %0 = stablehlo.set_dimension_size %a, %n, dim = 0
        : (tensor<4x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }"""
    np.testing.assert_array_equal(mlir_fp8.compile(source)(A)[0], A[:2])
    with pytest.raises(Fp8Error, match=r"'stablehlo\.set_dimension_size' of 1 elements has"):
        mlir_fp8.compile(source.replace("dense<2>", "dense<1>"))


def test_a_slice_of_more_than_there_is() -> None:
    operand = "tensor<1xi64>"
    with pytest.raises(Fp8Error, match=r"'stablehlo\.real_dynamic_slice' takes 5 of 4 elements"):
        mlir_fp8.compile(f"""func.func @main(%a: tensor<4xi32>, %s: {operand}) -> tensor<5xi32> {{
          %0 = stablehlo.real_dynamic_slice %a, %s, %s, %s
            : (tensor<4xi32>, {operand}, {operand}, {operand}) -> tensor<5xi32>
          return %0 : tensor<5xi32>
        }}""")
