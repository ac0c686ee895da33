"""dot_general, convolution and einsum as native code, against exact sums."""

import numpy as np
import pytest
from float_cases import assert_codes, call, code_dtype, compile_ops, nearest, tensor
from product_cases import COMPLEX, ELEMENTS, Elements, assert_exact, program
from product_forms import cases

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS

WHOLE = [
    ("i1", "i1", "i1"), ("ui8", "ui8", "ui32"), ("f8E4M3FN", "f8E5M2", "f32"),
    ("f32", "f32", "f32"), ("complex<f32>", "complex<f32>", "complex<f32>"),
]  # fmt: skip


@pytest.mark.sampled(10)
@pytest.mark.parametrize("elements", ELEMENTS, ids="-".join)
def test_products(elements: Elements) -> None:
    """All forms of a few types; of the others each form with every fifth."""
    products = cases(elements)
    if elements not in WHOLE:
        products = products[ELEMENTS.index(elements) % 5 :: 5]
    text, inputs = program(products)
    for product, got in zip(products, mlir_fp8.compile(text)(*inputs), strict=True):
        assert_exact(product, got)


@pytest.mark.parametrize(
    "elements", [("i8", "i8", "i32"), ("f8E4M3FN", "f8E5M2", "f32"), COMPLEX[0]], ids="-".join
)
def test_the_interpreter_agrees(elements: Elements) -> None:
    """But for what it cannot do: no elements to sum, and results that begin with a spatial dim."""
    products = [
        each
        for each in cases(elements)
        if each.op in ("stablehlo.dot_general", "stablehlo.convolution")
        and all(array.size for array in each.operands)
        and "->[0" not in each.attributes
    ]
    text, inputs = program(products)
    for product, got in zip(
        products, mlir_fp8.interpret(mlir_fp8.load(text), *inputs), strict=True
    ):
        assert_exact(product, got)


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2FNUZ", "f8E8M0FNU", "bf16", "f6E2M3FN"])
def test_einsums_that_only_move_keep_every_bit(element: str) -> None:
    fmt = FORMATS[element]
    codes = np.arange(1 << min(fmt.bits, 8), dtype=code_dtype(fmt)) << max(0, fmt.bits - 8)
    x = codes.reshape(-1, 4, 4).view(fmt.dtype)
    types = [tensor(x.shape, element)]
    operations = [
        call(
            "stablehlo.unary_einsum", types, tensor(shape, element), f'{{einsum_config = "{each}"}}'
        )
        for each, shape in (("ijk->kij", (4, len(x), 4)), ("ijj->ji", (4, len(x))))
    ]
    moved, diagonal = compile_ops(types, operations)(x)
    assert moved.tobytes() == x.transpose(2, 0, 1).tobytes()
    assert diagonal.tobytes() == np.einsum("ijj->ji", x.view(codes.dtype)).tobytes()


def test_einsum_rounds_once() -> None:
    """The sum over k, the products and their sum would be three roundings in f8."""
    fmt = FORMATS["f8E4M3FN"]
    generator = np.random.default_rng(6)
    a, b = (generator.standard_normal(shape).astype(fmt.dtype) for shape in ((64, 4), (4, 5)))
    types = [tensor(a.shape, fmt.name), tensor(b.shape, fmt.name)]
    op = call("stablehlo.einsum", types, tensor([64], fmt.name), '{einsum_config = "ij,jk->i"}')
    (got,) = compile_ops(types, [op])(a, b)
    want = np.einsum("ij,jk->i", a.astype(np.float64), b.astype(np.float64))
    assert_codes(fmt, got, nearest(fmt, want))


def test_the_diagonal_takes_nothing_from_beside_it() -> None:
    x = np.array([[1, np.inf], [np.nan, 2]], np.float32)
    types = ["tensor<2x2xf32>"]
    op = call("stablehlo.unary_einsum", types, "tensor<f32>", '{einsum_config = "ii->"}')
    assert compile_ops(types, [op])(x)[0] == 3


@pytest.mark.parametrize(
    ("elements", "reason"),
    [
        (("f32", "f32", "i32"), "of floats gives i32: give it a float result and convert that"),
        (("complex<f32>", "complex<f32>", "f32"), "of complex numbers gives f32"),
    ],
    ids=["floats", "complex"],
)
def test_results_of_another_kind_are_refused(elements: Elements, reason: str) -> None:
    for op in ("dot_general", "convolution", "einsum"):
        product = next(each for each in cases(elements) if op in each.op)
        with pytest.raises(Fp8Error, match=f"'stablehlo.{op}' {reason}"):
            mlir_fp8.compile(program([product])[0])
