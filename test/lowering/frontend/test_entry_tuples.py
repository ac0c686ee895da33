"""Tuples and tokens as arguments and results of the entry: arrays in order, and nothing."""

import ml_dtypes
import numpy as np

import mlir_fp8

A = np.array([1, -2], np.float32)
CODES = np.array([3], np.float32).astype(ml_dtypes.float8_e4m3fn)


def test_nested_tuples_are_flat_for_the_caller() -> None:
    compiled = mlir_fp8.compile("""
      !inner = tuple<tensor<i32>, tensor<1xf8E4M3FN>>
      !outer = tuple<tensor<2xf32>, !inner, tuple<>>
      func.func @main(%a: !outer, %t: !stablehlo.token, %b: tensor<2xf32>)
          -> (!stablehlo.token, !outer, tensor<2xf32>) {
        %0 = call @swap(%a, %b) : (!outer, tensor<2xf32>) -> !outer
        %1 = stablehlo.get_tuple_element %0[0] : (!outer) -> tensor<2xf32>
        return %t, %0, %1 : !stablehlo.token, !outer, tensor<2xf32>
      }
      func.func private @swap(%a: !outer, %b: tensor<2xf32>) -> !outer {
        %0 = stablehlo.get_tuple_element %a[1] : (!outer) -> !inner
        %1 = stablehlo.get_tuple_element %0[1] : (!inner) -> tensor<1xf8E4M3FN>
        %2 = stablehlo.constant dense<7> : tensor<i32>
        %3 = stablehlo.add %1, %1 : tensor<1xf8E4M3FN>
        %4 = stablehlo.tuple %2, %3 : !inner
        %5 = stablehlo.get_tuple_element %a[2] : (!outer) -> tuple<>
        %6 = stablehlo.tuple %b, %4, %5 : !outer
        return %6 : !outer
      }""")
    assert [str(spec) for spec in compiled.arguments] == [
        "tensor<2xf32>", "tensor<i32>", "tensor<1xf8E4M3FN>", "tensor<2xf32>",
    ]  # fmt: skip
    first, number, code, last = compiled(A, np.int32(0), CODES, -A)
    np.testing.assert_array_equal(first, -A)
    np.testing.assert_array_equal(last, -A)
    assert number == 7
    assert code.astype(np.float32).tolist() == [6]


def test_a_tuple_through_a_branch_and_a_loop() -> None:
    compiled = mlir_fp8.compile("""
      !pair = tuple<tensor<2xf32>, tensor<i32>>
      func.func @main(%a: !pair, %p: tensor<i1>) -> !pair {
        %x = stablehlo.get_tuple_element %a[0] : (!pair) -> tensor<2xf32>
        %n = stablehlo.get_tuple_element %a[1] : (!pair) -> tensor<i32>
        %y = "stablehlo.if"(%p) ({
          %0 = stablehlo.negate %x : tensor<2xf32>
          stablehlo.return %0 : tensor<2xf32>
        }, {
          stablehlo.return %x : tensor<2xf32>
        }) : (tensor<i1>) -> tensor<2xf32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.while(%i = %n, %z = %y) : tensor<i32>, tensor<2xf32>
        cond {
          %q = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %q : tensor<i1>
        } do {
          %j = stablehlo.subtract %i, %one : tensor<i32>
          %w = stablehlo.add %z, %z : tensor<2xf32>
          stablehlo.return %j, %w : tensor<i32>, tensor<2xf32>
        }
        %t = stablehlo.tuple %r#1, %r#0 : !pair
        return %t : !pair
      }""")
    result, count = compiled(A, np.int32(3), np.True_)
    np.testing.assert_array_equal(result, -8 * A)
    assert count == 0


def test_a_token_alone() -> None:
    compiled = mlir_fp8.compile("""
      func.func @main(%t: !stablehlo.token) -> !stablehlo.token {
        %0 = stablehlo.after_all %t, %t : !stablehlo.token
        return %0 : !stablehlo.token
      }""")
    assert compiled() == ()
