"""Every element type and rank through native code, to the bit; unsigned integers as in numpy."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec, element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.dialects.float_reference import encode

ELEMENTS = (
    *FORMATS,
    *("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"),
    *("complex<f32>", "complex<f64>"),
)
UNSIGNED = ("ui8", "ui16", "ui32", "ui64")


def passed_through(*arrays: tuple[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The arrays, each of the element type beside it, through a function that returns them."""
    types = [str(TensorSpec(array.shape, element)) for element, array in arrays]
    names = [f"%a{index}" for index in range(len(types))]
    parameters = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
    listed = ", ".join(types)
    compiled = mlir_fp8.compile(
        f"func.func @main({parameters}) -> ({listed}) {{\n"
        f"  return {', '.join(names)} : {listed}\n}}\n"
    )
    return compiled(*(array for _, array in arrays))


def assert_same(got: np.ndarray, want: np.ndarray) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == want.tobytes(), f"{got} is not {want}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2, 1, 3), (0,), (2, 0), (0, 3), (2, 0, 3)])
def test_every_type_of_every_shape(shape: tuple[int, ...]) -> None:
    random = np.random.Generator(np.random.PCG64(0))
    arrays = [
        (element, random.integers(0, 2, shape).astype(np.int8).astype(element_dtype(element)))
        for element in ELEMENTS
    ]
    for got, (_, want) in zip(passed_through(*arrays), arrays, strict=True):
        assert_same(got, want)
        assert got.size == 0 or not np.shares_memory(got, want)


def test_every_code() -> None:
    arrays = [
        (name, np.arange(1 << fmt.bits, dtype=np.uint8).view(fmt.dtype))
        for name, fmt in SMALL_FLOATS.items()
    ]
    for got, (_, want) in zip(passed_through(*arrays), arrays, strict=True):
        assert_same(got, want)


@pytest.mark.parametrize("element", ["f4E2M1FN", "f6E2M3FN", "f6E3M2FN"])
def test_constants_in_bytes_with_more_bits_than_the_type(element: str) -> None:
    """MLIR takes the low bits of each byte, in text as in bytecode."""
    fmt = SMALL_FLOATS[element]
    data = np.array([0x17, 0xFF, 0x41], np.uint8)
    for shape, written in (("3x", data), ("", data[:1])):
        type_ = f"tensor<{shape}{element}>"
        (got,) = mlir_fp8.compile(
            f"func.func @main() -> {type_} {{\n"
            f'  %0 = stablehlo.constant dense<"0x{written.tobytes().hex()}"> : {type_}\n'
            f"  return %0 : {type_}\n}}\n"
        )()
        assert got.tobytes() == (written & ((1 << fmt.bits) - 1)).tobytes()


def test_payloads_of_nans_and_signs_of_zeros() -> None:
    arrays = [
        ("f32", np.array([0x7FC00000, 0xFFC12345, 0x7F800001, 1 << 31], np.uint32).view("f4")),
        ("f64", np.array([0x7FF8000000000001, 0x7FF0000000000001, 1 << 63], "u8").view("f8")),
        ("bf16", np.array([0x7FC1, 0xFF81, 0x8000], np.uint16).view(ml_dtypes.bfloat16)),
        ("f16", np.array([0x7E01, 0xFC01, 0x8000], np.uint16).view(np.float16)),
    ]
    for got, (_, want) in zip(passed_through(*arrays), arrays, strict=True):
        assert_same(got, want)


def test_products_and_sums_over_nothing() -> None:
    compiled = mlir_fp8.compile(
        "func.func @main(%a: tensor<2x0xf32>, %b: tensor<3x0xf32>)\n"
        "    -> (tensor<2x3xf32>, tensor<2xf32>, tensor<0x2xf32>) {\n"
        "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1]\n"
        "      : (tensor<2x0xf32>, tensor<3x0xf32>) -> tensor<2x3xf32>\n"
        "  %one = stablehlo.constant dense<1.5> : tensor<f32>\n"
        "  %1 = stablehlo.reduce(%a init: %one) applies stablehlo.add across dimensions = [1]\n"
        "      : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>\n"
        "  %2 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x0xf32>) -> tensor<0x2xf32>\n"
        "  return %0, %1, %2 : tensor<2x3xf32>, tensor<2xf32>, tensor<0x2xf32>\n}"
    )
    products, sums, turned = compiled(np.zeros((2, 0), np.float32), np.zeros((3, 0), np.float32))
    assert products.tolist() == [[0] * 3] * 2
    assert sums.tolist() == [1.5, 1.5]
    assert turned.shape == (0, 2)


def unsigned_operands(element: str) -> tuple[np.ndarray, np.ndarray]:
    dtype = element_dtype(element)
    top = int(np.iinfo(dtype).max)
    a = np.array([0, 1, top, top - 1, top // 2 + 1, 100, top // 2], dtype)
    b = np.array([3, top, 2, top // 2 + 1, 7, 100, 1], dtype)
    return a, b


@pytest.mark.parametrize("element", UNSIGNED)
def test_unsigned_arithmetic(element: str) -> None:
    a, b = unsigned_operands(element)
    rules = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
        "divide": np.floor_divide, "remainder": np.remainder,
        "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and,
        "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    type_ = f"tensor<7x{element}>"
    body = "".join(f"  %r{i} = stablehlo.{op} %a, %b : {type_}\n" for i, op in enumerate(rules))
    body += (
        f"  %less = stablehlo.compare LT, %a, %b : ({type_}, {type_}) -> tensor<7xi1>\n"
        f"  %zero = stablehlo.constant dense<0> : tensor<{element}>\n"
        "  %most = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across "
        f"dimensions = [0] : ({type_}, tensor<{element}>) -> tensor<{element}>\n"
    )
    values = ", ".join([*(f"%r{i}" for i in range(len(rules))), "%less", "%most"])
    types = ", ".join([*[type_] * len(rules), "tensor<7xi1>", f"tensor<{element}>"])
    results = mlir_fp8.compile(
        f"func.func @main(%a: {type_}, %b: {type_}) -> ({types}) {{\n"
        f"{body}  return {values} : {types}\n}}"
    )(a, b)
    wanted = [rule(a, b) for rule in rules.values()]
    for got, want in zip(results, [*wanted, a < b, a.max()], strict=True):
        assert_same(got, np.asarray(want))


@pytest.mark.parametrize("element", UNSIGNED)
def test_unsigned_conversions(element: str) -> None:
    a, _ = unsigned_operands(element)
    targets = ("f64", "f32", "f16", "f8E5M2", "i64", "i8", "ui8", "ui64", "i1")
    body = "".join(
        f"  %r{i} = stablehlo.convert %a : (tensor<7x{element}>) -> tensor<7x{target}>\n"
        for i, target in enumerate(targets)
    )
    values = ", ".join(f"%r{i}" for i in range(len(targets)))
    types = ", ".join(f"tensor<7x{target}>" for target in targets)
    results = mlir_fp8.compile(
        f"func.func @main(%a: tensor<7x{element}>) -> ({types}) {{\n"
        f"{body}  return {values} : {types}\n}}"
    )(a)
    for target, got in zip(targets, results, strict=True):
        if target in FORMATS:
            fmt = FORMATS[target]
            codes = [encode(fmt, float(x) if int(float(x)) == x else x) for x in map(int, a)]
            assert_same(got, np.array(codes, f"uint{fmt.storage_bits}").view(fmt.dtype))
        else:
            assert_same(got, a.astype(element_dtype(target)))


def test_products_of_unsigned_integers_are_unsigned() -> None:
    compiled = mlir_fp8.compile(
        "func.func @main(%a: tensor<4xui8>, %b: tensor<4xi8>)\n"
        "    -> (tensor<ui32>, tensor<i32>, tensor<f32>) {\n"
        "  %0 = stablehlo.dot %a, %a : (tensor<4xui8>, tensor<4xui8>) -> tensor<ui32>\n"
        "  %1 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]\n"
        "      : (tensor<4xui8>, tensor<4xi8>) -> tensor<i32>\n"
        "  %2 = stablehlo.dot %a, %a : (tensor<4xui8>, tensor<4xui8>) -> tensor<f32>\n"
        "  return %0, %1, %2 : tensor<ui32>, tensor<i32>, tensor<f32>\n}"
    )
    a, b = np.array([200, 100, 255, 1], np.uint8), np.array([1, -1, 1, -128], np.int8)
    results = compiled(a, b)
    assert [int(result) for result in results] == [115026, 200 - 100 + 255 - 128, 115026]
