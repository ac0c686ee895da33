"""XLA's `ApproxTopK` and `TopK`: exact, with XLA's order of ties, zeros and NaN."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mlir_fp8
from mlir_fp8.aot.library import make_library
from mlir_fp8.compiling.compile_options import CompileOptions

NAN, INF = np.nan, np.inf


def _approximate(
    element: str, direction: str, sizes: str, kept: str, dim: int = 0, target: str = "ApproxTopK"
) -> str:
    """As JAX writes `lax.approx_max_k` and `approx_min_k` of one dim or two."""
    wide, narrow = f"tensor<{sizes}x", f"tensor<{kept}x"
    return f"""
    func.func @comparator(%a: tensor<{element}>, %b: tensor<{element}>, %i: tensor<i32>,
                          %j: tensor<i32>) -> tensor<i1> {{
      %0 = stablehlo.compare {direction}, %a, %b
        : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }}
    func.func @main(%x: {wide}{element}>) -> ({narrow}{element}>, {narrow}i32>) {{
      %places = stablehlo.iota dim = {dim} : {wide}i32>
      %worst = stablehlo.constant dense<0.0> : tensor<{element}>
      %none = stablehlo.constant dense<-1> : tensor<i32>
      %0:2 = stablehlo.custom_call @{target}(%x, %places, %worst, %none) {{
        backend_config = "", called_computations = [@comparator], mhlo.backend_config = {{
          aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32,
          reduction_dim = {dim} : i64, reduction_input_size_override = -1 : i64}}}}
        : ({wide}{element}>, {wide}i32>, tensor<{element}>, tensor<i32>)
        -> ({narrow}{element}>, {narrow}i32>)
      return %0#0, %0#1 : {narrow}{element}>, {narrow}i32>
    }}"""


@pytest.mark.parametrize(
    ("element", "dtype", "direction", "wanted"),
    [
        ("f32", np.float32, "GT", [1, 3, 5, 2, 0, 4, 6, 7]),  # 0.0 above -0.0
        ("f64", np.float64, "GT", [1, 3, 5, 2, 0, 4, 6, 7]),
        ("bf16", ml_dtypes.bfloat16, "GT", [1, 3, 5, 2, 0, 4, 6, 7]),
        ("f32", np.float32, "LT", [6, 7, 0, 4, 2, 1, 3, 5]),  # here they are equal
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn, "LT", [6, 7, 0, 4, 2, 1, 3, 5]),
    ],
)
def test_ties_stay_in_order(element: str, dtype: type, direction: str, wanted: list[int]) -> None:
    given = np.array([1, 3, 2, 3, 1, 3, 0, -0.0]).astype(dtype)
    values, places = mlir_fp8.compile(_approximate(element, direction, "8", "8"))(given)
    assert places.tolist() == wanted
    assert values.tobytes() == given[wanted].tobytes()


def test_zeros_of_f32_are_ordered_by_sign_and_those_of_f64_by_place() -> None:
    given = np.array([-0.0, 0.0])
    first = mlir_fp8.compile(_approximate("f32", "GT", "2", "1"))(given.astype(np.float32))
    second = mlir_fp8.compile(_approximate("f64", "GT", "2", "1"))(given)
    assert (first[1].tolist(), second[1].tolist()) == ([1], [0])


def test_nan_is_above_all_or_below_all_by_its_sign() -> None:
    given = np.array([1, NAN, -INF, -NAN, NAN, INF], np.float32)
    _, places = mlir_fp8.compile(_approximate("f32", "GT", "6", "6"))(given)
    assert places.tolist() == [1, 4, 5, 0, 2, 3]


def test_along_another_dim_and_as_many_as_are_declared() -> None:
    given = np.array([[1, 5], [3, 2], [2, 9]], np.float32)
    values, places = mlir_fp8.compile(_approximate("f32", "LT", "3x2", "2x2"))(given)
    assert (values.tolist(), places.tolist()) == ([[1, 2], [2, 5]], [[0, 1], [2, 0]])
    values, _ = mlir_fp8.compile(_approximate("f32", "GT", "3x2", "3x1", dim=1))(given)
    assert values.tolist() == [[5], [3], [9]]
    values, _ = mlir_fp8.compile(_approximate("f32", "GT", "0x2", "0x1", dim=1))(given[:0])
    assert values.shape == (0, 1)


def test_top_k_of_optimized_hlo() -> None:
    program = """func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
      %0:2 = stablehlo.custom_call @TopK(%x)
        : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
      return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
    }"""
    values, places = mlir_fp8.compile(program)(np.array([[1, 3, 3], [-0.0, NAN, 0]], np.float32))
    np.testing.assert_array_equal(values, [[3, 3], [NAN, 0]])
    assert places.tolist() == [[1, 2], [1, 2]]


def test_a_library_for_c_has_no_comparator() -> None:
    module = mlir_fp8.load(_approximate("f32", "GT", "8", "3"))
    assert [f.name for f in make_library(module, "m", CompileOptions()).functions] == ["m_main"]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_approximate("f32", "GT", "8", "9"), "for tensor<9xf32> of tensor<8xf32> along dim 0"),
        (_approximate("f32", "GT", "8x2", "8x3"), "for tensor<8x3xf32> of tensor<8x2xf32>"),
        (_approximate("f32", "GT", "8", "3").replace("reduction_dim =", "other ="),
         "without a reduction_dim"),
        (_approximate("f32", "GT", "8", "3").replace("[@comparator]", "[]"), "with 0 computations"),
        (_approximate("f32", "GT", "8", "3").replace("[@comparator]", "[@gone]"), "has no body"),
        (_approximate("f32", "GT", "8", "3", target="TopK"), "on other than one tensor"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(program: str, reason: str) -> None:
    with pytest.raises(mlir_fp8.Fp8Error, match=f"'stablehlo.custom_call' calls .*{reason}"):
        mlir_fp8.compile(program)


_JAX = """
import sys, numpy, jax
from jax import lax
x = numpy.random.default_rng(0).integers(-9, 9, (5000, 3)).astype(numpy.float32)
functions = {
    "max": lambda a: lax.approx_max_k(a, 4, reduction_dimension=0),
    "min": lambda a: lax.approx_min_k(a, 2),
    "some": lambda a: lax.approx_max_k(a, 3, reduction_dimension=0, aggregate_to_topk=False),
    "of a batch": jax.vmap(lambda a: lax.approx_min_k(a, 3)),
    "exact": lambda a: lax.top_k(a.T, 9),
}
made = {"x": x}
for name, function in functions.items():
    jitted = jax.jit(function)
    made[name + ".text"] = numpy.array(jitted.lower(x).as_text())
    for side, each in zip(("values", "places"), jitted(x)):
        made[f"{name}.{side}"] = numpy.asarray(each)
numpy.savez(sys.argv[1], **made)
"""


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed")
def test_as_xla_has_it(tmp_path: Path) -> None:
    file = tmp_path / "made.npz"
    subprocess.run([sys.executable, "-c", _JAX, file], check=True, capture_output=True)
    made = np.load(file)
    names = [key.removesuffix(".text") for key in made.files if key.endswith(".text")]
    assert len(names) == 5
    for name in names:
        values, places = mlir_fp8.compile(str(made[f"{name}.text"]))(made["x"])
        np.testing.assert_array_equal(values, made[f"{name}.values"])
        np.testing.assert_array_equal(places, made[f"{name}.places"])
