"""Ragged dots of FP8 numbers, with the scales of their sums: one op, whose results are the same."""

import re

import numpy as np
import pytest
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.scaled_dot.findings import remarks
from mlir_fp8.lowering.fp8.scaled_dot.fuse import fuse

ROWS = (
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], "
    "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"
)
SUMS = (
    "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], "
    "lhs_ragged_dimensions = [0]"
)
A, B, SCALE = "40x64xf8E4M3FN", "3x64x48xf8E4M3FN", "f32"


def program(taken: list[str], numbers: str, types: tuple[str, str, str], lines: str) -> ir.Module:
    """A ragged dot %d of %x and %y of `types`, which `lines` before `DOT` make; %r is returned."""
    arguments = ", ".join(
        f"%{name}: tensor<{each}>" for name, each in zip("abnst", taken, strict=False)
    )
    x, y, d = (f"tensor<{each}>" for each in types)
    dot = (
        f'%d = "chlo.ragged_dot"(%x, %y, %n) {{ragged_dot_dimension_numbers = '
        f"#chlo.ragged_dot<{numbers}>}} : ({x}, {y}, tensor<3xi32>) -> {d}"
    )
    result = re.split(r"-> | : ", lines)[-1] if "%r" in lines else d
    returned = "%r" if "%r" in lines else "%d"
    body = lines.replace("DOT", dot)
    return ir.Module.parse(
        f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn {returned} : {result}\n}}",
        make_context(),
    )


WIDE = """%x = stablehlo.convert %a : (tensor<40x64xf8E4M3FN>) -> tensor<40x64xbf16>
%y = stablehlo.convert %b : (tensor<3x64x48xf8E4M3FN>) -> tensor<3x64x48xbf16>
DOT
"""
SCALED = """%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<40x48xf32>
%1 = stablehlo.multiply %d, %0 : tensor<40x48xf32>
"""
TWICE = """%2 = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<40x48xf32>
%3 = stablehlo.multiply %2, %1 : tensor<40x48xf32>
%r = stablehlo.convert %3 : (tensor<40x48xf32>) -> tensor<40x48xbf16>"""
BF16 = ("40x64xbf16", "3x64x48xbf16", "40x48xf32")
TURNED = """%x = stablehlo.convert %a : (tensor<40x64xf8E4M3FN>) -> tensor<40x64xbf16>
%0 = stablehlo.convert %b : (tensor<48x40xf8E5M2>) -> tensor<48x40xbf16>
%y = stablehlo.transpose %0, dims = [1, 0] : (tensor<48x40xbf16>) -> tensor<40x48xbf16>
DOT
%1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<bf16>) -> tensor<3x64x48xbf16>
%r = stablehlo.multiply %d, %1 : tensor<3x64x48xbf16>"""
E5 = [each.replace("E4M3FN", "E5M2") for each in (A, B)]
FUSED = {
    "numbers alone": (
        program([A, B, "3xi32"], ROWS, BF16, WIDE),
        "(tensor<40x64xf8E4M3FN>, tensor<3x64x48xf8E4M3FN>, tensor<3xi32>) -> tensor<40x48xf32>",
        [],
    ),
    "two f8E5M2": (
        program([*E5, "3xi32"], ROWS, BF16, WIDE.replace("E4M3FN", "E5M2")),
        "(tensor<40x64xf8E5M2>, tensor<3x64x48xf8E5M2>, tensor<3xi32>) -> tensor<40x48xf32>",
        [],
    ),
    "two scales and a conversion": (
        program([A, B, "3xi32", SCALE, SCALE], ROWS, BF16, WIDE + SCALED + TWICE),
        "tensor<3xi32>, tensor<f32>, tensor<f32>) -> tensor<40x48xbf16>",
        [],
    ),
    # The result in bf16 is scaled in bf16, which is no scale of the f32 sum.
    "sums, moved": (
        program(
            ["40x64xf8E4M3FN", "48x40xf8E5M2", "3xi32", "bf16"],
            SUMS,
            ("40x64xbf16", "40x48xbf16", "3x64x48xbf16"),
            TURNED,
        ),
        "(tensor<40x64xf8E4M3FN>, tensor<40x48xf8E5M2>, tensor<3xi32>) -> tensor<3x64x48xbf16>",
        ["stablehlo.multiply"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FUSED))
def test_fused(name: str) -> None:
    module, types, left = FUSED[name]
    random = np.random.default_rng(0)
    given = []
    for value in module.body.operations[0].arguments:
        type_ = ir.RankedTensorType(value.type)
        x = random.standard_normal(tuple(type_.shape)).astype(np.float32)
        given.append(x.astype(element_dtype(str(type_.element_type))))
    given[2] = np.array([11, 0, 20], np.int32)
    fused = ir.Module.parse(str(module), module.context)
    (finding,) = fuse(fused.operation)
    assert finding.fused is not None and not finding.obstacles
    assert types in str(finding.fused)
    names = [op.name for op in operations(fused.operation, *left, "chlo.ragged_dot")]
    assert names == left
    (wanted,), (found,) = (mlir_fp8.compile(each)(*given) for each in (module, fused))
    assert found.tobytes() == wanted.tobytes()


BEFORE = """%x = stablehlo.convert %a : (tensor<40x64xf8E4M3FN>) -> tensor<40x64xf32>
%0 = stablehlo.convert %b : (tensor<3x64x48xf8E4M3FN>) -> tensor<3x64x48xf32>
%1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x64x48xf32>
%y = stablehlo.multiply %0, %1 : tensor<3x64x48xf32>
DOT"""
LEFT = {
    "rhs: chlo.ragged_dot multiplies what is scaled before; fp8.scaled_ragged_dot scales sums": (
        program([A, B, "3xi32", SCALE], ROWS, ("40x64xf32", "3x64x48xf32", "40x48xf32"), BEFORE)
    ),
    "dot: chlo.ragged_dot gives f8E4M3FN [groups]": program(
        [A, B, "3xi32"],
        ROWS,
        (A, B, "40x48xf8E4M3FN"),
        f"%x = stablehlo.reshape %a : (tensor<{A}>) -> tensor<{A}>\n"
        f"%y = stablehlo.reshape %b : (tensor<{B}>) -> tensor<{B}>\nDOT",
    ),
    "dot: chlo.ragged_dot has batches, or other dimensions than fp8.scaled_ragged_dot": program(
        ["3x4x7xf8E4M3FN", "3x7x5xf8E4M3FN", "3xi32"],
        "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
        "lhs_ragged_dimensions = [0]",
        ("3x4x7xf32", "3x7x5xf32", "3x4x5xf32"),
        "%x = stablehlo.convert %a : (tensor<3x4x7xf8E4M3FN>) -> tensor<3x4x7xf32>\n"
        "%y = stablehlo.convert %b : (tensor<3x7x5xf8E4M3FN>) -> tensor<3x7x5xf32>\nDOT",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", list(LEFT))
def test_left(reason: str) -> None:
    module = LEFT[reason]
    (finding,) = fuse(module.operation)
    assert finding.fused is None
    assert reason in remarks(finding)[1]
    assert len(operations(module.operation, "chlo.ragged_dot")) == 1
