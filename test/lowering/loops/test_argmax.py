"""Argmax and argmin as JAX writes them: the first of equals, NaN before all numbers."""

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.passes.pass_pipeline import run_pipeline

ROWS = 64


def program(columns: int, element: str, better: str, number: float, place: int) -> str:
    """With `number` and `place` as what the reduction starts from."""
    operand, scalar = f"tensor<{ROWS}x{columns}x{element}>", f"tensor<{element}>"
    counts = f"tensor<{ROWS}x{columns}xi32>"
    results = f"(tensor<{ROWS}x{element}>, tensor<{ROWS}xi32>)"
    one, two, truth = f"({scalar}, {scalar})", "(tensor<i32>, tensor<i32>)", "tensor<i1>"
    code = np.array(number, element.replace("f", "float")).tobytes()[::-1].hex()
    return f"""
func.func @main(%x: {operand}) -> tensor<{ROWS}xi32> {{
  %i = stablehlo.iota dim = 1 : {counts}
  %n = stablehlo.constant dense<0x{code}> : {scalar}
  %p = stablehlo.constant dense<{place}> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %n), (%i init: %p) across dimensions = [1]
      : ({operand}, {counts}, {scalar}, tensor<i32>) -> {results}
    reducer(%a: {scalar}, %b: {scalar}) (%k: tensor<i32>, %l: tensor<i32>) {{
      %0 = stablehlo.compare {better}, %a, %b, FLOAT : {one} -> {truth}
      %1 = stablehlo.compare NE, %a, %a, FLOAT : {one} -> {truth}
      %2 = stablehlo.or %0, %1 : {truth}
      %3 = stablehlo.compare EQ, %a, %b, FLOAT : {one} -> {truth}
      %4 = stablehlo.compare LT, %k, %l, SIGNED : {two} -> {truth}
      %5 = stablehlo.and %3, %4 : {truth}
      %6 = stablehlo.or %2, %5 : {truth}
      %7 = stablehlo.select %2, %a, %b : {truth}, {scalar}
      %8 = stablehlo.select %6, %k, %l : {truth}, tensor<i32>
      stablehlo.return %7, %8 : {scalar}, tensor<i32>
    }}
  return %r#1 : tensor<{ROWS}xi32>
}}"""


def expected(x: np.ndarray, better: str, number: float, place: int) -> int:
    """A sequential fold with the body."""
    for index, candidate in enumerate(x):
        keeps = number > candidate if better == "GT" else number < candidate
        keeps = keeps or number != number
        if not (keeps or (number == candidate and place < index)):
            place = index
        number = number if keeps else candidate
    return place


def rows(columns: int, dtype: str) -> np.ndarray:
    """Random numbers, many equal ones, zeros of both signs, NaNs, and infinities alone."""
    rng = np.random.default_rng(columns)
    x = rng.standard_normal((ROWS, columns))
    x[8:24] = np.round(x[8:24] * 2)
    x[24:32] = np.copysign(0, x[24:32])
    x[32:48][rng.random((16, columns)) < 0.1] = np.nan
    x[48:50], x[50:52], x[52] = np.inf, -np.inf, np.nan
    return x.astype(dtype)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("better", ["GT", "LT"])
@pytest.mark.parametrize(
    ("columns", "element"), [(512, "f32"), (53, "f64"), (16, "f16"), (31, "f32"), (15, "f32")]
)
@pytest.mark.parametrize("start", ["first", "equal", "nan"])
def test_first_of_the_best(columns: int, element: str, better: str, start: str) -> None:
    worst = -np.inf if better == "GT" else np.inf
    number, place = {"first": (worst, 0), "equal": (1.0, 7), "nan": (np.nan, 7)}[start]
    x = rows(columns, element.replace("f", "float"))
    (got,) = mlir_fp8.compile(program(columns, element, better, number, place))(x)
    want = [expected(row, better, number, place) for row in x]
    np.testing.assert_array_equal(got, want)


def test_taken_by_vectors_as_it_comes() -> None:
    module = mlir_fp8.load(program(512, "f32", "GT", -np.inf, 0))
    road = [*pipelines.to_linalg(), *pipelines.to_llvm()]
    run_pipeline(module, road[: road.index("linalg-vectorize-argmax") + 1])
    assert "-> (vector<16xf32>, vector<16xi32>)" in str(module)


def test_over_two_dimensions() -> None:
    text = program(512, "f32", "GT", -np.inf, 0).replace("dimensions = [1]", "dimensions = [0, 1]")
    text = text.replace(f"tensor<{ROWS}xf32>", "tensor<f32>").replace(
        f"tensor<{ROWS}xi32>", "tensor<i32>"
    )
    x = np.zeros((ROWS, 512), np.float32)
    x[0, 7], x[1, 3] = 5, 1
    (got,) = mlir_fp8.compile(text)(x)
    assert got == 7


def test_indices_that_wrap() -> None:
    x = np.zeros((ROWS, 512), np.float32)
    text = program(512, "f32", "GT", -np.inf, 0).replace("i32", "i8")
    (got,) = mlir_fp8.compile(text)(x)
    np.testing.assert_array_equal(got, np.full(ROWS, -128, np.int8))


@pytest.mark.parametrize(
    ("type_", "use"),
    [
        (f"tensor<{ROWS}xbf16>", "convert %r#0 : "),
        (f"tensor<{ROWS}x3xf32>", "broadcast_in_dim %r#0, dims = [0] : "),
        (f"tensor<{ROWS}xf32>", "negate %r#0 : "),
        (f"tensor<8x{ROWS // 8}xf32>", "reshape %r#0 : "),
    ],
)
def test_number_that_is_read(type_: str, use: str) -> None:
    numbers, places = f"tensor<{ROWS}xf32>", f"tensor<{ROWS}xi32>"
    text = program(32, "f32", "GT", -np.inf, 0)
    signature = numbers if type_ == numbers else f"({numbers}) -> {type_}"
    text = text.replace(
        f"  return %r#1 : {places}",
        f"  %q = stablehlo.{use}{signature}\n  return %r#1, %q : {places}, {type_}",
    ).replace(f"-> {places} {{", f"-> ({places}, {type_}) {{")
    x = rows(32, "float32")[:24].repeat(3, 0)[:ROWS]
    place, number = mlir_fp8.compile(text)(x)
    np.testing.assert_array_equal(place, x.argmax(1))
    wanted = -x.max(1) if "negate" in use else x.max(1)
    wanted = wanted.astype(number.dtype)
    wanted = np.broadcast_to(wanted[:, None], number.shape) if number.shape == (ROWS, 3) else wanted
    np.testing.assert_array_equal(number, wanted.reshape(number.shape))
