"""`fp8.scaled_dot`s whose operands have scales of blocks, as kernels: values, and what is left."""

import numpy as np
import pytest
from test_products_in_modules import arguments_of, dot, evaluated, parsed

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu

IN_F32 = ", operand_type = f32"
BOTH = "1, 1, 1, 1, 0, 0, 0"
TOKENS = "lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]"
BY_ROWS = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"
FORMS = {
    "rows_by_squares": dot(
        ["40x384xf8E4M3FN", "256x384xf8E4M3FN", "40x3xf32", "2x3xf32"], "40x256xbf16",
        IN_F32 + ", fast_accum", BOTH,
    ),
    "weights_in_rows_of_k": dot(
        ["130x256xf8E4M3FN", "256x128xf8E4M3FN", "130x2xf32", "2x1xbf16"], "130x128xf32", IN_F32,
        BOTH, BY_ROWS,
    ),
    "gradients_of_weights": dot(
        ["256x40xf8E5M2", "256x72xf8E4M3FN", "2x40xf32", "2x72xf32"], "40x72xf32", IN_F32, BOTH,
        TOKENS,
    ),
    "rows_by_rows": dot(
        ["40x256xf8E4M3FN", "72x256xf8E4M3FN", "40x2xf32", "72x2xf32"], "40x72xf32", IN_F32, BOTH,
    ),
    "mx": dot(
        ["40x96xf8E4M3FN", "72x96xf8E5M2", "40x3xf8E8M0FNU", "72x3xf8E8M0FNU"], "40x72xbf16",
        IN_F32, BOTH,
    ),
    "mx_weights_in_rows_of_k": dot(
        ["130x256xf8E5M2", "256x128xf8E5M2", "130x8xf8E8M0FNU", "8x128xf8E8M0FNU"], "130x128xf32",
        IN_F32, BOTH, BY_ROWS,
    ),
    "one_block_of_k": dot(
        ["256x64xf8E4M3FN", "128x64xf8E4M3FN", "2x1xf32", "1x1xf32"], "256x128xf32", IN_F32, BOTH,
    ),
    "one_scale": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "f32"], "40x72xf32", IN_F32, "1, 1, 1, 0, 0, 0, 0"
    ),
    "divided": dot(
        ["40x256xf8E4M3FN", "72x256xf8E4M3FN", "40x2xf32", "f32"], "40x72xf32",
        IN_F32 + ", a_inverse, b_inverse", BOTH,
    ),
    "two_of_both": dot(
        ["20x2x128xf8E4M3FN", "2x128x72xf8E4M3FN", "20x2x1xf32", "2x1x72xf32", "72xf32", "f32"],
        "20x72xf8E4M3FN and f32", IN_F32 + ', activation = "relu", amax, saturate',
        "1, 1, 1, 1, 0, 1, 1",
        "lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(FORMS))
def test_values_are_those_of_the_cpu(name: str) -> None:
    module = parsed(FORMS[name])
    arguments = arguments_of(module)
    wanted = mlir_fp8.compile(parsed(FORMS[name]))(*arguments)
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert module.operation.verify()
    assert not operations(module.operation, "fp8.scaled_dot")
    for one, other in zip(evaluated(module, arguments), wanted, strict=True):
        np.testing.assert_array_equal(one.astype(np.float32), np.asarray(other).astype(np.float32))


def test_blocks_along_k_need_no_times() -> None:
    """Of the card: XLA, and what writes its forms, have no such product."""
    for name in ("rows_by_squares", "one_scale"):
        module = parsed(FORMS[name])
        Fp8KernelsForXlaGpu().run(module.operation)
        assert bool(operations(module.operation, "fp8.scaled_dot")) == (name == "one_scale")


A, B = "64x256xf8E4M3FN", "192x256xf8E4M3FN"
LEFT = {
    "its scaled operands are rounded to bf16": dot(
        [A, B, "64x2xf32"], "64x192xf32", ", operand_type = bf16", "1, 1, 1, 0, 0, 0, 0"
    ),
    "are of no whole tiles of 128 of K": dot(
        [A, B, "64x16xf32"], "64x192xf32", IN_F32, "1, 1, 1, 0, 0, 0, 0"
    ),
    "96 columns have a scale, not one": dot(
        [A, B, "2x2xf32"], "64x192xf32", IN_F32, "1, 1, 0, 1, 0, 0, 0"
    ),
    "blocks of its scales are no blocks of a matrix": dot(
        ["64x4x64xf8E4M3FN", "192x4x64xf8E4M3FN", "64x1x2xf32"], "64x192xf32", IN_F32,
        "1, 1, 1, 0, 0, 0, 0",
        "lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [1, 2]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", list(LEFT))
def test_what_no_kernel_computes_is_left(reason: str, capsys: pytest.CaptureFixture) -> None:
    module = parsed(LEFT[reason])
    Fp8KernelsForXlaGpu(remarks=True, products=True).run(module.operation)
    assert operations(module.operation, "fp8.scaled_dot")
    said = capsys.readouterr().err
    assert "is left to XLA: " in said and reason in said
