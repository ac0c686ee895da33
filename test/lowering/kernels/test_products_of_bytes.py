"""dot_general of i8 and ui8 to i32 by kernels for each target: the bits of sums that wrap."""

from itertools import product

import numpy as np
import pytest
from kernel_products import Case, Form, compiled, program, targets, to_kernels

import mlir_fp8
from mlir_fp8.compiling.entry import copy_of
from mlir_fp8.lowering.kernels.vector_code.target import TARGETS, host_target

KINDS = {"i8": np.int8, "ui8": np.uint8}
PAIRS = [*product(KINDS, KINDS)]
LETTERS = ("mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn")
SIZES = [
    (37, 53, 45),
    (1, 70, 35),
    (3, 40, 21),
    (33, 19, 1),
    (18, 33, 2),
    (64, 520, 32),
    (16, 150, 70),
    (11, 64, 33),
]
FORMS = [
    Form(letters, dict(zip("mkn", sizes, strict=True))) for letters in LETTERS for sizes in SIZES
]
FORMS += [
    Form("mk,nk->mn", {"m": 35, "k": 2100, "n": 67}),
    Form("mk,nk->mn", {"m": 11, "k": 192, "n": 128}),
    Form("km,nk->mn", {"m": 16, "k": 64, "n": 64}),
    Form("mk,kn->mn", {"m": 5, "k": 35000, "n": 3}),
    Form("bmk,bkn->bmn", {"b": 3, "m": 7, "k": 11, "n": 9}),
    Form("bmhd,bnhd->bhmn", {"b": 2, "h": 3, "m": 10, "n": 9, "d": 8}),
    Form("k,kn->n", {"k": 37, "n": 18}),
    Form("mk,k->m", {"k": 37, "m": 18}),
]


def _arrays(cases: list[Case]) -> list[np.ndarray]:
    """All bytes, the extremes often."""
    generator = np.random.default_rng(5)
    found = []
    for form, elements in cases:
        for letters, element in zip(form.operands, elements, strict=True):
            numbers = generator.integers(0, 256, form.shape(letters))
            ends = generator.choice([0x7F, 0x80, 0xFF], numbers.shape)
            numbers = np.where(generator.random(numbers.shape) < 0.3, ends, numbers)
            found.append(numbers.astype(np.uint8).view(KINDS[element]))
    return found


def _assert_right(cases: list[Case], target: str, *, emulates: bool = False) -> None:
    arrays = _arrays(cases)
    results = compiled(program(cases), target, emulates=emulates)(*arrays)
    for i, ((form, elements), got) in enumerate(zip(cases, results, strict=True)):
        pair = (each.astype(np.int32) for each in arrays[2 * i : 2 * i + 2])
        want = np.einsum(form.letters, *pair, dtype=np.int32)
        np.testing.assert_array_equal(got, want, err_msg=f"{form} {elements}")


@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("elements", PAIRS, ids=str)
def test_forms(target: str, elements: tuple[str, str], exhaustive: bool) -> None:
    forms = FORMS if exhaustive else FORMS[PAIRS.index(elements) :: 4]
    _assert_right([(form, elements) for form in forms], target)


@pytest.mark.parametrize("target", ["avx512-vbmi", "avx2", "baseline"])
@pytest.mark.parametrize("elements", PAIRS, ids=str)
def test_emulated_instructions_give_the_same(target: str, elements: tuple[str, str]) -> None:
    _assert_right(
        [(Form("mk,kn->mn", {"m": 9, "k": 70, "n": 19}), elements)], target, emulates=True
    )


@pytest.mark.parametrize("elements", PAIRS, ids=str)
def test_each_pair_of_bytes(elements: tuple[str, str]) -> None:
    """Outer products, of one number each: a row for each byte, a column for each."""
    form = Form("mk,kn->mn", {"m": 256, "k": 1, "n": 256})
    codes = np.arange(256, dtype=np.uint8)
    left, right = (codes.view(KINDS[each]) for each in elements)
    want = np.multiply.outer(left.astype(np.int32), right.astype(np.int32))
    for target in {host_target().name, "avx512-vnni", "avx2"}:
        (got,) = compiled(program([(form, elements)]), target)(left[:, None], right[None])
        np.testing.assert_array_equal(got, want)


def test_sums_wrap() -> None:
    depth = 140000
    left, right = (np.full(shape, 255, np.uint8) for shape in ((2, depth), (depth, 3)))
    form = Form("mk,kn->mn", {"m": 2, "k": depth, "n": 3})
    for target in {host_target().name, "avx512-vnni", "avx2"}:
        (got,) = compiled(program([(form, ("ui8", "ui8"))]), target)(left, right)
        # 9,103,500,000 less two times 2^32.
        assert (got == 513_565_408).all()


def test_threads_and_rows_of_all_kinds() -> None:
    form = Form("mk,nk->mn", {"m": 300, "k": 700, "n": 530})
    text = program([(form, ("i8", "i8"))])
    left, right = _arrays([(form, ("i8", "i8"))])
    want = left.astype(np.int32) @ right.astype(np.int32).T
    for threads in (1, 2, 3):
        (got,) = mlir_fp8.compile(text, threads=threads)(left, right)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("target", "elements", "name"),
    [
        ("amx-bf16", ("i8", "i8"), "tdpbssd"),
        ("amx-bf16", ("i8", "ui8"), "tdpbsud"),
        ("amx-bf16", ("ui8", "i8"), "tdpbusd"),
        ("amx-bf16", ("ui8", "ui8"), "tdpbuud"),
        ("avx512-bf16", ("i8", "i8"), "avx512.vpdpbusd.512"),
        ("avx2-vnni", ("i8", "i8"), "avx512.vpdpbusd.256"),
        ("avx512", ("i8", "i8"), "avx512.pmaddw.d.512"),
        ("zen", ("i8", "i8"), "avx2.pmadd.wd"),
    ],
)
def test_instructions(target: str, elements: tuple[str, str], name: str) -> None:
    assert target in TARGETS
    form = Form("mk,kn->mn", {"m": 32, "k": 64, "n": 32})
    module = copy_of(mlir_fp8.load(program([(form, elements)])))
    to_kernels(module, f"target={target}")
    assert f"call @llvm.x86.{name}(" in str(module)
    assert "linalg.generic" not in str(module)


@pytest.mark.parametrize(
    ("elements", "name"),
    [
        (("i8", "i8"), "tdpbssd"),
        (("i8", "ui8"), "tdpbusd"),
        (("ui8", "i8"), "tdpbsud"),
        (("ui8", "ui8"), "tdpbuud"),
    ],
)
@pytest.mark.parametrize("target", ["amx-bf16", "amx-bf16-if-permitted"])
def test_tiles_of_what_lies_in_place(target: str, elements: tuple[str, str], name: str) -> None:
    """Where they are whole; the operand that is not packed is on the left."""
    found = []
    for k, n in ((128, 192), (128, 191), (120, 192)):
        form = Form("mk,nk->mn", {"m": 12, "k": k, "n": n})
        module = copy_of(mlir_fp8.load(program([(form, elements)])))
        to_kernels(module, f"target={target} min-size=1")
        assert "call @skinny" in str(module)
        found.append(f"call @llvm.x86.{name}(" in str(module))
        by_vectors = "call @llvm.x86.avx512.vpdpbusd.512(" in str(module)
        assert by_vectors == (not found[-1] or target != "amx-bf16")
    assert found == [True, False, False]


def test_other_sums_of_integers_keep_their_loops() -> None:
    text = """func.func @main(%a: tensor<32x32xi16>, %b: tensor<32x32xi8>) -> tensor<32x32xi32> {
      %x = stablehlo.convert %a : (tensor<32x32xi16>) -> tensor<32x32xi32>
      %y = stablehlo.convert %b : (tensor<32x32xi8>) -> tensor<32x32xi32>
      %z = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
        : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi32>
      return %z : tensor<32x32xi32> }"""
    module = copy_of(mlir_fp8.load(text))
    to_kernels(module, "min-size=1")
    assert "call @product" not in str(module)
    generator = np.random.default_rng(3)
    left = generator.integers(-(1 << 15), 1 << 15, (32, 32)).astype(np.int16)
    right = generator.integers(-128, 128, (32, 32)).astype(np.int8)
    want = left.astype(np.int32) @ right.astype(np.int32)
    (got,) = mlir_fp8.compile(text)(left, right)
    np.testing.assert_array_equal(got, want)
