"""Data movement, bit for bit as numpy does it: pads, concatenations, transposes."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from kernel_products import tensor

import mlir_fp8

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "i4": np.dtype(ml_dtypes.int4),
    "i1": np.dtype(np.bool_),
    "ui16": np.dtype(np.uint16),
    "complex<f32>": np.dtype(np.complex64),
}
# Shape, and per dimension what comes before, after and between.
PADS = [
    ((5, 7), (0, 3), (0, 5), (0, 0)),
    ((5, 7), (1, -1), (-2, 3), (0, 0)),
    ((4, 3, 6, 5), (0, 1, 1, 0), (0, 1, 1, 0), (0, 0, 0, 0)),
    ((3, 17), (2, 40), (1, 33), (0, 0)),
    ((0, 3), (2, 1), (1, 0), (0, 0)),
    ((3, 0, 2), (1, 2, 0), (0, 0, 1), (0, 0, 0)),
    ((6,), (-2,), (-1,), (0,)),
    ((5, 4), (1, 0), (0, 2), (1, 2)),
    ((2, 9), (0, 0), (0, 0), (0, 1)),
    ((3, 3), (-1, 1), (2, -1), (2, 1)),
    ((1, 1), (0, 2), (0, 0), (0, 0)),
    ((2, 2), (-1, 0), (-1, 3), (0, 0)),
]
# The shapes of the operands, and the dimension along which they lie.
JOINS = [
    ([(3, 4), (3, 5), (3, 1)], 1),
    ([(3, 4), (2, 4)], 0),
    ([(2, 3, 4), (2, 0, 4), (2, 6, 4)], 1),
    ([(0, 4), (0, 4)], 0),
    ([(2, 3, 1, 5), (2, 3, 2, 5)], 2),
    ([(7,)], 0),
]
# A shape, and which of its dimensions come in which order.
TURNS = [
    ((16, 32), (1, 0)),
    ((35, 50), (1, 0)),
    ((129, 77), (1, 0)),
    ((5, 64), (1, 0)),
    ((64, 5), (1, 0)),
    ((0, 20), (1, 0)),
    ((3, 18, 33), (0, 2, 1)),
    ((17, 3, 40), (2, 1, 0)),
    ((34, 3, 2, 20), (3, 1, 2, 0)),
    ((2, 19, 3, 24), (0, 2, 1, 3)),
    ((2, 3, 24, 17), (2, 0, 3, 1)),
    ((4, 4, 16, 16), (1, 0, 3, 2)),
]


def some(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(dtype)
    return rng.integers(-3, 4, shape).astype(np.int64).astype(dtype)


def padded(
    array: np.ndarray, value: np.ndarray, lows: Sequence[int], highs: Sequence[int],
    between: Sequence[int],
) -> np.ndarray:  # fmt: skip
    for axis, (low, high, gap) in enumerate(zip(lows, highs, between, strict=True)):
        size = array.shape[axis]
        spread = size + max(0, size - 1) * gap
        shape = [*array.shape]
        shape[axis] = spread + max(low, 0) + max(high, 0)
        wide = np.full(shape, value, array.dtype)
        place = [slice(None)] * array.ndim
        place[axis] = slice(max(low, 0), max(low, 0) + spread, gap + 1)
        wide[tuple(place)] = array
        place[axis] = slice(max(-low, 0), shape[axis] - max(-high, 0))
        array = wide[tuple(place)]
    return array


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", DTYPES)
def test_pads(element: str) -> None:
    rng, dtype = np.random.default_rng(1), DTYPES[element]
    value = some(rng, (), dtype)
    arrays = [some(rng, shape, dtype) for shape, *_ in PADS]
    wanted = [padded(x, value, *pad) for x, (_, *pad) in zip(arrays, PADS, strict=True)]
    body, results = [], []
    for i, ((shape, *pad), want) in enumerate(zip(PADS, wanted, strict=True)):
        low, high, between = (list(each) for each in pad)
        results.append(tensor(want.shape, element))
        body.append(
            f"%r{i} = stablehlo.pad %a{i}, %value, low = {low}, high = {high}, interior = {between}"
            f" : ({tensor(shape, element)}, tensor<{element}>) -> {results[-1]}"
        )
    run([*arrays, value], [*(f"%a{i}" for i in range(len(PADS))), "%value"], body, results, wanted)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("element", DTYPES)
def test_concatenations(element: str) -> None:
    rng, dtype = np.random.default_rng(2), DTYPES[element]
    arrays, names, body, results, wanted = [], [], [], [], []
    for i, (shapes, axis) in enumerate(JOINS):
        parts = [some(rng, shape, dtype) for shape in shapes]
        mine = [f"%a{i}_{number}" for number in range(len(parts))]
        wanted.append(np.concatenate(parts, axis))
        results.append(tensor(wanted[-1].shape, element))
        types = ", ".join(tensor(shape, element) for shape in shapes)
        operands = ", ".join(mine)
        body.append(
            f"%r{i} = stablehlo.concatenate {operands}, dim = {axis} : ({types}) -> {results[-1]}"
        )
        arrays += parts
        names += mine
    run(arrays, names, body, results, wanted)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("element", DTYPES)
def test_transposes(element: str) -> None:
    rng = np.random.default_rng(5)
    arrays = [some(rng, shape, DTYPES[element]) for shape, _ in TURNS]
    wanted = [array.transpose(order) for array, (_, order) in zip(arrays, TURNS, strict=True)]
    results = [tensor(want.shape, element) for want in wanted]
    body = [
        f"%r{i} = stablehlo.transpose %a{i}, dims = {[*order]}"
        f" : ({tensor(shape, element)}) -> {results[i]}"
        for i, (shape, order) in enumerate(TURNS)
    ]
    run(arrays, [f"%a{i}" for i in range(len(TURNS))], body, results, wanted)


def test_a_transposed_part_and_threads() -> None:
    """From a strided source to a strided destination, by any number of threads."""
    s = "tensor<900x700xf32>"
    text = f"""
      func.func @main(%a: tensor<700x1000xf32>, %b: {s}) -> tensor<900x1400xf32> {{
        %0 = stablehlo.slice %a [0:700, 50:950] : (tensor<700x1000xf32>) -> tensor<700x900xf32>
        %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<700x900xf32>) -> {s}
        %2 = stablehlo.concatenate %b, %1, dim = 1 : ({s}, {s}) -> tensor<900x1400xf32>
        return %2 : tensor<900x1400xf32>
      }}"""
    rng = np.random.default_rng(6)
    a = rng.standard_normal((700, 1000)).astype(np.float32)
    b = rng.standard_normal((900, 700)).astype(np.float32)
    for threads in (1, 3):
        (got,) = mlir_fp8.compile(text, threads=threads)(a, b)
        np.testing.assert_array_equal(got, np.hstack([b, a[:, 50:950].T]))


def run(
    arrays: Sequence[np.ndarray], names: Sequence[str], body: Sequence[str],
    results: Sequence[str], wanted: Sequence[np.ndarray],
) -> None:  # fmt: skip
    elements = {dtype: name for name, dtype in DTYPES.items()}
    arguments = ", ".join(
        f"{name}: {tensor(array.shape, elements[array.dtype])}"
        for name, array in zip(names, arrays, strict=True)
    )
    returned = ", ".join(f"%r{i}" for i in range(len(results)))
    lines, types = "\n".join(body), ", ".join(results)
    text = f"func.func @main({arguments}) -> ({types}) {{\n{lines}\nreturn {returned} : {types} }}"
    for got, want in zip(mlir_fp8.compile(text)(*arrays), wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()


def test_what_computes_a_part_is_used_elsewhere_too() -> None:
    """Reductions whose result is inserted and has other uses; splat and nested parts."""
    s, wide = "tensor<4x6xf32>", "tensor<4x12xf32>"
    text = f"""
      func.func @main(%a: {s}, %b: {s}, %n: tensor<i32>)
          -> ({s}, {wide}, tensor<6x8xf32>, tensor<4x18xf32>, {s}) {{
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %none = stablehlo.constant dense<0> : tensor<i32>
        %sum = stablehlo.add %a, %b : {s}
        %twice = stablehlo.concatenate %sum, %sum, dim = 1 : ({s}, {s}) -> {wide}
        %pad = stablehlo.pad %sum, %zero, low = [1, 1], high = [1, 1], interior = [0, 0]
          : ({s}, tensor<f32>) -> tensor<6x8xf32>
        %product = stablehlo.multiply %sum, %b : {s}
        %outer = stablehlo.concatenate %twice, %product, dim = 1 : ({wide}, {s}) -> tensor<4x18xf32>
        %loop:2 = stablehlo.while(%i = %none, %x = %a) : tensor<i32>, {s}
        cond {{
          %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        }} do {{
          %left = stablehlo.slice %x [0:4, 0:2] : ({s}) -> tensor<4x2xf32>
          %right = stablehlo.slice %x [0:4, 2:6] : ({s}) -> tensor<4x4xf32>
          %turned = stablehlo.concatenate %right, %left, dim = 1
            : (tensor<4x4xf32>, tensor<4x2xf32>) -> {s}
          %j = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %j, %turned : tensor<i32>, {s}
        }}
        return %sum, %twice, %pad, %outer, %loop#1
          : {s}, {wide}, tensor<6x8xf32>, tensor<4x18xf32>, {s}
      }}"""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((4, 6)).astype(np.float32) for _ in range(2))
    results = mlir_fp8.compile(text)(a, b, 4)
    total = a + b
    wanted = [
        total, np.hstack([total, total]), np.pad(total, 1), np.hstack([total, total, total * b]),
        np.roll(a, -8, 1),
    ]  # fmt: skip
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_rows_of_pads_are_shared_by_threads() -> None:
    """Border and source are rows of one fused loop, with the producer of the source."""
    text = """
      func.func @main(%a: tensor<700x600xf32>, %p: tensor<f32>) -> tensor<700x640xf32> {
        %0 = stablehlo.add %a, %a : tensor<700x600xf32>
        %1 = stablehlo.pad %0, %p, low = [0, 33], high = [0, 7], interior = [0, 0]
          : (tensor<700x600xf32>, tensor<f32>) -> tensor<700x640xf32>
        return %1 : tensor<700x640xf32>
      }"""
    array = np.random.default_rng(4).standard_normal((700, 600)).astype(np.float32)
    want = np.pad(array + array, ((0, 0), (33, 7)), constant_values=2.5)
    for threads in (1, 3):
        (got,) = mlir_fp8.compile(text, threads=threads)(array, np.float32(2.5))
        np.testing.assert_array_equal(got, want)
