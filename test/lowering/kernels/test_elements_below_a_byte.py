"""Elements below a byte have a byte each in memory: vector loops read and write them as such."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8

TYPES = {
    "i1": (np.bool_, 0, 2),
    "i2": (ml_dtypes.int2, -2, 2),
    "ui2": (ml_dtypes.uint2, 0, 4),
    "i4": (ml_dtypes.int4, -8, 8),
    "ui4": (ml_dtypes.uint4, 0, 16),
    "f4E2M1FN": (ml_dtypes.float4_e2m1fn, -6, 7),
}
ROWS, DEPTH, COLUMNS = 67, 83, 51


def numbers(element: str, shape: tuple[int, ...]) -> np.ndarray:
    dtype, low, high = TYPES[element]
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


def run(text: str, *arrays: np.ndarray) -> np.ndarray:
    return mlir_fp8.compile(text)(*arrays)[0]


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize(("left", "dims"), [("a", "[1] x [0]"), ("b", "[1] x [1]")])
def test_products(element: str, left: str, dims: str) -> None:
    """As either operand, along the sum and across it, of many rows and of one."""
    for rows in (ROWS, 1):
        codes = numbers(element, (rows if left == "a" else COLUMNS, DEPTH))
        shape = (DEPTH, COLUMNS) if left == "a" else (rows, DEPTH)
        wide = np.random.default_rng(8).integers(-4, 5, shape).astype(np.float32)
        narrow = f"tensor<{'x'.join(map(str, codes.shape))}x{element}>"
        as_f32, other = (f"tensor<{'x'.join(map(str, s))}xf32>" for s in (codes.shape, shape))
        types = f"{as_f32}, {other}" if left == "a" else f"{other}, {as_f32}"
        names = "%0, %b" if left == "a" else "%b, %0"
        got = run(
            f"""func.func @main(%a: {narrow}, %b: {other}) -> tensor<{rows}x{COLUMNS}xf32> {{
              %0 = stablehlo.convert %a : ({narrow}) -> {as_f32}
              %1 = stablehlo.dot_general {names}, contracting_dims = {dims}
                : ({types}) -> tensor<{rows}x{COLUMNS}xf32>
              return %1 : tensor<{rows}x{COLUMNS}xf32>
            }}""",
            codes,
            wide,
        )
        decoded = codes.astype(np.float32)
        want = decoded @ wide if left == "a" else wide @ decoded.T
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(ROWS, 1), (1, DEPTH), (ROWS, DEPTH), (1, 1)])
def test_masks_of_an_operand(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(9)
    a = generator.integers(-4, 5, (ROWS, DEPTH)).astype(np.float32)
    b = generator.integers(-4, 5, (DEPTH, COLUMNS)).astype(np.float32)
    mask = generator.random(shape) < 0.5
    whole = f"tensor<{ROWS}x{DEPTH}xf32>"
    narrow, bits = f"tensor<{shape[0]}x{shape[1]}xi1>", f"tensor<{ROWS}x{DEPTH}xi1>"
    types = f"{whole}, tensor<{DEPTH}x{COLUMNS}xf32>"
    got = run(
        f"""func.func @main(%a: {whole}, %b: tensor<{DEPTH}x{COLUMNS}xf32>, %mask: {narrow})
            -> tensor<{ROWS}x{COLUMNS}xf32> {{
          %0 = stablehlo.broadcast_in_dim %mask, dims = [0, 1] : ({narrow}) -> {bits}
          %1 = stablehlo.constant dense<0.0> : {whole}
          %2 = stablehlo.select %0, %a, %1 : {bits}, {whole}
          %3 = stablehlo.dot_general %2, %b, contracting_dims = [1] x [0]
            : ({types}) -> tensor<{ROWS}x{COLUMNS}xf32>
          return %3 : tensor<{ROWS}x{COLUMNS}xf32>
        }}""",
        a,
        b,
        mask,
    )
    np.testing.assert_array_equal(got, np.where(mask, a, 0) @ b)


@pytest.mark.parametrize("element", TYPES)
def test_transposes_and_slices(element: str) -> None:
    codes = numbers(element, (ROWS, DEPTH))
    narrow, turned = f"tensor<{ROWS}x{DEPTH}x{element}>", f"tensor<{DEPTH}x{ROWS}x{element}>"
    got = run(
        f"""func.func @main(%a: {narrow}) -> tensor<{DEPTH - 3}x{ROWS - 5}x{element}> {{
          %0 = stablehlo.transpose %a, dims = [1, 0] : ({narrow}) -> {turned}
          %1 = stablehlo.slice %0 [3:{DEPTH}, 5:{ROWS}]
            : ({turned}) -> tensor<{DEPTH - 3}x{ROWS - 5}x{element}>
          return %1 : tensor<{DEPTH - 3}x{ROWS - 5}x{element}>
        }}""",
        codes,
    )
    np.testing.assert_array_equal(got.astype(np.float32), codes.T[3:, 5:].astype(np.float32))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("dimension", [0, 1])
def test_sums_and_maxima(element: str, dimension: int) -> None:
    codes = numbers(element, (ROWS, DEPTH))
    narrow, wide = f"tensor<{ROWS}x{DEPTH}x{element}>", f"tensor<{ROWS}x{DEPTH}xf32>"
    size = (DEPTH, ROWS)[dimension]
    result = f"tensor<{size}xf32>"
    text = f"""func.func @main(%a: {narrow}) -> ({result}, {result}) {{
      %0 = stablehlo.convert %a : ({narrow}) -> {wide}
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [{dimension}]
        : ({wide}, tensor<f32>) -> {result}
      %2 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum
        across dimensions = [{dimension}] : ({wide}, tensor<f32>) -> {result}
      return %1, %2 : {result}, {result}
    }}"""
    sums, maxima = mlir_fp8.compile(text)(codes)
    decoded = codes.astype(np.float32)
    np.testing.assert_array_equal(sums, decoded.sum(dimension))
    np.testing.assert_array_equal(maxima, decoded.max(dimension))


def test_any_and_all() -> None:
    bits = np.random.default_rng(3).random((ROWS, DEPTH)) < 0.98
    narrow, row = f"tensor<{ROWS}x{DEPTH}xi1>", f"tensor<{ROWS}xi1>"
    text = f"""func.func @main(%a: {narrow}) -> ({row}, {row}) {{
      %yes = stablehlo.constant dense<true> : tensor<i1>
      %no = stablehlo.constant dense<false> : tensor<i1>
      %0 = stablehlo.reduce(%a init: %yes) applies stablehlo.and across dimensions = [1]
        : ({narrow}, tensor<i1>) -> {row}
      %1 = stablehlo.not %a : {narrow}
      %2 = stablehlo.reduce(%1 init: %no) applies stablehlo.or across dimensions = [1]
        : ({narrow}, tensor<i1>) -> {row}
      return %0, %2 : {row}, {row}
    }}"""
    every, some = mlir_fp8.compile(text)(bits)
    np.testing.assert_array_equal(every, bits.all(1))
    np.testing.assert_array_equal(some, (~bits).any(1))
