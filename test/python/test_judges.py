"""One module by three judges; XLA is one of them wherever jax is installed."""

import math
from importlib.util import find_spec
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import TensorSpec, element_dtype, restored
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.judging import judges, xla_judge
from mlir_fp8.tools import _run_judges, _run_options

MODELS = Path(__file__).parent.parent / "models"
INSTALLED = ["llvm", "interpreter", *(["xla"] if find_spec("jax") else [])]
OTHERS = INSTALLED[1:]
XLA_LACKS = ("f6E2M3FN", "f6E3M2FN")
TYPES = [*FORMATS, "i1", "i8", "i64", "ui8", "ui64", "complex<f32>", "complex<f64>"]
CUSTOM_CALL = """\
func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @unknown(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
MULTIPLY = """\
func.func @main(%a: tensor<256xf8E4M3FN>, %b: tensor<256xf8E4M3FN>) -> tensor<256xf8E4M3FN> {
  %0 = stablehlo.multiply %a, %b : tensor<256xf8E4M3FN>
  return %0 : tensor<256xf8E4M3FN>
}
"""


def identity(spec: TensorSpec) -> str:
    return f"func.func @main(%a: {spec}) -> {spec} {{ return %a : {spec} }}"


def codes() -> np.ndarray:
    return np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)


def verdict(
    monkeypatch: pytest.MonkeyPatch, got: np.ndarray, want: np.ndarray, element: str
) -> judges.Verdict:
    """As if `llvm` gave `want`, and `interpreter` gave `got`."""
    monkeypatch.setitem(judges.ENGINES, "llvm", lambda *_: (want,))
    monkeypatch.setitem(judges.ENGINES, "interpreter", lambda *_: (got,))
    spec = TensorSpec(want.shape, element)
    return mlir_fp8.compare(identity(spec), want, judges=("llvm", "interpreter"))


def no_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xla_judge, "find_spec", lambda _: None)


def test_the_tool_knows_the_judges() -> None:
    assert tuple(judges.ENGINES) == _run_options.JUDGES


def array_of(element: str) -> np.ndarray:
    dtype = element_dtype(element)
    if element not in FORMATS:
        return np.arange(6).astype(dtype).reshape(2, 3)
    codes = np.random.default_rng(0).integers(0, 1 << FORMATS[element].bits, 6, np.uint64)
    return codes.astype(f"uint{dtype.itemsize * 8}").view(dtype).reshape(2, 3)


@pytest.mark.parametrize("judge", INSTALLED)
def test_arrays_pass_with_their_bits(judge: str) -> None:
    lacking = XLA_LACKS if judge == "xla" else ()
    for element in lacking:
        module, array = mlir_fp8.load(identity(TensorSpec((2, 3), element))), array_of(element)
        with pytest.raises(mlir_fp8.Fp8Error, match=r"^XLA: .*Invalid XLA PrimitiveType"):
            judges.run_by(judge, module, [array], "main", [])
    elements = [each for each in TYPES if each not in lacking]
    specs = [TensorSpec((2, 3), element) for element in elements]
    arrays = [array_of(element) for element in elements]
    listed = ", ".join(map(str, specs))
    arguments = ", ".join(f"%arg{index}: {spec}" for index, spec in enumerate(specs))
    returned = ", ".join(f"%arg{index}" for index in range(len(specs)))
    module = mlir_fp8.load(
        f"func.func @main({arguments}) -> ({listed}) {{ return {returned} : {listed} }}"
    )
    results = judges.run_by(judge, module, arrays, "main", specs)
    for array, result in zip(arrays, results, strict=True):
        assert result.dtype == array.dtype
        assert result.tobytes() == array.tobytes()


@pytest.mark.parametrize("judge", OTHERS)
def test_f8_products_agree(judge: str) -> None:
    found = mlir_fp8.compare(MULTIPLY, codes(), codes()[::-1].copy(), judges=("llvm", judge))
    assert found.is_good
    assert (found.agreements[0].max_ulp, found.agreements[0].relative) == (0, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("judge", [each for each in INSTALLED if each != "interpreter"])
def test_bf16_sums_of_the_interpreter(judge: str) -> None:
    # It rounds them at every step, the others once.
    given = dict(restored(np.load(MODELS / "transformer_forward.in.npz"))).values()
    module = mlir_fp8.load(MODELS / "transformer_forward.mlirbc")
    found = mlir_fp8.compare(module, *given, judges=(judge, "interpreter"))
    assert found.is_comparison
    assert not found.is_good
    assert 1e-3 < found.agreements[0].relative < 0.2


@pytest.mark.parametrize(
    ("judge", "name"),
    [
        ("interpreter", "mlp_delayed_scaling"),
        *(("xla", path.stem) for path in MODELS.glob("*.mlirbc") if "xla" in INSTALLED),
    ],
)
def test_models_against_stored_results(judge: str, name: str) -> None:
    given, wanted = (
        [array for _, array in restored(np.load(MODELS / f"{name}.{which}.npz"))]
        for which in ("in", "out")
    )
    module = mlir_fp8.load(MODELS / f"{name}.mlirbc")
    specs = [TensorSpec(array.shape, "f32") for array in wanted]
    results = judges.run_by(judge, module, given, "main", specs)
    for got, want in zip(results, wanted, strict=True):
        assert judges.compare_arrays(got, want, 1e-5).is_good


@pytest.mark.parametrize(
    ("got", "want", "element", "ulp", "first"),
    [
        ([1.0, 1.125], [1.0, 1.0], "f8E4M3FN", 1, ((1,), "1.125", "1.")),
        # Codes in value order: the smallest of either sign are two steps apart.
        ([0.0, -(2.0**-9)], [0.0, 2.0**-9], "f8E4M3FN", 2, ((1,), "-0.001953125", "0.001953125")),
        ([-0.0, math.nan], [0.0, math.nan], "f32", 0, ((0,), "-0.", "0.")),
        ([math.inf, 1.0], [1.0, 1.0], "bf16", math.inf, ((0,), "inf", "1.")),
        ([1.0, 2.0], [1.0, 2.0], "f4E2M1FN", 0, None),
        ([7, 2], [3, 2], "i32", 4, ((0,), "7", "3")),
        ([1j, 2], [1j, 2], "complex<f64>", 0, None),
    ],
)
def test_distances(
    got: list[float],
    want: list[float],
    element: str,
    ulp: float,
    first: tuple[tuple[int], str, str] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dtype = element_dtype(element)
    (row,) = verdict(monkeypatch, np.array(got, dtype), np.array(want, dtype), element).agreements
    assert row.max_ulp == ulp
    found = row.first and (row.first.index, row.first.got, row.first.want)
    assert found == first
    assert row.is_good == (ulp == 0)


def test_within_the_tolerance_the_first_difference_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    want = np.ones((2, 3), np.float32)
    got = want.copy()
    got[1, 2] = np.nextafter(np.float32(1), np.float32(2))
    found = verdict(monkeypatch, got, want, "f32")
    assert found.is_good
    assert "first at [1, 2]: interpreter 1.0000001, llvm 1." in "\n".join(
        _run_judges.table(found, str)
    )


def test_a_judge_that_gives_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    want = np.ones(2, np.float32)
    found = verdict(monkeypatch, want.astype(np.float64), want, "f32")
    refusal = found.opinions[1].refusal
    assert refusal == "interpreter gave result 0 as tensor<2xf64>, declared tensor<2xf32>"
    assert not found.is_good


def test_without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    no_xla(monkeypatch)
    found = mlir_fp8.compare(MULTIPLY, codes(), codes(), judges=("xla", "llvm", "interpreter"))
    assert found.opinions[0].refusal == "jax is not installed: install mlir-fp8[xla]"
    assert found.reference == "llvm"
    assert found.is_good


def test_fewer_than_two_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    no_xla(monkeypatch)
    found = mlir_fp8.compare(MULTIPLY, codes(), codes(), judges=("llvm", "xla"))
    assert not found.is_comparison
    assert not found.is_good
    assert len(list(_run_judges.table(found, str))) == 1


@pytest.mark.parametrize("judge", INSTALLED)
def test_what_no_judge_knows(judge: str) -> None:
    spec = TensorSpec((2,), "f32")
    with pytest.raises(mlir_fp8.Fp8Error) as caught:
        judges.run_by(judge, mlir_fp8.load(CUSTOM_CALL), [np.ones(2, np.float32)], "main", [spec])
    assert "custom" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("judge", INSTALLED)
def test_another_entry_beside_what_cannot_run(judge: str) -> None:
    module = mlir_fp8.load(f"{CUSTOM_CALL}{MULTIPLY.replace('@main', '@other')}")
    spec = TensorSpec((256,), "f8E4M3FN")
    (result,) = judges.run_by(judge, module, [codes(), codes()], "other", [spec])
    want = (codes() * codes()).astype(np.float32)
    np.testing.assert_array_equal(result.astype(np.float32), want)


@pytest.mark.parametrize("names", [("llvm",), ("llvm", "llvm"), ("llvm", "gpu"), ()])
def test_names(names: tuple[str, ...]) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match="name two or more of llvm, interpreter, xla"):
        mlir_fp8.compare(MULTIPLY, codes(), codes(), judges=names)


def test_arguments_are_checked_once() -> None:
    pair = ("llvm", "interpreter")
    with pytest.raises(mlir_fp8.Fp8Error, match="takes 2 arguments, 1 were given"):
        mlir_fp8.compare(MULTIPLY, codes(), judges=pair)
    with pytest.raises(mlir_fp8.Fp8Error, match="argument 1 is tensor<2xf32>, declared"):
        mlir_fp8.compare(MULTIPLY, codes(), np.ones(2, np.float32), judges=pair)
