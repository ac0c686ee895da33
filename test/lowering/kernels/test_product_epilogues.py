"""What follows a product, computed block by block: the same bits as after the whole product."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from kernel_products import PASS, Case, Form, compiled, targets, tensor

import mlir_fp8
from mlir_fp8 import pipelines
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.passes.pass_pipeline import run_pipeline

FORMS = [
    Form("mk,kn->mn", {"m": 75, "n": 1600, "k": 9}),  # blocks of rows and of columns
    Form("mk,nk->mn", {"m": 37, "n": 45, "k": 1100}),  # blocks of the sum
    Form("km,kn->mn", {"m": 90, "n": 17, "k": 600}),
    Form("mk,kn->mn", {"m": 1, "n": 4200, "k": 5}),  # few rows
    Form("mk,nk->mn", {"m": 1, "n": 131, "k": 70}),
    Form("mk,nk->mn", {"m": 9, "n": 70, "k": 33}),
    Form("mk,nk->mn", {"m": 70, "n": 9, "k": 33}),  # few columns
    Form("mk,nk->mn", {"m": 33, "n": 1, "k": 19}),
    Form("mk,kn->nm", {"m": 19, "n": 29, "k": 10}),  # transposed
    Form("bmk,bkn->bmn", {"b": 3, "m": 17, "n": 9, "k": 11}),
    Form("bmhd,bnhd->bhmn", {"b": 2, "h": 3, "m": 20, "n": 19, "d": 8}),
    Form("bsk,kn->bsn", {"b": 2, "s": 9, "k": 17, "n": 30}),
]
PAIRS = [
    ("f8E4M3FN", "f8E4M3FN"), ("f8E5M2", "f8E4M3FN"), ("f8E4M3FNUZ", "f8E5M2FNUZ"),
    ("f8E3M4", "f8E8M0FNU"), ("bf16", "bf16"), ("f16", "f8E4M3B11FNUZ"), ("f32", "f32"),
]  # fmt: skip


def program(cases: Sequence[Case], results: Sequence[str]) -> str:
    """Of each product: scale, bias, residual, tanh, amax, scale, clamp, cast to one of `results`.

    Per case six arguments, two operands and four of f32; and two results.
    """
    signature, body, types = [], [], []
    for i, ((form, elements), result) in enumerate(zip(cases, results, strict=True)):
        operands, order = form.operands, form.letters.partition("->")[2]
        left, right = (tensor(form.shape(o), e) for o, e in zip(operands, elements, strict=True))
        full, row, cast = (
            tensor(form.shape(letters), e)
            for letters, e in ((order, "f32"), (order[-1], "f32"), (order, result))
        )
        dims = ", ".join(map(str, range(len(order))))
        signature += [f"%a{i}: {left}", f"%b{i}: {right}", f"%s{i}: tensor<f32>"]
        signature += [f"%bias{i}: {row}", f"%x{i}: {full}", f"%t{i}: tensor<f32>"]
        types += [cast, "tensor<f32>"]
        dot = tensor(form.shape(natural(form)), "f32")
        turn = [natural(form).index(letter) for letter in order]
        body.append(f"""
          %dot{i} = stablehlo.dot_general %a{i}, %b{i}{form.attributes()}
            : ({left}, {right}) -> {dot}
          %v0_{i} = stablehlo.transpose %dot{i}, dims = {turn} : ({dot}) -> {full}
          %v1_{i} = stablehlo.broadcast_in_dim %s{i}, dims = [] : (tensor<f32>) -> {full}
          %v2_{i} = stablehlo.multiply %v0_{i}, %v1_{i} : {full}
          %v3_{i} = stablehlo.broadcast_in_dim %bias{i}, dims = [{len(order) - 1}]
            : ({row}) -> {full}
          %v4_{i} = stablehlo.add %v2_{i}, %v3_{i} : {full}
          %v5_{i} = stablehlo.tanh %v4_{i} : {full}
          %v6_{i} = stablehlo.add %v5_{i}, %x{i} : {full}
          %v7_{i} = stablehlo.abs %v6_{i} : {full}
          %v8_{i} = stablehlo.reduce(%v7_{i} init: %least) applies stablehlo.maximum
            across dimensions = [{dims}] : ({full}, tensor<f32>) -> tensor<f32>
          %v9_{i} = stablehlo.broadcast_in_dim %t{i}, dims = [] : (tensor<f32>) -> {full}
          %v10_{i} = stablehlo.divide %v6_{i}, %v9_{i} : {full}
          %v11_{i} = stablehlo.clamp %lo, %v10_{i}, %hi
            : (tensor<f32>, {full}, tensor<f32>) -> {full}
          %v12_{i} = stablehlo.convert %v11_{i} : ({full}) -> {cast}""")
    values = ", ".join(f"%v12_{i}, %v8_{i}" for i in range(len(cases)))
    return f"""func.func @main({", ".join(signature)}) -> ({", ".join(types)}) {{
      %least = stablehlo.constant dense<0.0> : tensor<f32>
      %lo = stablehlo.constant dense<-4.0> : tensor<f32>
      %hi = stablehlo.constant dense<4.0> : tensor<f32>
      {"".join(body)}
      return {values} : {", ".join(types)}
    }}"""


def natural(form: Form) -> str:
    """The letters of the result in the order of dot_general."""
    left, right = form.operands
    result = form.letters.partition("->")[2]
    batch = [each for each in left if each in right and each in result]
    return "".join(
        [*batch, *(x for x in left if x not in right), *(x for x in right if x not in left)]
    )


def arguments(cases: Sequence[Case]) -> list[np.ndarray]:
    generator = np.random.default_rng(5)
    arrays = []
    for form, elements in cases:
        for letters, element in zip(form.operands, elements, strict=True):
            numbers = generator.standard_normal(form.shape(letters)).astype(np.float32)
            arrays.append(abs(numbers) if "E8M0" in element else numbers)
            arrays[-1] = arrays[-1].astype(FORMATS[element].dtype)
        order = form.letters.partition("->")[2]
        bias, residual = (generator.standard_normal(form.shape(x)) for x in (order[-1], order))
        arrays += [np.array(x, np.float32) for x in (0.3, bias, residual, 0.7)]
    return arrays


def assert_same_bits(
    text: str, values: Sequence[np.ndarray], target: str = "avx2"
) -> list[np.ndarray]:
    got = compiled(text, target, epilogues=True)(*values)
    want = compiled(text, target)(*values)
    for one, other in zip(got, want, strict=True):
        bits = f"u{one.itemsize}"
        np.testing.assert_array_equal(np.asarray(one).view(bits), np.asarray(other).view(bits))
    return list(got)


def assert_right(cases: Sequence[Case], results: Sequence[str], target: str) -> None:
    assert_same_bits(program(cases, results), arguments(cases), target)


@pytest.mark.parametrize("target", targets("avx512-bf16", "avx2"))
def test_forms(target: str, exhaustive: bool) -> None:
    forms = FORMS if exhaustive else FORMS[::3]
    cases = [(form, ("f8E4M3FN", "f8E5M2")) for form in forms]
    assert_right(cases, ["f8E4M3FN"] * len(cases), target)


@pytest.mark.parametrize("m", [pytest.param(1, marks=pytest.mark.exhaustive), 20])
def test_formats(m: int) -> None:
    form = Form("mk,kn->mn", {"m": m, "n": 37, "k": 21})
    results = ["f8E4M3FN", "f8E5M2", "bf16", "f8E4M3B11FNUZ", "f8E3M4", "f16", "f32"]
    assert_right([(form, elements) for elements in PAIRS], results, "baseline")


def test_threads_change_no_bit() -> None:
    """Parts: blocks of rows, columns of tiles, columns of few rows, whole products."""
    forms = [
        Form("mk,kn->mn", {"m": 150, "n": 300, "k": 600}),
        Form("mk,kn->mn", {"m": 40, "n": 700, "k": 90}),
        Form("mk,nk->mn", {"m": 3, "n": 1111, "k": 900}),
        Form("mk,kn->mn", {"m": 2, "n": 3000, "k": 400}),
        Form("bmk,bnk->bmn", {"b": 20, "m": 50, "n": 90, "k": 70}),
    ]
    cases = [(form, ("f8E4M3FN", "f8E5M2")) for form in forms]
    text, values = program(cases, ["f8E4M3FN"] * len(cases)), arguments(cases)
    alone, shared = (mlir_fp8.compile(text, threads=threads)(*values) for threads in (1, 3))
    assert [np.asarray(x).tobytes() for x in shared] == [np.asarray(x).tobytes() for x in alone]


_READERS = """
func.func @main(%a: tensor<{m}x40xf8E4M3FN>, %b: tensor<40x37xf8E5M2>, %s: tensor<37xf32>)
    -> (tensor<f32>, tensor<{m}xf32>, tensor<{m}x37xf8E5M2>, tensor<37x{m}xf8E5M2>,
        tensor<{m}x37xf32>) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<{m}x40xf8E4M3FN>, tensor<40x37xf8E5M2>) -> tensor<{m}x37xf32>
  %zero = stablehlo.constant dense<-0.0> : tensor<{m}x37xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<{m}x37xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %least) applies stablehlo.maximum across dimensions = [0, 1]
    : (tensor<{m}x37xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%1 init: %least) applies stablehlo.maximum across dimensions = [1]
    : (tensor<{m}x37xf32>, tensor<f32>) -> tensor<{m}xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<37xf32>) -> tensor<{m}x37xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<{m}x37xf32>
  %6 = stablehlo.convert %5 : (tensor<{m}x37xf32>) -> tensor<{m}x37xf8E5M2>
  %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<{m}x37xf8E5M2>) -> tensor<37x{m}xf8E5M2>
  return %2, %3, %6, %7, %0
    : tensor<f32>, tensor<{m}xf32>, tensor<{m}x37xf8E5M2>, tensor<37x{m}xf8E5M2>,
      tensor<{m}x37xf32>
}}"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("m", [1, 20])
@pytest.mark.parametrize(
    ("number", "largest"), [(-np.nan, np.nan), (np.inf, np.inf), (-np.inf, 40.0), (-0.0, 40.0)]
)
def test_several_readers(m: int, number: float, largest: float) -> None:
    """The f32 result is a result, too; a NaN in it is the maximum."""
    b = np.ones((40, 37), FORMATS["f8E5M2"].dtype)
    b[:, 30] = number
    a = np.ones((m, 40), FORMATS["f8E4M3FN"].dtype)
    got = assert_same_bits(_READERS.format(m=m), [a, b, np.full(37, 0.3, np.float32)])
    np.testing.assert_array_equal(got[0], largest)
    np.testing.assert_array_equal(got[4][:, 30], 40.0 * number)


PATTERNS = sorted((Path(__file__).parents[1] / "patterns").glob("*.mlir"))
_NOTHING_FOLLOWS = ("p02", "p04", "p11", "r02", "r06")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("first", [[], ["fp8-fuse-scaled-dot"]], ids=["ops", "scaled_dot"])
@pytest.mark.parametrize("path", PATTERNS, ids=lambda path: path.stem)
def test_patterns(path: Path, first: list[str]) -> None:
    """All that follows a scaled dot is computed with it, written as one op or as many."""
    module = mlir_fp8.load(path)
    passes = [*first, *pipelines.to_linalg(), *pipelines.to_llvm()]
    run_pipeline(
        module, passes[: next(i for i, each in enumerate(passes) if each.startswith(PASS)) + 1]
    )
    kernels, _, main = str(module).rpartition("func.func @main")
    assert ("@epilogue" in kernels) == (path.stem[:3] not in _NOTHING_FOLLOWS)
    assert main.count("call @product") == 1 and '"parallel"' not in main
    assert re.search(r"memref\.alloc\(\).*x32xf32>", main) is None
