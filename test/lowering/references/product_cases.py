"""Sums of products with exact results: operands, the types they come in, and how to compare.

Integers are of any size and wrap around; floats are small integers, so that every sum is exact in
f32, and the one rounding to the declared type is all that is left to predict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from float_cases import assert_codes, nearest, tensor

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.dialects.float_formats import FORMATS, NARROW_FLOATS

Elements = tuple[str, str, str]
"""The element types of the two operands and of the result."""

INTEGERS: list[Elements] = [
    ("i1", "i1", "i1"), ("i1", "i1", "i32"), ("i2", "i2", "i2"), ("ui2", "ui2", "ui2"),
    ("i4", "i4", "i4"), ("ui4", "ui4", "ui4"), ("i4", "i4", "i8"), ("ui4", "ui4", "ui32"),
    ("i8", "i8", "i8"), ("ui8", "ui8", "ui8"), ("i8", "i8", "i32"), ("ui8", "i8", "i32"),
    ("ui8", "ui8", "ui32"), ("i16", "i16", "i64"), ("ui16", "ui16", "ui16"),
    ("i32", "i32", "i32"), ("ui32", "ui32", "ui64"), ("i32", "i32", "i8"), ("i64", "i64", "i64"),
    ("ui64", "ui64", "ui64"), ("i8", "i8", "f32"), ("ui8", "i8", "bf16"), ("i32", "i32", "f32"),
    ("i8", "f8E4M3FN", "f32"),
]  # fmt: skip
FLOATS: list[Elements] = [
    *((name, name, name) for name in FORMATS),
    ("f8E4M3FN", "f8E5M2", "f32"), ("f8E4M3FN", "f8E4M3FN", "f32"), ("f8E5M2", "f8E5M2", "bf16"),
    ("f8E4M3FNUZ", "f8E5M2FNUZ", "f16"), ("f8E3M4", "f8E4M3", "f8E5M2"),
    ("f8E8M0FNU", "f8E4M3FN", "f32"), ("f6E2M3FN", "f6E3M2FN", "f32"),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN"), ("bf16", "bf16", "f32"),
    ("bf16", "f32", "f32"), ("f16", "f16", "f64"), ("f32", "f32", "f64"), ("f64", "f64", "f32"),
    ("f64", "f32", "bf16"),
]  # fmt: skip
COMPLEX: list[Elements] = [
    ("complex<f32>", "complex<f32>", "complex<f32>"),
    ("complex<f64>", "complex<f64>", "complex<f64>"),
    ("complex<f32>", "complex<f32>", "complex<f64>"),
    ("complex<f64>", "complex<f64>", "complex<f32>"),
    ("f32", "complex<f32>", "complex<f32>"),
]
ELEMENTS = [*INTEGERS, *FLOATS, *COMPLEX]


@dataclass(frozen=True)
class Product:
    """One op: its name and attributes, its operands in exact numbers, and the exact result."""

    form: str
    op: str
    attributes: str
    operands: tuple[np.ndarray, ...]
    elements: tuple[str, ...]
    result: np.ndarray
    result_element: str


def operand(generator: np.random.Generator, shape: Sequence[int], element: str) -> np.ndarray:
    """Numbers that `element` holds, in i64, ui64, f64 or complex<f64>."""
    if element == "i1":
        return generator.integers(0, 2, shape)
    if "i" in element:
        bits = int(element.strip("ui"))
        low, high = (0, 1 << bits) if element[0] == "u" else (-1 << bits - 1, 1 << bits - 1)
        if bits == 64:
            dtype = np.dtype(f"{'u' * (element[0] == 'u')}int64")
            return generator.integers(low, high, shape, dtype)
        return generator.integers(low, high, shape)
    if element == "f8E8M0FNU":
        return 2.0 ** generator.integers(0, 3, shape)
    if element.startswith("complex"):
        return generator.integers(-3, 5, shape) + 1j * generator.integers(-3, 5, shape)
    return generator.integers(-3, 5, shape).astype(np.float64)


def exact_type(elements: Sequence[str], result: str) -> np.dtype:
    """What the reference computes in: ui64 wraps around as every integer type does."""
    if any(each.startswith("complex") for each in elements):
        return np.dtype(np.complex128)
    is_integer = all("i" in each for each in elements) and "i" in result
    return np.dtype(np.uint64 if is_integer else np.float64)


def program(products: Sequence[Product]) -> tuple[str, list[np.ndarray]]:
    """One module of all `products`, and its arguments; the results are in their order."""
    arguments, results, body, inputs = [], [], [], []
    for number, product in enumerate(products):
        names = []
        for place, (array, element) in enumerate(
            zip(product.operands, product.elements, strict=True)
        ):
            name, outside = f"%a{number}_{place}", outer(element)
            arguments.append(f"{name}: {tensor(array.shape, outside)}")
            inputs.append(array.astype(element_dtype(outside)))
            names.append(_converted(body, name, array.shape, outside, element))
        types = ", ".join(
            tensor(array.shape, element)
            for array, element in zip(product.operands, product.elements, strict=True)
        )
        shape, element = product.result.shape, product.result_element
        body.append(
            f'%r{number} = "{product.op}"({", ".join(names)}) {{{product.attributes}}}'
            f" : ({types}) -> {tensor(shape, element)}"
        )
        results.append(_converted(body, f"%r{number}", shape, element, outer(element)))
    types = ", ".join(tensor(p.result.shape, outer(p.result_element)) for p in products)
    text = "\n".join(body)
    return (
        f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{text}\n"
        f"return {', '.join(results)} : {types}\n}}"
    ), inputs


def outer(element: str) -> str:
    """numpy has no integers of less than a byte: they are converted inside."""
    return f"{element[:-1]}8" if element in ("i2", "i4", "ui2", "ui4") else element


def _converted(body: list[str], name: str, shape: Sequence[int], old: str, new: str) -> str:
    if old == new:
        return name
    types = f"({tensor(shape, old)}) -> {tensor(shape, new)}"
    body.append(f"{name}_converted = stablehlo.convert {name} : {types}")
    return f"{name}_converted"


def assert_exact(product: Product, got: np.ndarray) -> None:
    """`got` is the exact result, wrapped around or rounded once, to the bit."""
    what = f"{product.op} ({product.form}): {', '.join(product.elements)}"
    want, element = product.result, product.result_element
    assert got.shape == want.shape, what
    if element in NARROW_FLOATS:
        fmt = FORMATS[element]
        assert_codes(fmt, got.reshape(-1), nearest(fmt, want.reshape(-1)))
        return
    if element == "i1":
        want = want != 0
    elif "i" in element and want.dtype == np.uint64:
        bits = int(element.strip("ui"))
        shift = np.uint64(64 - bits)
        want = want << shift
        want = want >> shift if element[0] == "u" else want.view(np.int64) >> (64 - bits)
    np.testing.assert_array_equal(got, want.astype(got.dtype), what)
