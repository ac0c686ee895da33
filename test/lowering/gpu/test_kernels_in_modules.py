"""`fp8-kernels-for-xla-gpu`: its calls run from their PTX, against the plain module on the CPU."""

from collections.abc import Sequence
from pathlib import Path

import gpu_kernels as gpu
import numpy as np
import pytest
from gpu_tables import table
from ptx_machine import run_kernel
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.operations import call_target, operations, terminator
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.fp8.weights.scaled import block_amax, codes_of, scale_of_amax
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla.calls import TARGET
from mlir_fp8.lowering.rewriting.stablehlo import convert

CODES = """
func.func @main(%x: tensor<{m}x{n}x{e}>, %s: tensor<f32>) -> (tensor<{m}x{n}x{f}>, tensor<{n}x{m}x{f}>, tensor<f32>) {{
  %0 = stablehlo.convert %x : (tensor<{m}x{n}x{e}>) -> tensor<{m}x{n}xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.abs %0 : tensor<{m}x{n}xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<{m}x{n}xf32>, tensor<f32>) -> tensor<f32>
  %3 = "fp8.quantize"(%0, %s) {{saturate}} : (tensor<{m}x{n}xf32>, tensor<f32>) -> tensor<{m}x{n}x{f}>
  %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<{m}x{n}x{f}>) -> tensor<{n}x{m}x{f}>
  %5 = stablehlo.abs %z : tensor<f32>
  %6 = stablehlo.maximum %2, %5 : tensor<f32>
  return %3, %4, %6 : tensor<{m}x{n}x{f}>, tensor<{n}x{m}x{f}>, tensor<f32>
}}"""  # noqa: E501
NUMPY = {"f32": np.float32, "bf16": np.uint16, "f16": np.uint16, "f8E4M3FN": np.uint8,
         "f8E5M2": np.uint8}  # fmt: skip


def _parsed(text: str) -> ir.Module:
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(text, context)


def _call(module: ir.Module, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of the one kernel of `module`, whose operands are arguments and zeros."""
    (op,) = operations(module.operation, "stablehlo.custom_call")
    assert call_target(op) == TARGET
    config = ir.DictAttr(op.attributes["backend_config"])
    number = {
        name: ir.IntegerAttr(config[name]).value
        for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "shared_mem_bytes")
    }
    assert (number["grid_z"], number["block_y"], number["shared_mem_bytes"]) == (1, 1, 0)
    operands = [
        arguments[ir.BlockArgument(value).arg_number]
        if isinstance(value.owner, ir.Block)
        else np.zeros(1, np.float32)
        for value in op.operands
    ]
    types = [ir.RankedTensorType(each.type) for each in op.results]
    results = [np.zeros(each.shape or [1], NUMPY[str(each.element_type)]) for each in types]
    buffers = [x.view(NUMPY["bf16"]) if x.dtype.itemsize == 2 else x for x in operands] + results
    ptx = ir.StringAttr(config["kernel_data"]).value
    grid = (number["grid_x"], number["grid_y"])
    return run_kernel(ptx, buffers, grid, number["block_x"])[len(operands) :]


@pytest.fixture
def known_rates(tmp_path: Path) -> str:
    """A card on which kernels are faster than XLA's, of any size."""
    return table(
        tmp_path,
        quantize_transpose_of_any=3000.0,
        quantize_rows=3000.0,
        rows_by_xla=1000.0,
        quantize_groups=3000.0,
        groups_by_xla=1000.0,
    )


@pytest.mark.parametrize(
    ("element", "format_", "rows", "columns"),
    [("bf16", "f8E4M3FN", 256, 128), ("f32", "f8E5M2", 40, 99), ("f16", "f8E4M3FN", 130, 264)],
)
def test_codes_transpose_and_amax(
    element: str, format_: str, rows: int, columns: int, known_rates: str
) -> None:
    text = CODES.format(m=rows, n=columns, e=element, f=format_)
    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(gpu.ELEMENTS[element])
    scale = np.array(0.37, np.float32)
    wanted = mlir_fp8.compile(_parsed(text))(x, scale)
    module = _parsed(text)
    Fp8KernelsForXlaGpu(known_rates).run(module.operation)
    assert module.operation.verify()
    found = _call(module, [x, scale.reshape(1)])
    for one, other in zip(found[:2], wanted[:2], strict=True):
        np.testing.assert_array_equal(one, np.asarray(other).view(np.uint8))
    assert found[2][0] == wanted[2]


def _rows(
    element: str,
    shape: tuple[int, int],
    blocks: Blocks,
    margin: float,
    *,
    is_power_of_two: bool = False,
) -> ir.Module:
    rows, columns = shape
    type_ = f"tensor<{rows}x{columns}x{element}>"
    text = f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}"
    return codes_in_blocks(text, blocks, margin, is_power_of_two=is_power_of_two)


def codes_in_blocks(
    text: str, blocks: Blocks, margin: float, *, is_power_of_two: bool = False
) -> ir.Module:
    """`text`, with codes and scales of `blocks` of its one result, as passes of scaling make."""
    module = _parsed(text)
    (function,) = (each.operation for each in module.body.operations)
    block = function.regions[0].blocks[0]
    end = terminator(block)
    with module.context, end.location, ir.InsertionPoint(end):
        x = convert(end.operands[0], ir.F32Type.get())
        scale = scale_of_amax(
            block_amax(x, blocks), "f8E4M3FN", margin, is_power_of_two=is_power_of_two
        )
        results = [codes_of(x, scale, blocks, "f8E4M3FN"), scale]
        ir.Operation.create("func.return", operands=results)
        end.erase()
        types = [each.type for each in results]
        new = ir.FunctionType.get([each.type for each in block.arguments], types)
        function.attributes["function_type"] = ir.TypeAttr.get(new)
    return module


@pytest.mark.parametrize("is_power", [False, True])
@pytest.mark.parametrize(
    ("element", "shape", "blocks", "margin"),
    [
        ("bf16", (6, 512), (1, 0), 0.0),
        ("f32", (5, 99), (1, 0), 1.0),
        ("bf16", (6, 512), (1, 128), 0.0),
        ("f16", (4, 128), (1, 128), 2.0),
    ],
)
def test_rows_and_groups(
    element: str,
    shape: tuple[int, int],
    blocks: Blocks,
    margin: float,
    is_power: bool,
    known_rates: str,
) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(gpu.ELEMENTS[element])
    x[1] = 0
    x[2] *= 2.0**-14
    given = (element, shape, blocks, margin)
    codes, scale = mlir_fp8.compile(_rows(*given, is_power_of_two=is_power))(x)
    module = _rows(*given, is_power_of_two=is_power)
    Fp8KernelsForXlaGpu(known_rates).run(module.operation)
    assert module.operation.verify()
    found = _call(module, [x])
    np.testing.assert_array_equal(found[0], np.asarray(codes).view(np.uint8))
    np.testing.assert_array_equal(found[1], scale)


@pytest.mark.parametrize("blocks", [(1, 0), (1, 128)])
def test_what_is_not_known_to_win_is_left(
    blocks: Blocks, capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    card = table(tmp_path, quantize_rows=None, quantize_groups=None)
    module = _rows("bf16", (4, 512), blocks, 0.0)
    Fp8KernelsForXlaGpu(card, remarks=True).run(module.operation)
    assert not operations(module.operation, "stablehlo.custom_call")
    assert "is left to XLA: no time of the kernel is known" in capsys.readouterr().err


def test_a_scale_of_another_tensor_is_left(capsys: pytest.CaptureFixture, known_rates: str) -> None:
    module = _rows("f32", (4, 512), (1, 0), 0.0)
    (quantize,) = operations(module.operation, "fp8.quantize")
    with module.context, quantize.location, ir.InsertionPoint(quantize):
        x = quantize.operands[0]
        negated = ir.Operation.create("stablehlo.negate", [x.type], [x])
        quantize.operands[0] = negated.results[0]
    Fp8KernelsForXlaGpu(known_rates, remarks=True).run(module.operation)
    assert not operations(module.operation, "stablehlo.custom_call")
    assert "its scale is not made of the amax of what it divides" in capsys.readouterr().err


def test_codes_that_nothing_multiplies_are_left(
    capsys: pytest.CaptureFixture, known_rates: str
) -> None:
    """XLA makes them wide again in the kernel that makes them, and writes no codes."""
    module = _rows("f32", (4, 512), (1, 0), 0.0)
    (quantize,) = operations(module.operation, "fp8.quantize")
    codes = quantize.results[0]
    end = terminator(quantize.block)
    with module.context, end.location, ir.InsertionPoint(end):
        end.operands[0] = convert(codes, ir.F32Type.get())
    Fp8KernelsForXlaGpu(known_rates, remarks=True).run(module.operation)
    assert not operations(module.operation, "stablehlo.custom_call")
    assert "its codes are only made wide again" in capsys.readouterr().err


@pytest.mark.parametrize(("element", "is_left"), [("bf16", False), ("f32", True)])
def test_what_xla_would_never_write_costs_its_bytes(
    element: str, is_left: bool, tmp_path: Path
) -> None:
    rates = {"quantize_transpose": 3000.0, "quantize_transpose_by_xla": 2100.0}
    card = table(tmp_path, **rates, copy=3747.0)
    text = CODES.format(m=8192, n=4096, e=element, f="f8E4M3FN")
    made = f"%y = stablehlo.tanh %x : tensor<8192x4096x{element}>\n  %0 = stablehlo.convert %y"
    module = _parsed(text.replace("%0 = stablehlo.convert %x", made))
    Fp8KernelsForXlaGpu(card, prologues=False).run(module.operation)
    assert bool(operations(module.operation, "fp8.quantize")) == is_left


@pytest.mark.parametrize(("size", "is_left"), [(8192, False), (8200, False), (8191, True)])
def test_sizes_without_wide_loads_are_left(size: int, is_left: bool) -> None:
    module = _parsed(CODES.format(m=size, n=size, e="bf16", f="f8E4M3FN"))
    Fp8KernelsForXlaGpu().run(module.operation)
    assert bool(operations(module.operation, "fp8.quantize")) == is_left
