"""Products of bf16 by AMX and by `bfmmla`: exact where they would take subnormal numbers for
zero."""

import ml_dtypes
import numpy as np
import pytest
from kernel_products import Form, compiled, program
from test_amx import needs_amx

import mlir_fp8
from mlir_fp8.dialects.float_formats import FORMATS

AMX, ARM = "amx-bf16", "neon-bf16"
each_target = pytest.mark.parametrize("target", [AMX, ARM])
PAIRS = [("bf16", "bf16"), ("f8E4M3FN", "bf16"), ("bf16", "f8E5M2")]
FORMS = [
    Form("mk,kn->mn", {"m": 70, "k": 130, "n": 40}),
    Form("mk,nk->mn", {"m": 33, "k": 1100, "n": 65}),
    Form("km,kn->mn", {"m": 97, "k": 33, "n": 19}),
    Form("km,nk->mn", {"m": 13, "k": 67, "n": 33}),
    Form("bmk,bnk->bmn", {"b": 9, "m": 16, "k": 64, "n": 16}),
]
MIXED = Form("mk,nk->mn", {"m": 200, "k": 64, "n": 70})
ROUNDED, BY_TILES = 2.0**24, 2.0**24 + 2
"""What 2^24 + 1 + 1 is where numbers are added one by one, and where every other one is apart."""
TO_NEAREST, TO_ODD = 2.0**24 + 4, 2.0**24 + 6
"""What 2^24 + 4 + 1 rounds to."""


def run(
    form: Form, elements: tuple[str, str], *arrays: np.ndarray, target: str = AMX
) -> np.ndarray:
    (got,) = compiled(program([(form, elements)]), target)(*arrays)
    return got


def exact(form: Form, *arrays: np.ndarray) -> np.ndarray:
    return np.einsum(form.letters, *(each.astype(np.float64) for each in arrays))


def whole_numbers(
    form: Form, elements: tuple[str, str], scales: tuple[int, int]
) -> list[np.ndarray]:
    """Of both operands, those of bf16 times powers of two."""
    generator = np.random.default_rng(3)
    found = []
    for letters, element, scale in zip(form.operands, elements, scales, strict=True):
        numbers = generator.integers(-3, 4, form.shape(letters)).astype(np.float64)
        scale = scale if element == "bf16" else 0
        found.append((numbers * 2.0**scale).astype(np.float32).astype(FORMATS[element].dtype))
    return found


@each_target
@pytest.mark.parametrize("elements", PAIRS, ids="-".join)
def test_numbers_of_all_sizes(elements: tuple[str, str], exhaustive: bool, target: str) -> None:
    """Normal, subnormal from one side or both, and with subnormal products of normal numbers."""
    scales = [(0, 0), (-133, 0), (0, -133), (-70, -70)]
    scales += [(-100, -20), (-74, -75), (100, -133), (-133, 100)] if exhaustive else []
    cases = [(form, elements) for form in FORMS for _ in scales]
    arrays = [whole_numbers(form, elements, each) for form in FORMS for each in scales]
    results = compiled(program(cases), target)(*(each for pair in arrays for each in pair))
    for (form, _), pair, got in zip(cases, arrays, results, strict=True):
        np.testing.assert_array_equal(got, exact(form, *pair), err_msg=str(form))


@each_target
@pytest.mark.parametrize("second", [2, 1, 40, 1100], ids=["lane", "pair", "step", "block"])
@pytest.mark.parametrize("elements", PAIRS, ids="-".join)
def test_what_is_left_of_sums_at_the_smallest_normal_number(
    elements: tuple[str, str], second: int, target: str
) -> None:
    """(1 + a) (1 + b) - (1 + a + b), where a and b are the last places of numbers from 1 on.

    Codes are the smallest that have all bits.
    """
    formats = [FORMATS[each] for each in elements]
    a, b = (2.0**-fmt.mantissa_bits for fmt in formats)
    cases, arrays, wanted = [], [], []
    form = Form("mk,kn->mn", {"m": 40, "k": 1200, "n": 35})
    for exponent in range(-129, -123):
        left, right = (np.zeros(form.shape(each)) for each in form.operands)
        left[:, 0], left[:, second] = 1 + a, 1
        right[0], right[second] = 1 + b, -(1 + a + b)
        if elements[0] == "bf16":
            left[:, second], right[second] = 1 + a + b, -1
        scales = [fmt.smallest_subnormal * 2.0**fmt.mantissa_bits for fmt in formats]
        if elements == ("bf16", "bf16"):
            scales[0] = 2.0**-50
        narrow = elements.index("bf16") if elements != ("bf16", "bf16") else 1
        scales[narrow] = 2.0**exponent / (a * b * scales[1 - narrow])
        arrays += [
            (each * scale).astype(np.float32).astype(fmt.dtype)
            for each, scale, fmt in zip((left, right), scales, formats, strict=True)
        ]
        cases.append((form, elements))
        wanted.append(2.0**exponent)
    for got, want in zip(compiled(program(cases), target)(*arrays), wanted, strict=True):
        np.testing.assert_array_equal(got, np.full((40, 35), want))


def rounding_operands() -> tuple[np.ndarray, np.ndarray]:
    """Of `MIXED`: the results are `ROUNDED` or `BY_TILES`."""
    left, right = (np.zeros(MIXED.shape(each)) for each in MIXED.operands)
    left[:, 0], left[:, 1], left[:, 3] = 2.0**24, 1, 1
    right[:, :4] = 1
    return left, right


def test_only_blocks_with_small_numbers_do_without_tiles() -> None:
    """Zero times 2^-130 in one panel of 32 columns, and in the block of the last eight rows."""
    left, right = rounding_operands()
    right[40, 5] = 2.0**-130
    left[195, 6] = 2.0**-130
    left, right = (each.astype(ml_dtypes.bfloat16) for each in (left, right))
    want = np.full((200, 70), BY_TILES)
    want[:, 32:64] = ROUNDED
    want[192:] = ROUNDED
    np.testing.assert_array_equal(run(MIXED, ("bf16", "bf16"), left, right), want)


def odd_operands() -> tuple[np.ndarray, np.ndarray]:
    """Of `MIXED`: the results are `TO_NEAREST` or, by `bfmmla`, `TO_ODD`."""
    left, right = (np.zeros(MIXED.shape(each)) for each in MIXED.operands)
    left[:, 0], left[:, 4], left[:, 8] = 2.0**24, 4, 1
    right[:, [0, 4, 8]] = 1
    return left, right


def test_only_blocks_with_small_numbers_do_without_bfmmla() -> None:
    """Zero times 2^-130 in one panel of eight columns, and in the block of the last eight rows."""
    left, right = odd_operands()
    right[40, 5] = 2.0**-130
    left[195, 6] = 2.0**-130
    left, right = (each.astype(ml_dtypes.bfloat16) for each in (left, right))
    want = np.full((200, 70), TO_ODD)
    want[:, 40:48] = TO_NEAREST
    want[192:] = TO_NEAREST
    got = run(MIXED, ("bf16", "bf16"), left, right, target=ARM)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("number", [0.0, -0.0, np.inf, 2.0**100, 2.0**-100, -(2.0**-112)])
def test_numbers_that_lose_nothing_go_by_bfmmla(number: float) -> None:
    left, right = odd_operands()
    right[3, 7] = number
    want = np.full((200, 70), TO_ODD)
    want[:, 3] = np.nan if np.isinf(number) else TO_ODD
    left, right = (each.astype(ml_dtypes.bfloat16) for each in (left, right))
    got = run(MIXED, ("bf16", "bf16"), left, right, target=ARM)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("number", [0.0, -0.0, np.inf, 2.0**100, 2.0**-100, -(2.0**-112)])
def test_numbers_that_lose_nothing_go_by_tiles(number: float) -> None:
    left, right = rounding_operands()
    right[3, 7] = number
    want = np.full((200, 70), BY_TILES)
    want[:, 3] = np.nan if np.isinf(number) else BY_TILES
    left, right = (each.astype(ml_dtypes.bfloat16) for each in (left, right))
    np.testing.assert_array_equal(run(MIXED, ("bf16", "bf16"), left, right), want)


@each_target
@pytest.mark.parametrize("elements", PAIRS, ids="-".join)
def test_nan_and_infinity(elements: tuple[str, str], target: str) -> None:
    """Infinity times a subnormal number is infinity, times zero NaN; NaN stays in its row."""
    form = Form("mk,kn->mn", {"m": 40, "k": 33, "n": 70})
    left, right = (np.ones(form.shape(each)) for each in form.operands)
    narrow = left if elements[0] == "bf16" else right
    narrow[:, 4] = 2.0**-130
    left[7, 9] = np.nan
    right[32, 69] = np.nan
    if elements[0] == "bf16":
        left[11, 32] = np.inf
        right[32, 3] = 0
    arrays = [
        each.astype(np.float32).astype(FORMATS[e].dtype)
        for each, e in zip((left, right), elements, strict=True)
    ]
    with np.errstate(invalid="ignore"):
        want = exact(form, *arrays).astype(np.float32)
    np.testing.assert_array_equal(run(form, elements, *arrays, target=target), want)
    tiny = np.full((33, 70), 2.0**-130).astype(ml_dtypes.bfloat16)
    infinite = np.full((40, 33), np.inf).astype(ml_dtypes.bfloat16)
    got = run(form, ("bf16", "bf16"), infinite, tiny, target=target)
    np.testing.assert_array_equal(got, np.full((40, 70), np.inf))


@each_target
@pytest.mark.parametrize("m", [13, pytest.param(97, marks=pytest.mark.exhaustive)])
def test_groups_of_blocks(m: int, target: str) -> None:
    """More than 32 blocks of 1024; of numbers that are subnormal only here and there."""
    form = Form("mk,nk->mn", {"m": m, "k": 34500, "n": 5})
    left, right = whole_numbers(form, ("bf16", "bf16"), (0, 0))
    for place in (5, 3000, 34499):
        left[:, place] = 0
        right[:, place] = np.float32(2.0**-130)
    got = run(form, ("bf16", "bf16"), left, right, target=target)
    np.testing.assert_array_equal(got, exact(form, left, right))


@each_target
def test_bf16_that_is_computed(target: str) -> None:
    """Rounded to bf16 on the way into the product."""
    text = """func.func @main(%a: tensor<40x64xf32>, %b: tensor<64x70xbf16>) -> tensor<40x70xf32> {
      %0 = stablehlo.convert %a : (tensor<40x64xf32>) -> tensor<40x64xbf16>
      %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
        : (tensor<40x64xbf16>, tensor<64x70xbf16>) -> tensor<40x70xf32>
      return %1 : tensor<40x70xf32> }"""
    generator = np.random.default_rng(2)
    left = (generator.integers(-3, 4, (40, 64)) * (1 + 2.0**-9)).astype(np.float32)
    right = generator.integers(-3, 4, (64, 70)).astype(ml_dtypes.bfloat16)
    for scale in (1.0, 2.0**-133):
        (got,) = compiled(text, target)(left * np.float32(scale), right)
        rounded = (left * np.float32(scale)).astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(got, rounded.astype(np.float64) @ right.astype(np.float64))


@needs_amx
@pytest.mark.parametrize("elements", PAIRS, ids="-".join)
def test_emulated_tiles_give_the_processors_bits(elements: tuple[str, str]) -> None:
    generator = np.random.default_rng(1)
    for form in FORMS[:4]:
        left, right = (
            generator.standard_normal(form.shape(each)).astype(np.float32).astype(FORMATS[e].dtype)
            for each, e in zip(form.operands, elements, strict=True)
        )
        text = program([(form, elements)])
        own, emulated = (compiled(text, AMX, emulates=each)(left, right) for each in (False, True))
        np.testing.assert_array_equal(own, emulated)


@needs_amx
@pytest.mark.parametrize(
    "form",
    [
        Form("mk,kn->mn", {"m": 400, "k": 128, "n": 256}),
        Form("mk,nk->mn", {"m": 64, "k": 128, "n": 1024}),
        Form("bmk,bnk->bmn", {"b": 12, "m": 64, "k": 128, "n": 64}),
    ],
    ids=str,
)
def test_threads_change_no_bit(form: Form) -> None:
    """What goes by tiles does not depend on who multiplies what."""
    generator = np.random.default_rng(4)
    left, right = (generator.standard_normal(form.shape(each)) for each in form.operands)
    for each in (left, right):
        small = generator.random(each.shape) < 10 / each.size
        each[small] *= 2.0**-128
    arrays = [each.astype(ml_dtypes.bfloat16) for each in (left, right)]
    text = program([(form, ("bf16", "bf16"))])
    one, *others = (mlir_fp8.compile(text, threads=each)(*arrays) for each in (1, 2, 3))
    for each in others:
        np.testing.assert_array_equal(one, each)
