"""Kernels of a dot and its quantization, and of the two dots of a SwiGLU, in modules."""

from pathlib import Path

import numpy as np
import pytest
from gpu_tables import table
from test_products_in_modules import arguments_of, evaluated, parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla.times import Timed

AMAX = """
  %abs = stablehlo.abs %x : tensor<48x72xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %amax = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<48x72xf32>, tensor<f32>) -> tensor<f32>
"""  # noqa: E501


def scaled_dot(name: str, operands: str, types: str, result: str, fast: bool = True) -> str:
    """By a dot without scales, or with as many as `types` has beyond two."""
    count = types.count("tensor")
    present = ", ".join(["1"] * count + ["0"] * (7 - count))
    fast_accum = ", fast_accum" if fast else ""
    return (
        f'  {name} = "fp8.scaled_dot"({operands}) {{dot_dimension_numbers = #stablehlo.dot<'
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, operandSegmentSizes "
        f"= array<i32: {present}>{fast_accum}}} : ({types}) -> tensor<{result}>\n"
    )


A, B, F32 = "tensor<48x64xf8E4M3FN>", "tensor<72x64xf8E4M3FN>", "tensor<f32>"
Q = '  %q = "fp8.quantize"(%x, %s) {saturate} : (tensor<48x72xf32>, tensor<f32>) -> tensor<48x72xf8E4M3FN>\n'  # noqa: E501
BF16 = "  %x = stablehlo.convert %y : (tensor<48x72xbf16>) -> tensor<48x72xf32>\n"
D = "tensor<48x72xf8E4M3FN>"


def function(body: str, arguments: str, results: dict[str, str]) -> str:
    types = ", ".join(results.values())
    return (
        f"func.func @main({arguments}) -> ({types}) {{\n{body}"
        f"  return {', '.join(results)} : {types}\n}}"
    )


DOT = f"%a: {A}, %b: {B}, %s: {F32}"
GATES = f"%a: {A}, %b: {B}, %c: {B}, %s: {F32}"
SCALED = f"{GATES}, %as: {F32}, %bs: tensor<72x1xf32>, %cs: tensor<72x1xf32>"
SILU = """
  %l = stablehlo.logistic %g : tensor<48x72xT>
  %m = stablehlo.multiply %g, %l : tensor<48x72xT>
  %y = stablehlo.multiply %m, %u : tensor<48x72xT>
"""
TURNED = """
  %w = "fp8.scaled_dot"(%q, %e) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0>, fast_accum} : (tensor<48x72xf8E4M3FN>, tensor<48x64xf8E4M3FN>) -> tensor<72x64xf32>
"""  # noqa: E501
PLAIN = scaled_dot("%y", "%a, %b", f"{A}, {B}", "48x72xbf16") + BF16
SLICES = """
  %g = stablehlo.slice %h [0:48, 0:72] : (tensor<48x144xf32>) -> tensor<48x72xf32>
  %u = stablehlo.slice %h [0:48, 72:144] : (tensor<48x144xf32>) -> tensor<48x72xf32>
"""
BOTH = "tensor<144x64xf8E4M3FN>"
JOINED = scaled_dot("%h", "%a, %b", f"{A}, {BOTH}", "48x144xf32") + SLICES


def gates(type_: str, *, scaled: bool = False) -> str:
    types = f"{A}, {B}" + f", {F32}, tensor<72x1xf32>" * scaled
    sides = [
        (f"%a, %{w}" + f", %as, %{w}s" * scaled, name) for w, name in (("b", "%g"), ("c", "%u"))
    ]
    dots = "".join(scaled_dot(name, taken, types, f"48x72x{type_}") for taken, name in sides)
    return dots + SILU.replace("xT>", f"x{type_}>")


EXACT = {
    "quantized": function(PLAIN + Q, DOT, {"%q": D}),
    "amax": function(PLAIN + AMAX + Q, DOT, {"%q": D, "%amax": F32}),
    "amax_behind": function(PLAIN + Q + AMAX, DOT, {"%q": D, "%amax": F32}),
    "f32": function(
        scaled_dot("%x", "%a, %b", f"{A}, {B}", "48x72xf32", fast=False) + Q, DOT, {"%q": D}
    ),
    "transposed": function(
        PLAIN + AMAX + Q + TURNED, f"{DOT}, %e: tensor<48x64xf8E4M3FN>",
        {"%q": D, "%amax": F32, "%w": "tensor<72x64xf32>"},
    ),
}  # fmt: skip
EXACT["f8_result"] = function(
    '  %q, %amax = "fp8.scaled_dot"(%a, %b, %s) {dot_dimension_numbers = #stablehlo.dot<'
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, operandSegmentSizes = "
    "array<i32: 1, 1, 0, 0, 0, 0, 1>, fast_accum, saturate, amax} : "
    f"({A}, {B}, {F32}) -> ({D}, {F32})\n"
    "  %t = stablehlo.transpose %q, dims = [1, 0] : "
    "(tensor<48x72xf8E4M3FN>) -> tensor<72x48xf8E4M3FN>\n" + TURNED,
    f"{DOT}, %e: tensor<48x64xf8E4M3FN>",
    {"%q": D, "%amax": F32, "%w": "tensor<72x64xf32>", "%t": "tensor<72x48xf8E4M3FN>"},
)
NEAR = {
    "f32": function(gates("f32"), GATES, {"%y": "tensor<48x72xf32>"}),
    "bf16": function(gates("bf16"), GATES, {"%y": "tensor<48x72xbf16>"}),
    "scaled": function(gates("bf16", scaled=True), SCALED, {"%y": "tensor<48x72xbf16>"}),
    "quantized": function(
        gates("bf16", scaled=True) + BF16 + AMAX + Q, SCALED, {"%q": D, "%amax": F32}
    ),
    "joined": function(
        JOINED + SILU.replace("xT>", "xf32>"), f"%a: {A}, %b: {BOTH}", {"%y": "tensor<48x72xf32>"}
    ),
}


def arguments(text: str) -> list[np.ndarray]:
    found = arguments_of(parsed(text))
    for i, each in enumerate(found):
        if each.shape == ():
            found[i] = np.array(0.37 if i == 2 else 0.5, each.dtype)
    return found


def kernels(text: str) -> tuple[list[np.ndarray], int]:
    """Results of the module with kernels, and how many there are."""
    module = parsed(text)
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert module.operation.verify()
    calls = operations(module.operation, "stablehlo.custom_call")
    names = {op.name for op in operations(module.operation)}
    assert not names & {"fp8.scaled_dot", "fp8.quantize", "stablehlo.logistic", "stablehlo.slice"}
    transposes = operations(module.operation, "stablehlo.transpose")
    assert all(isinstance(op.operands[0].owner, ir.Block) for op in transposes)
    return evaluated(module, arguments(text)), len(calls)


def by_cpu(text: str) -> list[np.ndarray]:
    found = mlir_fp8.compile(parsed(text))(*arguments(text))
    found = found if isinstance(found, (tuple, list)) else [found]
    return [np.asarray(each).astype(np.float32) for each in found]


@pytest.mark.parametrize("name", list(EXACT))
def test_a_dot_and_its_quantization_are_one_kernel(name: str) -> None:
    found, count = kernels(EXACT[name])
    assert count == (2 if name in ("transposed", "f8_result") else 1)
    for one, other in zip(found, by_cpu(EXACT[name]), strict=True):
        np.testing.assert_array_equal(one.astype(np.float32), other)


@pytest.mark.parametrize("name", list(NEAR))
def test_a_gate_and_what_it_multiplies_are_one_kernel(name: str) -> None:
    """The sigmoid is an approximation, which may round the other way."""
    found, count = kernels(NEAR[name])
    assert count == 1
    step = {"f32": 2.0**-21, "joined": 2.0**-21, "quantized": 2.0**-3}.get(name, 2.0**-7)
    for one, other in zip(found, by_cpu(NEAR[name]), strict=True):
        far = np.abs(one.astype(np.float32) - other)
        # Where a sigmoid is below 0.01 its error in proportion is larger.
        assert (far <= step * np.abs(other) + 1e-5).all()
        assert np.mean(far > 1e-6 * np.abs(other) + 1e-5) < 0.02


_TWO = PLAIN + AMAX + Q
LEFT = {
    "its numbers are read": function(PLAIN + Q, DOT, {"%q": D, "%y": "tensor<48x72xbf16>"}),
    "another reads what is quantized": function(
        PLAIN + Q, DOT, {"%q": D, "%x": "tensor<48x72xf32>"}
    ),
    "its scale is of its amax": function(PLAIN + AMAX + Q.replace("%s", "%amax"), DOT, {"%q": D}),
    "magnitudes are read": function(_TWO, DOT, {"%q": D, "%abs": "tensor<48x72xf32>"}),
}


@pytest.mark.parametrize("name", list(LEFT))
def test_what_others_read_is_quantized_by_itself(name: str) -> None:
    module = parsed(LEFT[name])
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert len(operations(module.operation, "fp8.quantize")) == 1
    assert len(operations(module.operation, "stablehlo.custom_call")) == 1


APART = {
    "the gate is read": function(
        gates("f32"), GATES, {"%y": "tensor<48x72xf32>", "%g": "tensor<48x72xf32>"}
    ),
    "other operands": function(
        gates("f32").replace('%u = "fp8.scaled_dot"(%a', '%u = "fp8.scaled_dot"(%d'),
        f"{GATES}, %d: {A}", {"%y": "tensor<48x72xf32>"},
    ),
    "other halves": function(
        JOINED.replace("0:72]", "36:108]") + SILU.replace("xT>", "xf32>"), f"%a: {A}, %b: {BOTH}",
        {"%y": "tensor<48x72xf32>"},
    ),
    "other sums": function(
        gates("f32").replace(", fast_accum", "", 1), GATES, {"%y": "tensor<48x72xf32>"}
    ),
    "the sigmoid of another": function(
        gates("f32").replace("logistic %g", "logistic %u"), GATES, {"%y": "tensor<48x72xf32>"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(APART))
def test_what_is_no_gate_stays(name: str) -> None:
    module = parsed(APART[name])
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert len(operations(module.operation, "stablehlo.logistic")) == 1
    assert not operations(module.operation, "fp8.scaled_dot")


def test_times_of_an_epilogue_choose(tmp_path: Path) -> None:
    """Of a product by itself and with a quantization behind it."""
    times = [
        Timed("product", kind, 48, 72, 64, (64, 64, 3, 1, 4, 1), 16.0, xla)
        for kind, xla in (("fast", 12.0), ("fast, epilogue", 20.0))
    ]
    plain = function(PLAIN, DOT, {"%y": "tensor<48x72xbf16>"})
    for text, left in ((EXACT["amax"], 0), (plain, 1)):
        module = parsed(text)
        Fp8KernelsForXlaGpu(table(tmp_path, *times)).run(module.operation)
        assert len(operations(module.operation, "fp8.scaled_dot")) == left


@pytest.mark.parametrize(("xla", "is_left"), [(17.0, False), (15.0, True)])
def test_a_gate_has_times_of_its_own(xla: float, is_left: bool, tmp_path: Path) -> None:
    """And its form; those of a product are for cards whose table has none of gates."""
    plain = Timed("product", "fast", 48, 144, 64, (128, 256, 4, 1, 8, 1), 1.0, 20.0)
    gate = Timed("product", "fast, gate", 48, 144, 64, (64, 128, 3, 1, 4, 1), 16.0, xla)
    module = parsed(function(gates("f32"), GATES, {"%y": "tensor<48x72xf32>"}))
    Fp8KernelsForXlaGpu(table(tmp_path, plain, gate)).run(module.operation)
    assert bool(operations(module.operation, "stablehlo.logistic")) == is_left
    if not is_left:
        (call,) = operations(module.operation, "stablehlo.custom_call")
        assert "block_x = 256 : i32" in str(call.attributes["backend_config"])
