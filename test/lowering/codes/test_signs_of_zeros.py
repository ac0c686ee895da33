"""The lesser of two zeros is the negative one, of constants and of arguments."""

import itertools

import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS

ZEROS = (0.0, -0.0)
SOURCES = list(itertools.product(("argument", "constant"), repeat=2))


def _program(op: str, element: str, numbers: tuple[float, float]) -> str:
    """On scalars and on tensors, of arguments and constants in all ways."""
    scalar, tensor = f"tensor<{element}>", f"tensor<2x{element}>"
    lines = [
        "%x_argument = tensor.extract %a[] : " + scalar,
        "%y_argument = tensor.extract %b[] : " + scalar,
        "%X_argument = tensor.from_elements %x_argument, %x_argument : " + tensor,
        "%Y_argument = tensor.from_elements %y_argument, %y_argument : " + tensor,
    ]
    for name, number in zip("xy", numbers, strict=True):
        lines.append(f"%{name}_constant = arith.constant {number} : {element}")
        lines.append(f"%{name.upper()}_constant = arith.constant dense<{number}> : {tensor}")
    results: list[tuple[str, str]] = []
    for x, y in SOURCES:
        name = f"{x}_{y}"
        lines += [
            f"%s_{name} = arith.{op} %x_{x}, %y_{y} : {element}",
            f"%t_{name} = tensor.from_elements %s_{name} : {scalar}",
            f"%v_{name} = arith.{op} %X_{x}, %Y_{y} : {tensor}",
        ]
        results += [(f"%t_{name}", scalar), (f"%v_{name}", tensor)]
    names, types = (", ".join(each) for each in zip(*results, strict=True))
    body = "\n".join(lines)
    return (
        f"func.func @main(%a: {scalar}, %b: {scalar}) -> ({types}) {{\n{body}\n"
        f"return {names} : {types} }}"
    )


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "element",
    [
        *("f32", "bf16", "f8E4M3FN"),
        *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("f64", "f16", "f8E5M2")),
    ],
)
@pytest.mark.parametrize("op", ["minnumf", "maxnumf", "minimumf", "maximumf"])
def test_zeros_are_ordered(op: str, element: str) -> None:
    dtype = FORMATS[element].dtype
    for x, y in itertools.product(ZEROS, repeat=2):
        got = mlir_fp8.compile(_program(op, element, (x, y)))(
            np.array(x, dtype), np.array(y, dtype)
        )
        negative = [bool(np.signbit(number)) for number in (x, y)]
        want = any(negative) if op.startswith("min") else all(negative)
        for each in got:
            signs = np.signbit(each.astype(np.float64))
            assert (signs == want).all(), (op, element, x, y, got)


@pytest.mark.parametrize("element", ["f32", "bf16", "f8E5M2"])
@pytest.mark.parametrize(
    ("op", "want"), [("minnumf", [1, 1, 1, np.nan]), ("maxnumf", [1, 1, 3, np.nan])]
)
def test_a_number_counts_before_nan(op: str, want: list[float], element: str) -> None:
    type_ = f"tensor<4x{element}>"
    text = f"""func.func @main(%a: {type_}, %b: {type_}) -> {type_} {{
      %0 = arith.{op} %a, %b : {type_}
      return %0 : {type_}
    }}"""
    dtype = FORMATS[element].dtype
    a, b = np.array([1, np.nan, 3, np.nan], dtype), np.array([np.nan, 1, 1, np.nan], dtype)
    (got,) = mlir_fp8.compile(text)(a, b)
    np.testing.assert_array_equal(got.astype(np.float64), want)
