"""`fp8.scaled_dot`s as kernels: their values against the same module on the CPU; what is left."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gpu_kernels as gpu
import ml_dtypes
import numpy as np
import pytest
from gpu_products import TYPES
from gpu_tables import table
from ptx_machine import run_kernel
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import operations
from mlir_fp8.dialects.fp8_loading import load_fp8_dialect
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla import costs
from mlir_fp8.lowering.gpu.xla.times import Timed

NAMES = {
    **TYPES,
    "f8E4M3FN": gpu.FORMATS["f8E4M3FN"][0],
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "i8": np.int8,
    "i32": np.int32,
    "f64": np.float64,
}
ROWS_OF_B = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"


def dot(
    types: Sequence[str],
    result: str,
    attributes: str,
    present: str = "1, 1, 0, 0, 0, 0, 0",
    dims: str = ROWS_OF_B,
) -> str:
    """A module with one dot; `types` of its operands, `result` of D and, by name, of amax."""
    taken = ", ".join(f"%x{i}: tensor<{each}>" for i, each in enumerate(types))
    values = ", ".join(f"%x{i}" for i in range(len(types)))
    listed = ", ".join(f"tensor<{each}>" for each in types)
    results = [f"tensor<{each}>" for each in result.split(" and ")]
    count, given = len(results), ", ".join(f"%0#{i}" for i in range(len(results)))
    return (
        f"func.func @main({taken}) -> ({', '.join(results)}) {{\n"
        f'%0:{count} = "fp8.scaled_dot"({values}) {{dot_dimension_numbers = '
        f"#stablehlo.dot<{dims}>, operandSegmentSizes = array<i32: {present}>{attributes}}} : "
        f"({listed}) -> ({', '.join(results)})\nreturn {given} : {', '.join(results)}\n}}"
    )


def parsed(text: str) -> ir.Module:
    context = make_context()
    load_fp8_dialect(context)
    return ir.Module.parse(text, context)


def _shape_and_type(type_: ir.Type) -> tuple[list[int], Any]:
    tensor = ir.RankedTensorType(type_)
    return list(tensor.shape), NAMES[str(tensor.element_type)]


def evaluated(module: ir.Module, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What `module` gives, its kernels run from their PTX, the moves around them by numpy."""
    (function,) = (each.operation for each in module.body.operations)
    block = function.regions[0].blocks[0]
    values = dict(zip(block.arguments, arguments, strict=True))
    for op in [each.operation for each in block.operations]:
        taken = [values[each] for each in op.operands]
        match op.name:
            case "func.return":
                return taken
            case "stablehlo.custom_call":
                made = _called(op, taken)
            case "stablehlo.reshape" | "stablehlo.convert":
                shape, type_ = _shape_and_type(op.results[0].type)
                made = [taken[0].astype(type_).reshape(shape)]
            case "stablehlo.transpose":
                made = [
                    taken[0].transpose(list(ir.DenseI64ArrayAttr(op.attributes["permutation"])))
                ]
            case "stablehlo.constant":
                shape, type_ = _shape_and_type(op.results[0].type)
                (number,) = set(np.array(ir.DenseElementsAttr(op.attributes["value"])).flat)
                made = [np.full(shape, number, type_)]
            case "stablehlo.broadcast_in_dim":
                made = [_broadcast(op, taken[0])]
            case "stablehlo.divide":
                made = [taken[0] / taken[1]]
            case _:
                raise AssertionError(op.name)
        values.update(zip(op.results, made, strict=True))
    raise AssertionError("no return")


def _broadcast(op: ir.Operation, x: np.ndarray) -> np.ndarray:
    shape, _ = _shape_and_type(op.results[0].type)
    places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    wide = [1] * len(shape)
    for size, at in zip(x.shape, places, strict=True):
        wide[at] = size
    return np.broadcast_to(x.reshape(wide), shape)


def _called(op: ir.Operation, taken: Sequence[np.ndarray]) -> list[np.ndarray]:
    config = ir.DictAttr(op.attributes["backend_config"])
    number = {
        name: ir.IntegerAttr(config[name]).value
        for name in ("grid_x", "grid_y", "block_x", "shared_mem_bytes")
    }
    kinds = [_shape_and_type(each.type) for each in op.results]
    made = [
        np.full(int(np.prod(shape)) * np.dtype(t).itemsize, 0xEE, np.uint8) for shape, t in kinds
    ]
    for each in ir.ArrayAttr(op.attributes["output_operand_aliases"]):
        result, operand = re.findall(r"\[(\d*)\], operand_index = (\d+)", str(each))[0]
        start = np.ascontiguousarray(taken[int(operand)])
        made[int(result or 0)][:] = start.reshape(-1).view(np.uint8)
    buffers = [np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in taken] + made
    found = run_kernel(
        ir.StringAttr(config["kernel_data"]).value,
        buffers,
        (number["grid_x"], number["grid_y"]),
        number["block_x"],
        number["shared_mem_bytes"],
    )[len(taken) :]
    return [x.view(t).reshape(shape) for x, (shape, t) in zip(found, kinds, strict=True)]


def arguments_of(module: ir.Module) -> list[np.ndarray]:
    """Small integers for operands, powers of two for scales, so that sums are exact."""
    random = np.random.default_rng(0)
    (function,) = (each.operation for each in module.body.operations)
    found: list[np.ndarray] = []
    for value in function.regions[0].blocks[0].arguments:
        shape, type_ = _shape_and_type(value.type)
        is_scale = "f8E8M0" in str(value.type) or ("f8" not in str(value.type) and len(shape) != 1)
        x = np.exp2(random.integers(-2, 2, shape)) if is_scale else random.integers(-3, 4, shape)
        found.append(np.asarray(x, np.float32).astype(type_))
    return found


BATCHES = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
EXACT = {
    "scales": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "f32", "f32"],
        "40x72xbf16",
        ", fast_accum",
        "1, 1, 1, 1, 0, 0, 0",
    ),
    "exact_sums": dot(["40x272xf8E4M3FN", "72x272xf8E5M2"], "40x72xf32", ""),
    "two_blocks_share_b": dot(["150x64xf8E4M3FN", "72x64xf8E5M2"], "150x72xf32", ""),
    "sequences": dot(
        ["2x24x32xf8E4M3FN", "32x80xf8E5M2", "2x24x1xf32", "1x80xbf16", "80xbf16", "f32"],
        "2x24x80xf8E4M3FN and f32",
        ', activation = "relu", amax, saturate, fast_accum',
        "1, 1, 1, 1, 0, 1, 1",
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]",
    ),
    "two_contracted": dot(
        ["4x8x24xf8E5M2", "4x8x40xf8E4M3FN", "1x1x24xf32", "f32"],
        "24x40xbf16",
        "",
        "1, 1, 1, 1, 0, 0, 0",
        "lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]",
    ),
    "bf16_steps": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "40x1xf32", "72x1xf32", "72xf64", "f32"],
        "40x72xf8E5M2 and bf16",
        ", dot_type = bf16, alpha = 0.3 : bf16, amax, saturate, d_inverse",
        "1, 1, 1, 1, 0, 1, 1",
    ),
    "two_e5m2": dot(
        ["40x64xf8E5M2", "72x64xf8E5M2", "40x1xf32", "f32", "f32"],
        "40x72xf8E5M2 and f32",
        ", amax, saturate",
        "1, 1, 1, 1, 0, 0, 1",
    ),
    "blocks_of_rows": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "5x1xf32", "2x1xbf16"],
        "40x72xf32",
        "",
        "1, 1, 1, 1, 0, 0, 0",
    ),
    "inverses": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "40x1xf32", "f32"],
        "40x72xf32",
        ", a_inverse, b_inverse",
        "1, 1, 1, 1, 0, 0, 0",
    ),
    "c": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "40x72xbf16", "72xf32"],
        "40x72xf32",
        ", beta = 0.3 : f32",
        "1, 1, 0, 0, 1, 1, 0",
    ),
    "c_of_f8": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "40x72xf8E5M2"],
        "40x72xbf16",
        ", dot_type = bf16",
        "1, 1, 0, 0, 1, 0, 0",
    ),
    "batches": dot(
        ["3x40x64xf8E4M3FN", "3x72x64xf8E4M3FN", "3x1x1xf32", "3x72x1xf32", "3x40x72xf32"],
        "3x40x72xf32",
        "",
        "1, 1, 1, 1, 1, 0, 0",
        BATCHES + "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]",
    ),
    "batches_inside": dot(
        ["40x3x64xf8E4M3FN", "2x64x3x72xf8E4M3FN", "f32"],
        "3x40x2x72xf32",
        "",
        "1, 1, 1, 0, 0, 0, 0",
        "lhs_batching_dimensions = [1], rhs_batching_dimensions = [2], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]",
    ),
    "operands_without_scales": dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN"], "40x72xf32", ", operand_type = bf16"
    ),
}


@pytest.mark.parametrize("name", list(EXACT))
def test_values_are_those_of_the_cpu(name: str) -> None:
    module = parsed(EXACT[name])
    arguments = arguments_of(module)
    wanted = mlir_fp8.compile(parsed(EXACT[name]))(*arguments)
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    assert module.operation.verify()
    assert not operations(module.operation, "fp8.scaled_dot")
    for one, other in zip(evaluated(module, arguments), wanted, strict=True):
        np.testing.assert_array_equal(one.astype(np.float32), np.asarray(other).astype(np.float32))


@pytest.mark.parametrize("activation", ["gelu_tanh", "gelu_erf"])
def test_gelu_is_near_that_of_the_cpu(activation: str) -> None:
    text = dot(
        ["40x64xf8E4M3FN", "72x64xf8E4M3FN", "f32", "72xf32"],
        "40x72xf32",
        f', activation = "{activation}"',
        "1, 1, 1, 0, 0, 1, 0",
    )
    module = parsed(text)
    arguments = arguments_of(module)
    arguments[2][...] = 0.0625
    wanted = np.asarray(mlir_fp8.compile(parsed(text))(*arguments))
    Fp8KernelsForXlaGpu(products=True).run(module.operation)
    (found,) = evaluated(module, arguments)
    linear = np.asarray(mlir_fp8.compile(parsed(text.replace(activation, "none")))(*arguments))
    assert (np.abs(found - wanted) <= 5e-7 * np.abs(linear)).all()


A, B = "64x64xf8E4M3FN", "64x64xf8E4M3FN"
LEFT = {
    "its f8 result does not saturate": dot([A, B], "64x64xf8E4M3FN", ""),
    "its result has more than one scale": dot(
        [A, B, "64x1xf32"], "64x64xf32", "", "1, 1, 0, 0, 0, 0, 1"
    ),
    "K is no multiple of 16": dot(["64x40xf8E4M3FN"] * 2, "64x64xf32", ""),
    "sizes are from 1": dot(["0x64xf8E4M3FN", B], "0x64xf32", ""),
    "other formats than": dot(["64x64xf6E2M3FN", B], "64x64xf32", ""),
    "its result is of f64": dot([A, B], "64x64xf64", ""),
    "its bias is not one number for each column": dot(
        [A, "2x32x64xf8E4M3FN", "32xf32"],
        "64x2x32xf32",
        "",
        "1, 1, 0, 0, 0, 1, 0",
        "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]",
    ),
}


@pytest.mark.parametrize("reason", list(LEFT))
def test_what_no_kernel_computes_is_left(reason: str, capsys: pytest.CaptureFixture) -> None:
    module = parsed(LEFT[reason])
    Fp8KernelsForXlaGpu(remarks=True, products=True).run(module.operation)
    assert operations(module.operation, "fp8.scaled_dot")
    said = capsys.readouterr().err
    assert "is left to XLA: " in said and reason in said


def test_products_without_times_are_never_chosen(tmp_path: Path) -> None:
    module = parsed(EXACT["scales"])
    Fp8KernelsForXlaGpu(table(tmp_path)).run(module.operation)
    assert operations(module.operation, "fp8.scaled_dot")


def test_two_e5m2_have_nothing_but_the_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    module = parsed(EXACT["two_e5m2"])
    Fp8KernelsForXlaGpu(table(tmp_path), remarks=True).run(module.operation)
    assert not operations(module.operation, "fp8.scaled_dot")
    assert "becomes product: XLA has no FP8 product of two E5M2" in capsys.readouterr().err


@pytest.mark.parametrize(("us", "is_left"), [(13.0, False), (15.8, True)])
def test_times_choose(us: float, is_left: bool, tmp_path: Path) -> None:
    """By 2 percent at least; sums in f32 and epilogues have times of their own."""
    timed = Timed("product", "fast", 40, 72, 64, (64, 64, 3, 1, 4, 1), us, 16.0)
    card = table(tmp_path, timed)
    module = parsed(EXACT["scales"])
    Fp8KernelsForXlaGpu(card).run(module.operation)
    assert bool(operations(module.operation, "fp8.scaled_dot")) == is_left
    if not is_left:
        (call,) = operations(module.operation, "stablehlo.custom_call")
        assert "block_x = 256 : i32" in str(call.attributes["backend_config"])
    for name in ("exact_sums", "bf16_steps"):
        other = parsed(EXACT[name])
        Fp8KernelsForXlaGpu(card).run(other.operation)
        assert operations(other.operation, "fp8.scaled_dot")


def test_a_form_is_fitted_to_the_size(tmp_path: Path) -> None:
    """No cluster has two tiles of rows where there is one."""
    timed = Timed("product", "fast", 40, 72, 64, (128, 64, 3, 2, 4, 1), 1.0, 16.0)
    module = parsed(EXACT["scales"])
    Fp8KernelsForXlaGpu(table(tmp_path, timed)).run(module.operation)
    (call,) = operations(module.operation, "stablehlo.custom_call")
    assert ".reqnctapercluster" not in str(call.attributes["backend_config"])


def test_a_damaged_table_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    for text in ("", "{}", "[1]", '{"times": 3}', '{"times": [{}]}'):
        file.write_text(text)
        with pytest.raises(Fp8Error, match=r"no table of costs, write one by fp8-tune"):
            costs.costs_of(str(file))
    with pytest.raises(Fp8Error, match="No such file"):
        costs.costs_of(str(tmp_path / "none.json"))
