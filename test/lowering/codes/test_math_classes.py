"""`math.isinf`, `isnan`, `isfinite`, `isnormal` and `clampf` as native code, on all codes."""

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS

FLOATS = [name for name, fmt in FORMATS.items() if fmt.bits in (8, 16)]
WIDE = {"f32": np.finfo(np.float32), "f64": np.finfo(np.float64)}


def _values(element: str) -> np.ndarray:
    if element in WIDE:
        tiny = WIDE[element].smallest_normal
        numbers = [0, 1, tiny, tiny / 2, WIDE[element].max, np.inf, np.nan]
        return np.array([*numbers, *np.negative(numbers)], WIDE[element].dtype)
    fmt = FORMATS[element]
    return np.arange(1 << fmt.bits, dtype=f"u{fmt.bits // 8}").view(fmt.dtype)


def _classes(element: str, values: np.ndarray) -> dict[str, np.ndarray]:
    info = WIDE.get(element) or ml_dtypes.finfo(values.dtype)
    numbers = values.astype(np.float64)
    is_large = np.abs(numbers) >= float(info.smallest_normal)
    return {
        "isinf": np.isinf(numbers),
        "isnan": np.isnan(numbers),
        "isfinite": np.isfinite(numbers),
        "isnormal": np.isfinite(numbers) & is_large,
    }


@pytest.mark.sampled(5)
@pytest.mark.parametrize("element", [*FLOATS, *WIDE])
def test_classes(element: str) -> None:
    values = _values(element)
    want = _classes(element, values)
    n = len(values)
    ops = "\n".join(f"%{op} = math.{op} %x : tensor<{n}x{element}>" for op in want)
    types = ", ".join([f"tensor<{n}xi1>"] * len(want))
    text = f"""func.func @main(%x: tensor<{n}x{element}>) -> ({types}) {{
      {ops}
      return {", ".join(f"%{op}" for op in want)} : {types}
    }}"""
    compiled = mlir_fp8.compile(text)
    for (op, expected), got in zip(want.items(), compiled(values), strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=op)


@pytest.mark.parametrize("element", ["f32", "bf16", "f8E4M3FN"])
@pytest.mark.parametrize("is_constant", [False, True])
def test_classes_of_scalars(element: str, is_constant: bool) -> None:
    # Normal in f32 alone, but for bf16.
    number = 2.0**-8
    x = f"arith.constant {number} : {element}"
    if not is_constant:
        x = f"tensor.extract %a[] : tensor<{element}>"
    text = f"""func.func @main(%a: tensor<{element}>) -> (tensor<i1>, tensor<i1>) {{
      %x = {x}
      %0 = math.isnormal %x : {element}
      %1 = math.isinf %x : {element}
      %2 = tensor.from_elements %0 : tensor<i1>
      %3 = tensor.from_elements %1 : tensor<i1>
      return %2, %3 : tensor<i1>, tensor<i1>
    }}"""
    got = mlir_fp8.compile(text)(np.asarray(number, FORMATS[element].dtype))
    assert [bool(each) for each in got] == [element != "f8E4M3FN", False]


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "f8E4M3FN"])
def test_clamp(element: str) -> None:
    type_ = f"tensor<5x{element}>"
    text = f"""func.func @main(%x: {type_}, %low: {type_}, %high: {type_}) -> {type_} {{
      %0 = math.clampf %x to [%low, %high] : {type_}
      return %0 : {type_}
    }}"""
    dtype = FORMATS[element].dtype
    x, low, high = (
        np.array([*row], dtype) for row in ([-4, 1, 8, np.nan, -0.0], [-2] * 5, [3] * 5)
    )
    (got,) = mlir_fp8.compile(text)(x, low, high)
    np.testing.assert_array_equal(got.astype(np.float64), [-2, 1, 3, np.nan, 0])
    assert np.signbit(got.astype(np.float64))[4]


@pytest.mark.parametrize("element", ["bf16", "f8E4M3FN"])
@pytest.mark.parametrize("op", ["fma %x, %x, %x", "sincos %x"])
def test_functions_without_a_rule_are_named(element: str, op: str) -> None:
    name, *_ = op.split()
    results, result = ("%0:2", "%0#0") if name == "sincos" else ("%0", "%0")
    type_ = f"tensor<2x{element}>"
    text = f"""func.func @main(%x: {type_}) -> {type_} {{
      {results} = math.{op} : {type_}
      return {result} : {type_}
    }}"""
    reason = f"'math.{name}' has no lowering for {element}: compute it in f32 and convert"
    with pytest.raises(mlir_fp8.Fp8Error, match=reason):
        mlir_fp8.compile(text)
