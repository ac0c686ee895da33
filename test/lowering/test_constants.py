"""Ops on constants give what the same ops give on arguments, whoever folds them."""

import itertools

import numpy as np
import pytest

import mlir_fp8

NUMBERS = np.array(
    [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -3.5, 88.8, np.inf, -np.inf, np.nan], np.float32
)
FUNCTIONS = [
    *("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic"),
    *("rsqrt", "sine", "sqrt", "tan", "tanh"),
]
CHLO = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erfc", "sinh"]
OPS = [
    *(f"stablehlo.{name} {{0}} : {{1}}" for name in FUNCTIONS),
    *(f"chlo.{name} {{0}} : {{1}} -> {{1}}" for name in CHLO),
]
WITH_F64 = ["f32", pytest.param("f64", marks=pytest.mark.exhaustive)]
PAIRS = [
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "subtract",
]


def _programs(op: str, arrays: tuple[np.ndarray, ...], element: str) -> tuple[str, str]:
    """A function of arrays, and one that gives the same for each element, a constant."""
    whole, single = f"tensor<{arrays[0].size}x{element}>", f"tensor<{element}>"
    names = [f"%a{index}" for index in range(len(arrays))]
    parameters = ", ".join(f"{name}: {whole}" for name in names)
    taking = f"func.func @main({parameters}) -> {whole} {{\n"
    taking += f"%r = {op.format(', '.join(names), whole)}\nreturn %r : {whole}\n}}"
    lines, results = [], []
    for k in range(arrays[0].size):
        for name, array in zip(names, arrays, strict=True):
            lines.append(f"{name}_{k} = stablehlo.constant dense<{_text(array[k])}> : {single}")
        lines.append(f"%r{k} = {op.format(', '.join(f'{n}_{k}' for n in names), single)}")
        results.append(f"%r{k}")
    types = ", ".join([single] * len(results))
    lines.append(f"return {', '.join(results)} : {types}")
    return taking, f"func.func @main() -> ({types}) {{\n" + "\n".join(lines) + "\n}"


def _text(number: np.generic) -> str:
    part = {4: np.uint32, 8: np.uint64}[number.real.dtype.itemsize]
    parts = [number.real, number.imag] if np.iscomplexobj(number) else [number]
    codes = [f"0x{int(each.view(part)):0{2 * each.dtype.itemsize}X}" for each in parts]
    return codes[0] if len(codes) == 1 else f"({', '.join(codes)})"


def _assert_same(op: str, arrays: tuple[np.ndarray, ...], element: str) -> None:
    taking, holding = _programs(op, arrays, element)
    (wanted,) = mlir_fp8.compile(taking)(*arrays)
    got = np.array(mlir_fp8.compile(holding)(), wanted.dtype)
    wanted, got = (np.atleast_1d(a).view(np.real(a).dtype) for a in (wanted, got))
    np.testing.assert_array_equal(got, wanted)
    is_number = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(got[is_number]), np.signbit(wanted[is_number]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("element", WITH_F64)
@pytest.mark.parametrize("op", OPS)
def test_functions(op: str, element: str) -> None:
    _assert_same(op, (NUMBERS.astype(element.replace("f", "float")),), element)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("element", WITH_F64)
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str, element: str) -> None:
    pairs = np.array(list(itertools.product(NUMBERS, NUMBERS)), element.replace("f", "float"))
    arrays = np.ascontiguousarray(pairs[::2, 0]), np.ascontiguousarray(pairs[::2, 1])
    _assert_same(f"stablehlo.{name} {{0}} : {{1}}", arrays, element)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("element", ["complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("name", ["add", "divide", "log", "multiply", "subtract"])
def test_complex_numbers(name: str, element: str) -> None:
    dtype = np.complex64 if "32" in element else np.complex128
    parts = (0.0, -0.0, 1.0, np.inf)
    numbers = [complex(*each) for each in itertools.product(parts, parts)]
    arrays = np.array(list(itertools.product(numbers, numbers)), dtype)
    columns = [np.ascontiguousarray(arrays[::3, index]) for index in (0, 1)]
    operands = tuple(columns[: 1 if name == "log" else 2])
    _assert_same(f"stablehlo.{name} {{0}} : {{1}}", operands, element)


@pytest.mark.parametrize("element", ["complex<f32>", "complex<f64>"])
def test_complex_arithmetic_is_not_simplified(element: str) -> None:
    type_ = f"tensor<2x{element}>"
    text = f"""func.func @main(%a: {type_}, %b: {type_}) -> ({type_}, {type_}, {type_}, {type_}) {{
      %sum = stablehlo.add %a, %b : {type_}
      %0 = stablehlo.subtract %sum, %b : {type_}
      %difference = stablehlo.subtract %a, %b : {type_}
      %1 = stablehlo.add %difference, %b : {type_}
      %power = stablehlo.exponential %a : {type_}
      %2 = stablehlo.log %power : {type_}
      %zero = stablehlo.constant dense<(0.0, 0.0)> : {type_}
      %3 = stablehlo.add %a, %zero : {type_}
      return %0, %1, %2, %3 : {type_}, {type_}, {type_}, {type_}
    }}"""
    dtype = np.complex64 if "32" in element else np.complex128
    a, b = np.array([1e-30 + 4j, complex(-0.0, -0.0)], dtype), np.array([1 + 1j, 1 - 1j], dtype)
    sum_, difference, angle, same = mlir_fp8.compile(text)(a, b)
    assert sum_[0].real == difference[0].real == 0
    assert angle[0].imag == pytest.approx(4 - 2 * np.pi)
    assert not np.signbit(same[1].real) and not np.signbit(same[1].imag)
