"""Products of few rows in modules: their kernels against the plain module on the CPU."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from gpu_tables import table
from test_products_in_modules import arguments_of, dot, evaluated, parsed

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla.times import Timed

_FIRST_OF_B = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"
SCALED = {
    "scales": dot(
        ["3x80xf8E4M3FN", "72x80xf8E4M3FN", "f32", "f32"],
        "3x72xbf16",
        ", dot_type = bf16",
        "1, 1, 1, 1, 0, 0, 0",
    ),
    "rows, columns, bias, relu": dot(
        ["5x77xf8E5M2", "33x77xf8E4M3FN", "5x1xf32", "33x1xf32", "33xbf16"],
        "5x33xf32",
        ', activation = "relu"',
        "1, 1, 1, 1, 0, 1, 0",
    ),
    "weights [k, n]": dot(
        ["17x64xf8E4M3FN", "64x40xf8E4M3FN", "1x40xf32"],
        "17x40xf16",
        "",
        "1, 1, 0, 1, 0, 0, 0",
        _FIRST_OF_B,
    ),
    "rows of rank 3": dot(
        ["2x3x64xf8E4M3FN", "16x64xf8E4M3FN"],
        "2x3x16xf32",
        "",
        dims="lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]",
    ),
}


def _both(text: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What the CPU gives for a module, and what its one kernel gives."""
    arguments = arguments_of(parsed(text))
    made = mlir_fp8.compile(parsed(text))(*arguments)
    wanted = [np.asarray(each) for each in (made if isinstance(made, tuple) else (made,))]
    module = parsed(text)
    Fp8KernelsForXlaGpu(few_rows=True).run(module.operation)
    assert module.operation.verify()
    assert len(operations(module.operation, "stablehlo.custom_call")) == len(wanted)
    return wanted, evaluated(module, arguments)


@pytest.mark.parametrize("name", list(SCALED))
def test_scaled_dots(name: str) -> None:
    for wanted, found in zip(*_both(SCALED[name]), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("element", ["bf16", "f32", "f16"])
@pytest.mark.parametrize("scales", ["tensor", "channel"])
def test_weight_only_products_are_one_launch(element: str, scales: str) -> None:
    """The widening of the codes, the dot, the scale and the conversion; weights in both orders."""
    text = f"""
func.func @main(%x: tensor<4x64x{element}>, %w: tensor<48x64x{element}>, %v: tensor<64x40x{element}>) -> (tensor<4x48x{element}>, tensor<4x40x{element}>) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<4x64x{element}>, tensor<48x64x{element}>) -> tensor<4x48x{element}>
  %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<4x64x{element}>, tensor<64x40x{element}>) -> tensor<4x40x{element}>
  return %0, %1 : tensor<4x48x{element}>, tensor<4x40x{element}>
}}"""  # noqa: E501
    weights = ["arg1", "arg2"]
    made = mlir_fp8.quantize(text, "weight_only", weights=weights, scales=scales)
    module = str(made.module)
    both = _both(module)
    for wanted, found in zip(*both, strict=True):
        np.testing.assert_array_equal(found, wanted)
    kernels = parsed(module)
    Fp8KernelsForXlaGpu(few_rows=True).run(kernels.operation)
    left = ("stablehlo.dot_general", "stablehlo.multiply", "stablehlo.convert")
    assert not operations(kernels.operation, *left)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (dot(["65x64xf8E4M3FN", "16x64xf8E4M3FN"], "65x16xf32", ""), "it has 65 rows, not 1 to 64"),
        (dot(["0x64xf8E4M3FN", "16x64xf8E4M3FN"], "0x16xf32", ""), "it has 0 rows, not 1 to 64"),
        (dot(["2x0xf8E4M3FN", "16x0xf8E4M3FN"], "2x16xf32", ""), "sizes are from 1 to"),
        (
            dot(["2x64xf8E4M3FN", "16x64xf8E4M3FN"], "2x16xf8E4M3FN", ", saturate"),
            "its result is not of bf16, f16, f32 without a scale",
        ),
        (
            dot(
                ["2x128xf8E4M3FN", "16x128xf8E4M3FN", "16x8xf32"],
                "2x16xf32",
                ", operand_type = f32",
                "1, 1, 0, 1, 0, 0, 0",
            ),
            "its scales are of operands",
        ),
        (
            dot(
                ["3x2x64xf8E4M3FN", "3x16x64xf8E4M3FN"],
                "3x2x16xf32",
                "",
                dims="lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
            ),
            "it has batches",
        ),
    ],
)
def test_what_no_kernel_computes_is_left(
    text: str, reason: str, capsys: pytest.CaptureFixture
) -> None:
    module = parsed(text)
    before = str(module)
    Fp8KernelsForXlaGpu(few_rows=True, remarks=True).run(module.operation)
    assert str(module) == before
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("name", list(SCALED))
def test_what_is_not_known_to_win_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    module = parsed(SCALED[name])
    before = str(module)
    Fp8KernelsForXlaGpu(table(tmp_path)).run(module.operation)
    assert str(module) == before


@pytest.mark.parametrize(
    ("m", "us", "is_left"), [(3, 20.0, False), (3, 24.0, True), (48, 20.0, True)]
)
def test_the_nearest_time_decides(m: int, us: float, is_left: bool, tmp_path: Path) -> None:
    """72 x 80 weights of f8 rows; what is four octaves away says nothing."""
    timed = Timed("few_rows", "f8, [n, k]", m, 72, 80, (1, 1, 2, 4, 2, 1), us, 23.0)
    other = dataclasses.replace(timed, kind="wide, [n, k]", us=1.0)
    module = parsed(SCALED["scales"])
    Fp8KernelsForXlaGpu(table(tmp_path, timed, other)).run(module.operation)
    assert bool(operations(module.operation, "fp8.scaled_dot")) == is_left
    if not is_left:
        (call,) = operations(module.operation, "stablehlo.custom_call")
        assert "block_x = 64 : i32" in str(call.attributes["backend_config"])


@pytest.mark.parametrize(("us", "threads"), [(19.0, 256), (20.5, 64)])
def test_the_faster_of_two_kernels_is_taken(us: float, threads: int, tmp_path: Path) -> None:
    """One of few rows, and the one of any product."""
    few = Timed("few_rows", "f8, [n, k]", 3, 72, 80, (1, 1, 2, 4, 2, 1), 20.0, 23.0)
    any_ = Timed("product", "exact", 3, 72, 80, (64, 64, 4, 1, 8, 1), us, 23.0)
    module = parsed(SCALED["scales"])
    Fp8KernelsForXlaGpu(table(tmp_path, few, any_)).run(module.operation)
    (call,) = operations(module.operation, "stablehlo.custom_call")
    assert f"block_x = {threads} : i32" in str(call.attributes["backend_config"])


def test_a_sum_that_is_used_twice_is_scaled_outside() -> None:
    """Nor does a kernel take a factor of rows, or what is no broadcast."""
    text = """
func.func @main(%x: tensor<3x32xbf16>, %w: tensor<24x32xf8E5M2>, %s: tensor<3xf32>, %t: tensor<24xf32>) -> (tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xbf16>) {
  %v = stablehlo.convert %w : (tensor<24x32xf8E5M2>) -> tensor<24x32xbf16>
  %d = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<3x32xbf16>, tensor<24x32xbf16>) -> tensor<3x24xf32>
  %r = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<3xf32>) -> tensor<3x24xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<24xf32>) -> tensor<3x24xf32>
  %p = stablehlo.multiply %d, %c : tensor<3x24xf32>
  %e = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<3x32xbf16>, tensor<24x32xbf16>) -> tensor<3x24xf32>
  %q = stablehlo.multiply %e, %r : tensor<3x24xf32>
  %n = stablehlo.convert %q : (tensor<3x24xf32>) -> tensor<3x24xbf16>
  return %d, %p, %n : tensor<3x24xf32>, tensor<3x24xf32>, tensor<3x24xbf16>
}"""  # noqa: E501
    module = parsed(text)
    Fp8KernelsForXlaGpu(few_rows=True).run(module.operation)
    assert module.operation.verify()
    kernels = operations(module.operation, "stablehlo.custom_call")
    assert [str(each.results[0].type) for each in kernels] == ["tensor<3x24xf32>"] * 2
    assert all(len(each.operands) == 2 for each in kernels)
    assert len(operations(module.operation, "stablehlo.multiply")) == 2
    assert len(operations(module.operation, "stablehlo.convert")) == 1
