"""`fp8.scaled_ragged_dot`s as kernels: their values against the same module on the CPU."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gpu_tables import table
from test_products_in_modules import arguments_of, evaluated, parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects._fp8_ragged_parts import ragged_parts
from mlir_fp8.lowering.fp8.fp8_quantize_dots import Fp8QuantizeDots
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla.grouped import grouped_of, kind_of_grouped
from mlir_fp8.lowering.gpu.xla.product_dims import permuted
from mlir_fp8.lowering.gpu.xla.ragged_operands import takes_turned, turn_ragged
from mlir_fp8.lowering.gpu.xla.times import Timed

RAGGED = "fp8.scaled_ragged_dot"


def ragged(
    types: Sequence[str], result: str, dims: str, present: str = "1, 1", flags: str = ""
) -> str:
    """A module with one op; `types` of a, b, the sizes and the scales, by `present`."""
    taken = ", ".join(f"%x{i}: tensor<{each}>" for i, each in enumerate(types))
    values = ", ".join(f"%x{i}" for i in range(len(types)))
    listed = ", ".join(f"tensor<{each}>" for each in types)
    left, right, of, groups = dims.split(" ")
    numbers = (
        f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}], "
        f"lhs_ragged_dimensions = [{of}]"
    )
    numbers += "" if groups == "-" else f", rhs_group_dimensions = [{groups}]"
    return (
        f"func.func @main({taken}) -> tensor<{result}> {{\n"
        f'%0 = "{RAGGED}"({values}) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{numbers}>, '
        f"operandSegmentSizes = array<i32: 1, 1, 1, {present}>{flags}}} : "
        f"({listed}) -> tensor<{result}>\nreturn %0 : tensor<{result}>\n}}"
    )


E4, E5, N = "xf8E4M3FN", "xf8E5M2", "4xi32"
EXACT = {
    "forward": ragged(
        [f"90x64{E4}", f"4x64x72{E4}", N, "f32", "f32"],
        "90x72xbf16",
        "1 1 0 0",
        flags=", fast_accum",
    ),
    "dx": ragged([f"90x64{E5}", f"4x72x64{E4}", N, "f32", "f32"], "90x72xbf16", "1 2 0 0"),
    "dw": ragged([f"96x64{E4}", f"96x72{E5}", N, "f32", "f32"], "4x64x72xbf16", "0 0 0 -"),
    "dw_turned": ragged([f"64x96{E4}", f"96x72{E5}", N], "4x64x72xf32", "1 0 1 -", "0, 0"),
    "whole_steps": ragged([f"90x128{E4}", f"4x128x72{E4}", N], "90x72xf32", "1 1 0 0", "0, 0"),
    "rows_and_columns": ragged(
        [f"90x64{E4}", f"4x64x72{E4}", N, "90x1xf32", "4x1x72xf32"], "90x72xf16", "1 1 0 0"
    ),
    "rows_and_columns_of_sums": ragged(
        [f"96x64{E4}", f"96x72{E5}", N, "1x64xf32", "1x72xbf16"], "4x64x72xf32", "0 0 0 -"
    ),
    "groups": ragged(
        [f"90x64{E4}", f"64x4x72{E4}", N, "4xf32", "1x4x1xf32"], "90x72xbf16", "1 0 0 1"
    ),
    "groups_of_sums": ragged(
        [f"96x64{E4}", f"96x72{E5}", N, "4xf32", "4xf32"], "4x64x72xf32", "0 0 0 -"
    ),
    "one_for_all_groups": ragged(
        [f"90x64{E4}", f"4x64x72{E4}", N, "1x1xf32", "1x1x72xf32"], "90x72xbf16", "1 1 0 0"
    ),
    "one_of_rank_3": ragged(
        [f"90x64{E4}", f"4x64x72{E4}", N, "1x1x1xf32"], "90x72xbf16", "1 1 0 0", "0, 1"
    ),
    "b_turned": ragged([f"90x256{E4}", f"72x4x256{E4}", N], "90x72xf32", "1 2 0 1", "0, 0"),
    "b_turned_of_no_whole_steps": ragged(
        [f"90x144{E4}", f"72x4x144{E4}", N], "90x72xf32", "1 2 0 1", "0, 0"
    ),
    "tiles_of_two_blocks": ragged(
        [f"600x64{E4}", f"4x64x72{E4}", N], "600x72xf32", "1 1 0 0", "0, 0"
    ),
}


@pytest.mark.parametrize("sizes", [[10, 0, 33, 40], [0, 90, 0, 0]])
@pytest.mark.parametrize("name", list(EXACT))
def test_values_are_those_of_the_cpu(name: str, sizes: list[int]) -> None:
    module = parsed(EXACT[name])
    arguments = arguments_of(module)
    arguments[2][:] = sizes
    for each in arguments[3:]:
        if each.ndim == 1:
            each[:] = [2, 0.5, 4, 1]
    (wanted,) = mlir_fp8.compile(parsed(EXACT[name]))(*arguments)
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert module.operation.verify()
    assert not operations(module.operation, RAGGED)
    transposes = len(operations(module.operation, "stablehlo.transpose"))
    assert transposes == {"b_turned": 0, "dx": 0, "dw": 2, "dw_turned": 1}.get(name, transposes)
    (found,) = evaluated(module, arguments)
    assert np.any(wanted.astype(np.float32))
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


LEFT = {
    "other formats than": ragged(
        ["90x64xf6E2M3FN", f"4x64x72{E4}", N], "90x72xf32", "1 1 0 0", "0, 0"
    ),
    "its groups' sizes are of i64": ragged(
        [f"90x64{E4}", f"4x64x72{E4}", "4xi64"], "90x72xf32", "1 1 0 0", "0, 0"
    ),
    "K is no multiple of 16": ragged(
        [f"90x64{E4}", f"90x72{E4}", N], "4x64x72xf32", "0 0 0 -", "0, 0"
    ),
    "sizes are from 1": ragged([f"0x64{E4}", f"4x64x72{E4}", N], "0x72xf32", "1 1 0 0", "0, 0"),
}


@pytest.mark.parametrize("reason", list(LEFT))
def test_what_no_kernel_computes_is_left(reason: str, capsys: pytest.CaptureFixture) -> None:
    module = parsed(LEFT[reason])
    Fp8KernelsForXlaGpu(remarks=True, products=True).run(module.operation)
    assert operations(module.operation, RAGGED)
    said = capsys.readouterr().err
    assert "is left to XLA: " in said and reason in said


def test_grouped_products_without_times_are_never_chosen(tmp_path: Path) -> None:
    module = parsed(EXACT["forward"])
    Fp8KernelsForXlaGpu(table(tmp_path)).run(module.operation)
    assert operations(module.operation, RAGGED)


@pytest.mark.parametrize(("us", "is_left"), [(10.0, False), (110.0, True)])
def test_times_choose(us: float, is_left: bool, tmp_path: Path) -> None:
    """Of groups of rows and of summands, and of sums in f32, there are times apart."""
    module, exact = parsed(EXACT["forward"]), parsed(EXACT["dx"])
    found = grouped_of(operations(module.operation, RAGGED)[0])
    assert not isinstance(found, str)
    shape, form = found.shape.product, (64, 64, 3, 1, 4)
    kind = kind_of_grouped(found)
    timed = Timed("grouped_product", kind, shape.m, shape.n, shape.k, form, us, 104.0)
    card = table(tmp_path, timed)
    Fp8KernelsForXlaGpu(card).run(module.operation)
    assert bool(operations(module.operation, RAGGED)) == is_left
    if not is_left:
        (call,) = operations(module.operation, "stablehlo.custom_call")
        assert "block_x = 256 : i32" in str(call.attributes["backend_config"])
    Fp8KernelsForXlaGpu(card).run(exact.operation)
    assert operations(exact.operation, RAGGED)


GRADIENTS = """
func.func @main(%x: tensor<{m}x256xbf16>, %w: tensor<4x256x128xbf16>, %y: tensor<{m}x128xbf16>,
    %n: tensor<4xi32>)
    -> (tensor<{m}x128xbf16>, tensor<{m}x256xbf16>, tensor<4x256x128xbf16>) {{
  %0 = "chlo.ragged_dot"(%x, %w, %n) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}}
    : (tensor<{m}x256xbf16>, tensor<4x256x128xbf16>, tensor<4xi32>) -> tensor<{m}x128xbf16>
  %1 = "chlo.ragged_dot"(%y, %w, %n) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2],
    lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}}
    : (tensor<{m}x128xbf16>, tensor<4x256x128xbf16>, tensor<4xi32>) -> tensor<{m}x256xbf16>
  %2 = "chlo.ragged_dot"(%x, %y, %n) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<
    lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0],
    lhs_ragged_dimensions = [0]>}}
    : (tensor<{m}x256xbf16>, tensor<{m}x128xbf16>, tensor<4xi32>) -> tensor<4x256x128xbf16>
  return %0, %1, %2 : tensor<{m}x128xbf16>, tensor<{m}x256xbf16>, tensor<4x256x128xbf16>
}}"""


def test_a_layer_and_its_gradients_need_no_transpose() -> None:
    """All three products take codes and transposes as the quantizing kernel gives them."""
    module = parsed(GRADIENTS.format(m=96))
    Fp8QuantizeDots(recipe="current").run(module.operation)
    assert len(operations(module.operation, RAGGED)) == 3
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert module.operation.verify()
    assert not operations(module.operation, RAGGED, "stablehlo.transpose")
    configs = [
        str(op.attributes["backend_config"])
        for op in operations(module.operation, "stablehlo.custom_call")
    ]
    names = [re.search(r'name = "(\w+)"', each) for each in configs]
    assert sorted(each[1] for each in names if each) == [
        *["grouped_product"] * 3,
        *["quantize_transpose"] * 3,
    ]


def test_transposes_are_for_kernels_of_groups_alone(tmp_path: Path) -> None:
    module = parsed(GRADIENTS.format(m=96))
    Fp8QuantizeDots(recipe="current").run(module.operation)
    before = str(module)
    Fp8KernelsForXlaGpu(table(tmp_path)).run(module.operation)
    assert str(module) == before


@pytest.mark.parametrize("side", [0, 1])
def test_transposes_that_quantizing_gives(side: int) -> None:
    """Of codes and of weights: values through `turn_ragged` are those before."""
    text = EXACT["dw"] if side == 0 else EXACT["whole_steps"]
    module = parsed(text)
    (op,) = operations(module.operation, RAGGED)
    assert takes_turned(ragged_parts(op), side)
    arguments = arguments_of(module)
    arguments[2][:] = [10, 0, 33, 40]
    (wanted,) = mlir_fp8.compile(parsed(text))(*arguments)
    rank = ir.RankedTensorType(op.operands[side].type).rank
    with module.context, ir.InsertionPoint(op), op.location:
        turned = permuted(op.operands[side], [rank - 1, *range(rank - 1)])
        turn_ragged(op, side)
        op.operands[side] = turned
    assert module.operation.verify()
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    (found,) = evaluated(module, arguments)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
