"""State that a module takes: what the compiler wrote is read, and anything else is refused."""

import numpy as np
import pytest

import mlir_fp8

STATE = 'mlir_fp8.state = "a.scale"'
INITIAL = "mlir_fp8.initial_value = 1.0 : f32"
WHOLE = f"{{{STATE}, {INITIAL}}}"


def program(argument: str, result: str = f"{{{STATE}}}", type_: str = "tensor<f32>") -> str:
    return f"""
    func.func @main(%x: tensor<4x4xf32>, %s: {type_} {argument})
        -> (tensor<4x4xf32>, {type_} {result}) {{
      %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0, %s : tensor<4x4xf32>, {type_}
    }}"""


def test_a_state_of_before_is_kept() -> None:
    made = mlir_fp8.quantize(program(WHOLE))
    assert list(made.state) == ["a.scale", "dot0.lhs.scale", "dot0.lhs.amax_history"]
    assert made.state["a.scale"] == 1


@pytest.mark.parametrize(
    "text",
    [
        program(f"{{{STATE}}}"),
        program(f"{{mlir_fp8.state = 3, {INITIAL}}}", "{mlir_fp8.state = 3}"),
        program(f"{{{STATE}, mlir_fp8.initial_value = 1 : i32}}"),
        program(WHOLE, ""),
        program("", f"{{{STATE}}}"),
        program(WHOLE, '{mlir_fp8.state = "b.scale"}'),
        program(WHOLE, type_="tensor<3xi32>"),
        program(WHOLE, type_="tensor<?xf32>"),
        program(WHOLE, type_="tuple<tensor<f32>>"),
        program(WHOLE).replace("%x: tensor<4x4xf32>", f"%x: tensor<4x4xf32> {WHOLE}"),
        program(WHOLE).replace(f"{WHOLE})", f"{WHOLE}, %y: tensor<f32>)"),
        program(WHOLE).replace("-> (tensor<4x4xf32>,", f"-> (tensor<4x4xf32> {{{STATE}}},"),
    ],
)
def test_what_is_no_state_is_refused(text: str) -> None:
    message = r"'func.func' has mlir_fp8.state on arguments and results that are no state of this"
    with pytest.raises(mlir_fp8.Fp8Error, match=message):
        mlir_fp8.quantize(text)


TUPLES = """
func.func @step(%t: tuple<tensor<4x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>)
    -> (tuple<tensor<4x4xf32>, tensor<i32>>, tensor<4x4xf32>) {
  %x = stablehlo.get_tuple_element %t[0]
    : (tuple<tensor<4x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>) -> tensor<4x4xf32>
  %u = stablehlo.get_tuple_element %t[1]
    : (tuple<tensor<4x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>)
      -> tuple<tensor<4x4xf32>, tensor<i32>>
  %w = stablehlo.get_tuple_element %u[0]
    : (tuple<tensor<4x4xf32>, tensor<i32>>) -> tensor<4x4xf32>
  %i = stablehlo.get_tuple_element %u[1] : (tuple<tensor<4x4xf32>, tensor<i32>>) -> tensor<i32>
  %0 = stablehlo.dot %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.tuple %0, %i : tuple<tensor<4x4xf32>, tensor<i32>>
  return %1, %x : tuple<tensor<4x4xf32>, tensor<i32>>, tensor<4x4xf32>
}"""


def test_state_comes_after_tuples() -> None:
    made = mlir_fp8.quantize(TUPLES, entry="step")
    step = mlir_fp8.compile(made.module, entry="step")
    x = np.eye(4, dtype=np.float32)
    w = np.arange(16, dtype=np.float32).reshape(4, 4)
    (y, i, same), state = made.split(step(x, w, np.int32(7), *made.state.values()))
    np.testing.assert_array_equal(y, w)  # up to 15, which f8E4M3FN holds, at scale 1
    np.testing.assert_array_equal(same, x)
    assert i == 7
    assert list(state) == list(made.state)
    assert state["dot0.rhs.amax_history"][0] == 15
