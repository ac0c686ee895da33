"""Products by `bfmmla` and `fdot`, which are emulated here: test/python/test_arm.py runs the first
by qemu; the other one was never run."""

import ml_dtypes
import numpy as np
import pytest
from kernel_products import Form, compiled, integers, program, to_kernels

import mlir_fp8
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.dialects.float_formats import FORMATS

BF16, FP8 = "neon-bf16", "neon-fp8"
SIZES = [(37, 45, 53), (16, 16, 16), (33, 47, 1), (17, 65, 131), (35, 34, 530)]
FORMS = [
    Form(letters, dict(zip("mnk", sizes, strict=True)))
    for letters in ("mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn")
    for sizes in SIZES
]
FORMS.append(Form("bmk,bnk->bmn", {"b": 3, "m": 33, "n": 35, "k": 11}))
FORMS.append(Form("mk,kn->mn", {"m": 19, "n": 17, "k": 17500}))  # several groups of blocks
OCP = [("f8E4M3FN", "f8E4M3FN"), ("f8E4M3FN", "f8E5M2"), ("f8E5M2", "f8E4M3FN"), ("f8E5M2",) * 2]
OUTER = Form("mk,kn->mn", {"m": 256, "k": 1, "n": 256})


def _called(form: Form, elements: tuple[str, str], target: str) -> str:
    """The instruction of the product's micro-kernel."""
    module = copy_of(mlir_fp8.load(program([(form, elements)])))
    to_kernels(module, f"target={target} min-size=1")
    text = str(module)
    for name in ("fp8.fdot4", "bfmmla"):
        if name in text:
            return name
    return "fma" if "vector.fma" in text else "none"


@pytest.mark.parametrize(("target", "pairs"), [(BF16, OCP[1:2]), (FP8, OCP)])
def test_whole_numbers(target: str, pairs: list[tuple[str, str]]) -> None:
    """Every form and size; sums are exact."""
    cases = [(form, pairs[i % len(pairs)]) for i, form in enumerate(FORMS)]
    generator = np.random.default_rng(7)
    arrays = [
        [integers(generator, form.shape(o), e) for o, e in zip(form.operands, pair, strict=True)]
        for form, pair in cases
    ]
    results = compiled(program(cases), target)(*(each for pair in arrays for each in pair))
    for (form, elements), pair, got in zip(cases, arrays, results, strict=True):
        want = np.einsum(form.letters, *(each.astype(np.float64) for each in pair))
        np.testing.assert_array_equal(got, want, err_msg=f"{form} {elements}")


@pytest.mark.parametrize("target", [BF16, FP8])
def test_all_codes_by_all_codes(target: str) -> None:
    """NaN and infinity too; a format for each operand."""
    codes = np.arange(256, dtype=np.uint8)
    arrays, wanted = [], []
    for pair in OCP:
        left, right = (codes.view(FORMATS[each].dtype) for each in pair)
        arrays += [left[:, None], right[None]]
        with np.errstate(invalid="ignore"):
            wanted.append(np.outer(left.astype(np.float32), right.astype(np.float32)))
    results = compiled(program([(OUTER, pair) for pair in OCP]), target)(*arrays)
    for got, want, pair in zip(results, wanted, OCP, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=str(pair))


def test_which_instruction_multiplies() -> None:
    form = FORMS[0]
    expected = {
        (BF16, ("f8E4M3FN", "f8E5M2")): "bfmmla",
        (BF16, ("f8E4M3FNUZ", "f8E3M4")): "bfmmla",
        (BF16, ("f8E8M0FNU", "f8E5M2")): "fma",  # 2^-127
        (BF16, ("f8E5M2", "f32")): "fma",
        (BF16, ("f8E5M2", "f16")): "fma",
        (BF16, ("bf16", "f8E5M2")): "bfmmla",
        (FP8, ("bf16", "f8E5M2")): "bfmmla",
        (FP8, ("f8E4M3FN", "f8E5M2")): "fp8.fdot4",
        (FP8, ("f8E4M3FNUZ", "f8E5M2")): "bfmmla",
        ("neon", ("f8E4M3FN", "f8E5M2")): "fma",
    }
    found = {(target, pair): _called(form, pair, target) for target, pair in expected}
    assert found == expected


def test_each_sum_rounds_to_odd() -> None:
    """2^24 + 4 + 1, between two numbers: the even one is nearest of both, the odd one is 2^24 + 6.

    Terms are a step apart, so that they are no pair.
    """
    left, right = np.zeros((20, 16)), np.ones((16, 20))
    left[:, 0], right[0] = 2.0**15, 2.0**9
    left[:, 4], left[:, 8] = 4, 1
    arrays = [each.astype(np.float32).astype(ml_dtypes.float8_e5m2) for each in (left, right)]
    form = Form("mk,kn->mn", {"m": 20, "k": 16, "n": 20})
    (odd,) = compiled(program([(form, ("f8E5M2", "f8E5M2"))]), BF16)(*arrays)
    (nearest,) = compiled(program([(form, ("f8E5M2", "f8E5M2"))]), "neon")(*arrays)
    assert set(map(int, odd.flat)) == {2**24 + 6} and set(map(int, nearest.flat)) == {2**24 + 4}


@pytest.mark.parametrize("target", [BF16, FP8])
def test_errors_are_those_of_as_many_additions(target: str) -> None:
    """Numbers of all sizes and one sign, whose rounding errors add up; a block is 512 deep."""
    form, pair = Form("mk,nk->mn", {"m": 40, "k": 512, "n": 40}), ("f8E5M2", "f8E5M2")
    generator = np.random.default_rng(3)
    arrays = [
        (1.75 * 2.0 ** generator.integers(-14, 15, form.shape(each)))
        .astype(np.float32)
        .astype(ml_dtypes.float8_e5m2)
        for each in form.operands
    ]
    (got,) = compiled(program([(form, pair)]), target)(*arrays)
    want = np.einsum(form.letters, *(each.astype(np.float64) for each in arrays))
    # An addition of a pair, rounded to odd, counts twice; so does each of a pair's numbers.
    assert (np.abs(got - want) <= (512 + 4) * 2.0**-24 * want).all()
    assert (got != want).any()


def test_nan_stays_in_its_row() -> None:
    form = Form("mk,kn->mn", {"m": 33, "n": 37, "k": 21})
    for target in (BF16, FP8):
        left, right = np.ones((33, 21), np.float32), np.zeros((21, 37), np.float32)
        left[5, 20] = np.nan
        right[3, 30] = np.nan
        arrays = [each.astype(ml_dtypes.float8_e4m3fn) for each in (left, right)]
        (got,) = compiled(program([(form, ("f8E4M3FN", "f8E4M3FN"))]), target)(*arrays)
        want = np.zeros((33, 37))
        want[5], want[:, 30] = np.nan, np.nan
        np.testing.assert_array_equal(got, want)
