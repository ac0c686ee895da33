"""dot_general by kernels for each target: all forms and formats, against exact sums."""

import numpy as np
import pytest
from kernel_products import Case, Form, compiled, integers, program, targets

from mlir_fp8.dialects.float_formats import FORMATS, SMALL_FLOATS
from mlir_fp8.lowering.rewriting.kernel_functions import KernelFunctions

FORMS = [
    Form(letters, dict(zip("mnk", sizes, strict=True)))
    for letters in ("mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn")
    for sizes in (
        (37, 45, 53),
        (1, 35, 70),
        (3, 21, 40),
        (33, 1, 19),
        (18, 2, 33),
        (64, 32, 520),
        (7, 35, 1100),
    )
]
FORMS.append(Form("mk,nk->mn", {"m": 19, "n": 500, "k": 530}))  # few rows, beside so many
# Several groups of reduction blocks: panels, row blocks, few rows by dot products and by axpy.
LONG = [
    Form("mk,kn->mn", {"m": 13, "n": 35, "k": 17500}),
    Form("km,nk->mn", {"m": 97, "n": 2, "k": 17000}),
    Form("mk,nk->mn", {"m": 5, "n": 67, "k": 34567}),
    Form("mk,nk->mn", {"m": 1, "n": 3, "k": 200000}),
    Form("mk,kn->mn", {"m": 3, "n": 21, "k": 2100}),
    Form("mk,kn->mn", {"m": 1, "n": 5, "k": 34567}),
    Form("bmk,bkn->bmn", {"b": 2, "m": 9, "n": 3, "k": 17000}),
]
BATCHES = [
    Form("bmk,bkn->bmn", {"b": 3, "m": 7, "n": 9, "k": 11}),
    Form("bmhd,bnhd->bhmn", {"b": 2, "h": 3, "m": 10, "n": 9, "d": 8}),
    Form("bhmn,bnhd->bhmd", {"b": 2, "h": 3, "m": 10, "n": 9, "d": 8}),
    Form("bsm,bsn->mn", {"b": 2, "s": 9, "m": 17, "n": 18}),
    Form("bsk,khn->bshn", {"b": 2, "s": 9, "k": 17, "h": 3, "n": 5}),
    Form("k,kn->n", {"k": 37, "n": 18}),
    Form("mk,k->m", {"k": 37, "m": 18}),
]


PAIRS = [*zip(SMALL_FLOATS, [*SMALL_FLOATS][1:] + [*SMALL_FLOATS][:1], strict=True)]
PAIRS += [("bf16", "bf16"), ("f16", "f16"), ("f32", "f32"), ("f8E4M3FN", "bf16"), ("f32", "f16")]
PAIRS += [("bf16", "f8E4M3FN"), ("f32", "f8E4M3FNUZ"), ("f16", "f8E4M3B11FNUZ")]


def assert_right(cases: list[Case], target: str) -> None:
    """Integers, so that sums are exact; all in one module."""
    generator = np.random.default_rng(7)
    arrays = [
        [
            integers(generator, form.shape(o), e)
            for o, e in zip(form.operands, elements, strict=True)
        ]
        for form, elements in cases
    ]
    results = compiled(program(cases), target)(*(each for pair in arrays for each in pair))
    for (form, elements), pair, got in zip(cases, arrays, results, strict=True):
        want = np.einsum(form.letters, *(array.astype(np.float64) for array in pair))
        np.testing.assert_array_equal(got, want, err_msg=f"{form} {elements}")


@pytest.mark.parametrize("target", targets())
def test_forms(target: str, exhaustive: bool) -> None:
    forms = FORMS if exhaustive else FORMS[::3]
    assert_right([(form, ("f8E4M3FN", "f8E5M2")) for form in forms], target)


@pytest.mark.parametrize("target", targets())
def test_groups_of_blocks(target: str) -> None:
    assert_right([(form, ("f8E4M3FN", "f8E5M2")) for form in LONG], target)


def test_nan_in_one_of_many_blocks() -> None:
    """Reaches its column from the first, the last, and one in between."""
    for letters in ("mk,nk->mn", "mk,kn->mn"):
        form = Form(letters, {"m": 1, "n": 7, "k": 140001})
        ones = [np.ones(form.shape(each), np.float32) for each in form.operands]
        left, right = (each.astype(FORMATS["f8E4M3FN"].dtype) for each in ones)
        matrix = right if letters == "mk,kn->mn" else right.T
        for column, row in enumerate((0, 70000, 140000)):
            matrix[row, column] = np.float32("nan")
        (got,) = compiled(program([(form, ("f8E4M3FN", "f8E4M3FN"))]), "avx2")(left, right)
        np.testing.assert_array_equal(got[0], [np.nan] * 3 + [140001] * 4)


@pytest.mark.parametrize("element", ["f8E4M3FN", "bf16"])
def test_products_of_one_shape_are_right(element: str) -> None:
    """They share buffers of f32, one product after the other."""
    assert_right([(FORMS[0], (element, element))] * 3, "avx2")


@pytest.mark.parametrize("target", targets("avx512-bf16", "avx2"))
def test_batches(target: str) -> None:
    assert_right([(form, ("f8E5M2", "f8E4M3FN")) for form in BATCHES], target)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", targets("avx512-bf16", "avx2", "zen"))
@pytest.mark.parametrize(
    ("letters", "m"), [("mk,kn->mn", 19), ("km,nk->mn", 19), ("mk,nk->mn", 2), ("mk,kn->mn", 1)]
)
def test_formats(letters: str, m: int, target: str) -> None:
    form = Form(letters, {"m": m, "n": 37, "k": 43})
    assert_right([(form, elements) for elements in PAIRS], target)


@pytest.mark.parametrize("target", targets("avx512-bf16", "avx2", "zen", "baseline"))
def test_every_code(target: str) -> None:
    """Each code times one, NaN and infinity too; beside it nothing else is NaN."""
    cases, arrays = [], []
    for fmt in SMALL_FLOATS.values():
        codes = np.arange(1 << fmt.bits, dtype=np.uint8).view(fmt.dtype)
        for m in (1, 20):
            cases.append((Form("mk,kn->mn", {"m": m, "n": len(codes), "k": 1}), (fmt.name,) * 2))
            arrays += [np.ones((m, 1), np.float32).astype(fmt.dtype), codes[None]]
    for got, codes in zip(compiled(program(cases), target)(*arrays), arrays[1::2], strict=True):
        np.testing.assert_array_equal(got, np.broadcast_to(codes.astype(np.float32), got.shape))


@pytest.mark.parametrize("elements", [("f8E4M3FN", "f8E4M3FN"), ("f32", "f32")], ids="-".join)
def test_infinity_and_nan_reach_their_row(elements: tuple[str, str]) -> None:
    form = Form("mk,kn->mn", {"m": 13, "n": 37, "k": 21})
    left, right = np.ones((13, 21), np.float32), np.zeros((21, 37), np.float32)
    left[5, 20] = np.nan
    right[3, 30] = np.nan
    arrays = [a.astype(FORMATS[e].dtype) for a, e in zip((left, right), elements, strict=True)]
    for target in ("avx512-bf16", "avx2"):
        (got,) = compiled(program([(form, elements)]), target)(*arrays)
        want = np.zeros((13, 37))
        want[5], want[:, 30] = np.nan, np.nan
        np.testing.assert_array_equal(got, want)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("target", targets("avx512-bf16", "avx2", "zen", "neon"))
@pytest.mark.parametrize("letters", ["mk,kn->mn", "mk,nk->mn"])
def test_nan_and_infinity_in_blocks_of_codes(letters: str, target: str) -> None:
    """In every lane of a block of codes, and in the tail."""
    generator = np.random.default_rng(5)
    sizes = {"n": 165, "k": 203}
    cases, arrays, wanted = [], [], []
    for fmt in (each for each in SMALL_FLOATS.values() if each.bits == 8 and each.has_zero):
        for m in (1, 3, 7):
            form = Form(letters, {"m": m, **sizes})
            pair = [integers(generator, form.shape(each), fmt.name) for each in form.operands]
            matrix = pair[1] if letters == "mk,kn->mn" else pair[1].T
            for place, column in enumerate(generator.permutation(sizes["n"])[:40]):
                row = generator.integers(sizes["k"])
                odd = np.inf if fmt.has_infinity and place % 2 else np.nan
                matrix[row, column] = np.float32(-odd if place % 3 else odd)
                pair[0][:, row] = 1
            cases.append((form, (fmt.name, fmt.name)))
            arrays += pair
            with np.errstate(invalid="ignore"):
                wanted.append(pair[0].astype(np.float64) @ matrix.astype(np.float64))
    for got, want in zip(compiled(program(cases), target)(*arrays), wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_errors_of_long_sums() -> None:
    """Of f32 numbers: within k roundings of the sum of the products' magnitudes."""
    generator = np.random.default_rng(3)
    m, n, k = 30, 40, 1100
    left, right = (generator.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n)))
    form = Form("mk,kn->mn", {"m": m, "n": n, "k": k})
    (got,) = compiled(program([(form, ("f32", "f32"))]), "avx2")(left, right)
    exact = left.astype(np.float64) @ right.astype(np.float64)
    bound = k * 2.0**-24 * (np.abs(left).astype(np.float64) @ np.abs(right))
    assert (np.abs(got - exact) <= bound).all()


_DEQUANTIZED = """
func.func @main(%a: tensor<{m}x40xf8E4M3FN>, %b: tensor<40x37xf8E5M2>, %s: tensor<f32>,
                %t: tensor<37xbf16>) -> tensor<{m}x37xf32> {{
  %0 = stablehlo.convert %a : (tensor<{m}x40xf8E4M3FN>) -> tensor<{m}x40xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<{m}x40xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<{m}x40xf32>
  %3 = stablehlo.convert %b : (tensor<40x37xf8E5M2>) -> tensor<40x37xbf16>
  %4 = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<37xbf16>) -> tensor<40x37xbf16>
  %5 = stablehlo.multiply %3, %4 : tensor<40x37xbf16>
  %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [0]
    : (tensor<{m}x40xf32>, tensor<40x37xbf16>) -> tensor<{m}x37xf32>
  return %6 : tensor<{m}x37xf32>
}}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["avx512-bf16", "avx2"])
@pytest.mark.parametrize("m", [1, 20])
def test_dequantized_operands(m: int, target: str) -> None:
    """By a scale in f32, and by one per column in bf16: each operand has its own rounding."""
    generator = np.random.default_rng(9)
    bf16 = FORMATS["bf16"].dtype
    a, b = integers(generator, (m, 40), "f8E4M3FN"), integers(generator, (40, 37), "f8E5M2")
    scale, scales = np.float32(0.3), (1 + generator.random(37)).astype(bf16)
    left = a.astype(np.float32) * scale
    right = (b.astype(np.float32) * scales.astype(np.float32)).astype(bf16).astype(np.float64)
    (got,) = compiled(_DEQUANTIZED.format(m=m), target)(a, b, scale, scales)
    bound = 40 * 2.0**-24 * (np.abs(left) @ np.abs(right))
    assert (np.abs(got - left @ right) <= bound).all()


def test_zeros_that_are_an_operand_too() -> None:
    """The buffer of zeros is also the init of the result."""
    text = """
    func.func @main(%a: tensor<24x24xf32>) -> (tensor<24x24xf32>, tensor<24x24xf32>) {
      %z = stablehlo.constant dense<0.0> : tensor<24x24xf32>
      %0 = stablehlo.dot_general %a, %z, contracting_dims = [1] x [0]
        : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      %1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
        : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      return %0, %1 : tensor<24x24xf32>, tensor<24x24xf32>
    }"""
    a = np.arange(24 * 24, dtype=np.float32).reshape(24, 24) % 7
    compiled_module = compiled(text, "avx2")
    for _ in range(2):
        zeros, product = compiled_module(a)
        np.testing.assert_array_equal(zeros, np.zeros((24, 24)))
        np.testing.assert_array_equal(product, a @ a)


def test_names_are_given_once() -> None:
    functions = KernelFunctions({"pack_0"})
    names = [functions.name_of("pack", f"func.func @NAME() {i}") for i in (1, 2, 1, 3)]
    assert names[0] == names[2] and len({*names, "pack_0"}) == 4
    assert [text.partition("@")[2] for text in functions.texts] == [
        f"{name}() {i}" for name, i in zip((names[0], names[1], names[3]), (1, 2, 3), strict=True)
    ]
