"""From wide floats to XLA:GPU in one: scales in bf16 behind a bf16 product, layouts, options."""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scaled_programs import Program, module_text, sample
from torch_mlir import ir
from xla_gpu_cases import AB, E4, E5

import mlir_fp8
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.recipes import CurrentScaling, DelayedScaling, StaticScaling
from mlir_fp8.passes.pass_pipeline import run_pipeline

STEP = """
func.func @main(%x: tensor<32x64xbf16>, %w: tensor<64x48xbf16>, %v: tensor<48x32xbf16>, %g: tensor<32x32xbf16>)
    -> (tensor<32x32xbf16>, tensor<48x32xbf16>, tensor<32x48xbf16>, tensor<64x48xbf16>) {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xbf16>, tensor<64x48xbf16>) -> tensor<32x48xbf16>
  %t = stablehlo.tanh %h : tensor<32x48xbf16>
  %y = stablehlo.dot_general %t, %v, contracting_dims = [1] x [0] : (tensor<32x48xbf16>, tensor<48x32xbf16>) -> tensor<32x32xbf16>
  %dv0 = stablehlo.dot_general %g, %t, contracting_dims = [0] x [0] {mlir_fp8.gradient = "lhs"} : (tensor<32x32xbf16>, tensor<32x48xbf16>) -> tensor<32x48xbf16>
  %dv = stablehlo.transpose %dv0, dims = [1, 0] : (tensor<32x48xbf16>) -> tensor<48x32xbf16>
  %dt = stablehlo.dot_general %g, %v, contracting_dims = [1] x [1] {mlir_fp8.gradient = "lhs"} : (tensor<32x32xbf16>, tensor<48x32xbf16>) -> tensor<32x48xbf16>
  %dw = stablehlo.dot_general %x, %dt, contracting_dims = [0] x [0] {mlir_fp8.gradient = "rhs"} : (tensor<32x64xbf16>, tensor<32x48xbf16>) -> tensor<64x48xbf16>
  return %y, %dv, %dt, %dw : tensor<32x32xbf16>, tensor<48x32xbf16>, tensor<32x48xbf16>, tensor<64x48xbf16>
}
"""  # noqa: E501


def arguments(*magnitudes: float) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    shapes = [(32, 64), (64, 48), (48, 32), (32, 32)]
    return [
        (random.standard_normal(shape) * size).astype(ml_dtypes.bfloat16)
        for shape, size in zip(shapes, magnitudes, strict=True)
    ]


def bits(results: Sequence[np.ndarray]) -> list[Any]:
    return [np.ascontiguousarray(each).view(f"u{each.itemsize}").tolist() for each in results]


@pytest.mark.parametrize(
    ("recipe", "magnitudes"),
    [
        ("current", (1, 1, 1, 1)),
        ("current", (1e-30, 1e30, 1e-3, 1e-12)),
        ("current", (1e-37, 1e-37, 1, 1e-37)),
        ("delayed", (1e25, 1e-20, 0, 1)),
        ("transformer_engine", (1e-3, 1, 1, 1e-37)),
    ],
)
def test_the_fast_form_has_the_same_bits(recipe: str, magnitudes: tuple[float, ...]) -> None:
    """Of the largest scales and the smallest, and results that are subnormal or overflow."""
    scaling = (
        CurrentScaling(power_of_two=True)
        if recipe == "current"
        else DelayedScaling(
            history=4, power_of_two=True, order="flax" if recipe == "delayed" else recipe
        )
    )
    plain = mlir_fp8.quantize(STEP, scaling)
    fast = mlir_fp8.quantize(STEP, scaling, target="xla-gpu")
    text = str(fast.module)
    assert text.count("stablehlo.dot_general") == 5
    assert "xf32>, tensor<32x64xf32>" not in text  # no dot of f32
    state = [np.asarray(each) for each in plain.state.values()]
    steps = [mlir_fp8.compile(each.module) for each in (plain, fast)]
    for _ in range(2):
        want, got = (each(*arguments(*magnitudes), *state) for each in steps)
        assert bits(got) == bits(want)
        state = list(plain.split(want)[1].values())


def test_no_product_is_wide_and_none_is_converted() -> None:
    module = mlir_fp8.quantize(STEP, "current", target="xla-gpu").module
    lines = [line for line in str(module).splitlines() if "dot_general" in line]
    assert all(line.rstrip().endswith("xbf16>") for line in lines)
    forward, backward = (
        [line for line in lines if "f8" in line],
        [line for line in lines if "f8" not in line],
    )
    assert (len(forward), len(backward)) == (2, 3)
    assert all("HIGHEST" in line for line in backward)
    # The product that gives the transposed gradient has its operands swapped.
    assert "tensor<32x48xbf16>, tensor<32x32xbf16>) -> tensor<48x32xbf16>" in str(module)


def test_codes_are_row_major_once_each() -> None:
    text = str(mlir_fp8.quantize(STEP, "current", target="xla-gpu").module)
    calls = [line for line in text.splitlines() if "@LayoutConstraint" in line]
    assert len(calls) == 6  # x, w, t, v, g, dt
    assert all("result_layouts = [dense<[1, 0]> : tensor<2xindex>]" in each for each in calls)
    plain = text_of("layouts=false")
    assert "LayoutConstraint" not in plain and "stablehlo.transpose" in plain


@pytest.mark.parametrize(
    ("recipe", "count"), [("delayed", 6), ("transformer_engine", 6), ("current", 0)]
)
def test_histories_are_apart_from_their_newest_element(recipe: str, count: int) -> None:
    made = mlir_fp8.quantize(STEP, recipe, target="xla-gpu")
    assert str(made.module).count("stablehlo.optimization_barrier") == count
    module = mlir_fp8.load(STEP)
    run_pipeline(module, [f"quantize-for-xla-gpu-pipeline{{recipe={recipe} layouts=false}}"])
    assert "optimization_barrier" not in str(module)


def text_of(options: str, text: str = STEP) -> str:
    module = mlir_fp8.load(text)
    run_pipeline(module, [f"quantize-for-xla-gpu-pipeline{{recipe=current {options}}}"])
    return str(module)


def test_scales_that_are_no_powers_of_two_need_the_option() -> None:
    plain = text_of("power-of-two=false")
    assert "f8E4M3FN>) -> tensor<32x48xf32>" in plain
    fast = text_of("power-of-two=false allow-reassociation allow-excess-precision")
    assert "f8E4M3FN>) -> tensor<32x48xbf16>" in fast


ONE = {"a_scale": "f32"}
BF16 = Program("to bf16", AB | ONE | {"b_scale": "f32"}, ["64x32xbf16"])
GRADIENT = Program(
    "gradient", {"a": f"64x128x{E5}", "b": f"128x32x{E4}"} | ONE, ["64x32xbf16"], "dot_type = bf16"
)
ROWS = Program("rows", AB | {"a_scale": "64x1xf32", "b_scale": "1x32xf32"}, ["64x32xbf16"])


@pytest.mark.parametrize("program", [BF16, GRADIENT, ROWS], ids=lambda each: each.name)
def test_excess_precision_is_within_the_bound(program: Program) -> None:
    """docs/xla_gpu.md: the scaled sum moves by a factor within 1 +- ((1 + 2^-8)^2 - 1) and more."""
    module = mlir_fp8.load(module_text([program]))
    given = sample([program])
    (want,) = mlir_fp8.compile(module)(*given)
    options = "allow-reassociation=true allow-excess-precision=true"
    run_pipeline(module, f"builtin.module(fp8-canonicalize-for-xla-gpu{{{options}}})")
    assert "tensor<64x32xf32>" not in str(module)
    (got,) = mlir_fp8.compile(module)(*given)
    a, b, *scales = (np.asarray(each, np.float64) for each in given)
    exact = np.abs((a @ b) * np.prod(np.broadcast_arrays(*scales), axis=0))
    unit = 2.0**-8
    bound = ((1 + unit) ** (3 if program is ROWS else 2) - 1) * (1 + unit) + unit + 1e-5
    far = np.abs(got.astype(np.float64) - want.astype(np.float64))
    assert np.all(far <= (bound + unit) * exact + 1e-30)
    assert np.any(far > 0)


def test_constant_powers_of_two_are_known() -> None:
    scaled = AB | {"a_scale": "f32", "b_scale": "f32"}
    for number, element in ((0.25, "bf16"), (0.3, "f32"), (2.0**-60, "f32")):
        program = Program("c", scaled, ["64x32xbf16"],
                          constants={"a_scale": 0.5, "b_scale": number})  # fmt: skip
        module = mlir_fp8.load(module_text([program]))
        run_pipeline(module, "builtin.module(fp8-canonicalize-for-xla-gpu)")
        assert f"xf8E4M3FN>) -> tensor<64x32x{element}>" in str(module), number


def test_static_and_row_scales_take_the_form_too() -> None:
    names = [f"dot{number}.{side}" for number in range(5) for side in ("lhs", "rhs")]
    static = StaticScaling(dict.fromkeys(names, 0.3), power_of_two=True)
    for recipe in (static, CurrentScaling(per="row", power_of_two=True)):
        plain = mlir_fp8.quantize(STEP, recipe, min_size=32)
        fast = mlir_fp8.quantize(STEP, recipe, min_size=32, target="xla-gpu")
        assert "f8E4M3FN>) -> tensor<32x48xbf16>" in str(fast.module)
        want, got = (
            mlir_fp8.compile(each.module)(*arguments(1, 1, 1, 1)) for each in (plain, fast)
        )
        assert bits(got) == bits(want)


def test_loops_carry_state_into_the_form() -> None:
    text = """
    func.func @main(%x: tensor<32x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<32x32xbf16>
      cond {
        %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %n = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
        stablehlo.return %n, %y : tensor<i32>, tensor<32x32xbf16>
      }
      return %r#1 : tensor<32x32xbf16>
    }"""  # noqa: E501
    made = mlir_fp8.quantize(text, "transformer_engine", target="xla-gpu")
    assert "f8E4M3FN>) -> tensor<32x32xbf16>" in str(made.module)
    assert len(made.state) == 4


def test_fp8_that_is_there_already_is_fused_first() -> None:
    scaled = Program("there", AB | {"a_scale": "bf16", "b_scale": "bf16"}, ["64x32xbf16"],
                     "operand_type = bf16, dot_type = bf16")  # fmt: skip
    module = mlir_fp8.load(module_text([scaled]))
    run_pipeline(module, ["fp8-legalize-to-stablehlo"])
    run_pipeline(module, ["quantize-for-xla-gpu-pipeline"])
    assert str(module).count("stablehlo.dot_general") == 1
    assert "fp8.state" not in str(module), "it is quantized a second time"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            "epsilon=1",
            "pipeline 'quantize-for-xla-gpu-pipeline' has no option 'epsilon' (options: ",
        ),
        ("recipe=int9", "'int9' is no recipe"),
        ("recipe=int8", "recipe is int8, whose StableHLO XLA runs as it is: run fp8-quantize-dots"),
        ("recipe=mx power-of-two", "recipe is mx, which has no power_of_two"),
        ("platform=tpu", "option 'platform' is one of cuda, rocm, not 'tpu'"),
    ],
)
def test_options_that_are_refused(options: str, reason: str) -> None:
    with pytest.raises(Fp8Error, match=reason.replace("(", r"\(")):
        run_pipeline(mlir_fp8.load(STEP), [f"quantize-for-xla-gpu-pipeline{{{options}}}"])


@pytest.mark.parametrize("also", ["", "kernels=h200", "kernels=h200 attention"])
@pytest.mark.parametrize("recipe", ["mx", "nvfp4"])
def test_blocks_become_block_scaled_dots(recipe: str, also: str) -> None:
    module = mlir_fp8.load(
        """func.func @main(%a: tensor<8x64xf32>, %b: tensor<64x4xf32>) -> tensor<8x4xf32> {
          %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
          return %0 : tensor<8x4xf32>
        }"""
    )
    options = f"recipe={recipe} {also}"
    run_pipeline(module, [f"quantize-for-xla-gpu-pipeline{{{options}}}"])
    assert "@__op$block_scaled_dot(" in str(module) and '"fp8.' not in str(module)


def test_arguments_that_are_refused() -> None:
    with pytest.raises(Fp8Error, match="target is 'xla-tpu': it is 'xla-gpu', or None"):
        mlir_fp8.quantize(STEP, target="xla-tpu")
    refused: list[dict[str, Any]] = [{"allow_reassociation": True}, {"kernels": "h200"}]
    for options in refused:
        with pytest.raises(Fp8Error, match="go with target='xla-gpu'"):
            mlir_fp8.quantize(STEP, **options)
    with pytest.raises(
        Fp8Error, match=r"'target' is one of h100, h200, or a table's \.json, not 'tpu'"
    ):
        mlir_fp8.quantize(STEP, target="xla-gpu", kernels="tpu")


def test_kernels_take_the_place_of_large_quantizations() -> None:
    """Of activations that are multiplied along both dimensions, as in a step with gradients."""
    step = re.sub(r"(?<=[<x])(32|48|64)(?=x)", lambda match: str(int(match[1]) * 64), STEP)
    made = mlir_fp8.quantize(step, "delayed", target="xla-gpu", kernels="h200")
    text = str(made.module)
    assert text.count('kernel_type = "ptx"') == text.count("__gpu$xla.gpu.ptx") > 0
    assert "fp8." not in text.replace("mlir_fp8.", "")
    dots = re.findall(r"stablehlo.dot_general .*-> tensor<[0-9x]*(\w+)>", text)
    assert set(dots) == {"bf16"}  # the kernels' scales are powers of two
    assert len(dots) + text.count('name = "product"') == 5
    options = "{recipe=delayed kernels=h200}"
    by_pipeline = mlir_fp8.load(step)
    run_pipeline(by_pipeline, [f"quantize-for-xla-gpu-pipeline{options}"])
    assert str(by_pipeline).count("__gpu$xla.gpu.ptx") == text.count("__gpu$xla.gpu.ptx")


def test_other_judges_and_artifacts_take_the_form() -> None:
    made = mlir_fp8.quantize(STEP, "current", target="xla-gpu")
    held: ir.Module = mlir_fp8.deserialize(mlir_fp8.serialize(made.module))
    assert str(held).count("@LayoutConstraint") == 6
    if find_spec("jax"):
        verdict = mlir_fp8.compare(held, *arguments(1, 1, 1, 1), judges=("llvm", "xla"))
        assert all(each.relative <= 1e-2 for each in verdict.agreements)
