"""The result of a `case` is not overwritten by its users, whichever buffer a branch yields."""

import numpy as np

import mlir_fp8

PROGRAM = """
func.func @main(%i: tensor<i32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = "stablehlo.case"(%i) ({
    %a = stablehlo.add %x, %y : tensor<2x2xf32>
    stablehlo.return %a : tensor<2x2xf32>
  }, {
    %a = stablehlo.multiply %x, %y : tensor<2x2xf32>
    stablehlo.return %a : tensor<2x2xf32>
  }, {
    stablehlo.return %x : tensor<2x2xf32>
  }) : (tensor<i32>) -> tensor<2x2xf32>
  %t = stablehlo.transpose %r, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %t : tensor<2x2xf32>
}
"""


def test_a_transpose_of_what_a_branch_gives() -> None:
    compiled = mlir_fp8.compile(PROGRAM)
    x = np.array([[1, 2], [3, 4]], np.float32)  # whose square is [[7, 10], [15, 22]]
    wanted = {
        0: [[8, 18], [12, 26]],
        1: [[7, 45], [20, 88]],
        2: [[1, 3], [2, 4]],
        -1: [[1, 3], [2, 4]],
        7: [[1, 3], [2, 4]],
    }
    assert {i: compiled(np.int32(i), x)[0].tolist() for i in wanted} == wanted


def test_every_branch_of_many_is_reached() -> None:
    branches = ", ".join(
        f"{{ %c = stablehlo.constant dense<{i}> : tensor<i32> stablehlo.return %c : tensor<i32> }}"
        for i in range(11)
    )
    compiled = mlir_fp8.compile(
        f"""func.func @main(%i: tensor<i32>) -> tensor<i32> {{
          %r = "stablehlo.case"(%i) ({branches}) : (tensor<i32>) -> tensor<i32>
          return %r : tensor<i32>
        }}"""
    )
    got = [int(compiled(np.int32(i))[0]) for i in (*range(13), -1, -(2**31), 2**31 - 1)]
    assert got == [*range(11), 10, 10, 10, 10, 10]
