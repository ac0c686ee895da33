"""`fp8.attention`s as kernels: their values against the same module on the CPU; what is left."""

from collections.abc import Sequence
from pathlib import Path

import gpu_attention
import numpy as np
import pytest
from gpu_products import TYPES
from gpu_tables import table
from ptx_machine import run_kernel
from test_products_in_modules import parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.xla.attention import FoundAttention, attention_of

P = "p_type = f8E4M3FN, p_saturate"
SCALED_P = f"{P}, p_scale = 4.48e+02 : f32, p_inverse, p_factor = 2.23214296e-03 : f32"
ALL, SCALES = "1, 1, 1, 0, 0, 0, 0, 0, 0", "1, 1, 1, 1, 1, 1, 0, 0, 0"


def attention(
    sizes: str,
    attributes: str = SCALED_P,
    others: Sequence[str] = (),
    present: str = ALL,
    formats: str = "f8E4M3FN f8E4M3FN f8E4M3FN",
    result: str = "f32",
) -> str:
    """A module with one op; `sizes` are B H Hk T S D E, `others` the types of operands behind v."""
    b, h, shared, t, s, d, e = sizes.split()
    shapes = (f"{b}x{h}x{t}x{d}", f"{b}x{shared}x{s}x{d}", f"{b}x{shared}x{s}x{e}")
    types = [f"tensor<{a}x{f}>" for a, f in zip(shapes, formats.split(), strict=True)]
    types += [f"tensor<{each}>" for each in others]
    taken = ", ".join(f"%x{i}: {each}" for i, each in enumerate(types))
    values = ", ".join(f"%x{i}" for i in range(len(types)))
    out = f"tensor<{b}x{h}x{t}x{e}x{result}>"
    return (
        f"func.func @main({taken}) -> {out} {{\n"
        f'%0 = "fp8.attention"({values}) {{operandSegmentSizes = array<i32: {present}>, '
        f"{attributes}}} : ({', '.join(types)}) -> {out}\nreturn %0 : {out}\n}}"
    )


FINITE = "causal, mask_value = -2.38e+38 : f32"
MODULES = {
    "plain": attention("1 2 1 70 130 64 64"),
    "scales": attention(
        "2 4 2 66 130 64 64", f"{SCALED_P}, scale = 0.125 : f32", ["f32"] * 3, SCALES
    ),
    "scales_of_heads": attention(
        "2 4 2 66 130 64 64",
        f"{SCALED_P}, causal",
        ["1x4x1x1xf32", "1x2x1x1xbf16", "2x2x1x1xf32"],
        SCALES,
    ),
    "of_k_alone": attention("1 4 2 9 70 64 64", P, ["1x1x1x1xf32"], "1, 1, 1, 0, 1, 0, 0, 0, 0"),
    "divided": attention("1 1 1 64 200 64 48", f"{P}, p_scale = 0.0022321429 : f32", result="f16"),
    "cache": attention(
        "2 2 1 3 203 64 64", f"{P}, causal", ["2xi64"], "1, 1, 1, 0, 0, 0, 0, 0, 1", result="bf16"
    ),
    "cache_at": attention(
        "2 2 1 3 203 64 64", f"{P}, causal, window = 9 : i64", ["i32"], "1, 1, 1, 0, 0, 0, 0, 0, 1"
    ),
    "one_query_of_shared_heads": attention(
        "2 8 2 1 203 64 64",
        f"{SCALED_P}, causal",
        ["2x2x1x1xf32", "1x2x1x1xf32", "f32", "2xi64"],
        "1, 1, 1, 1, 1, 1, 0, 0, 1",
    ),
    "one_query_of_scaled_heads": attention(
        "1 4 2 1 70 64 64", P, ["1x4x1x1xf32"], "1, 1, 1, 1, 0, 0, 0, 0, 0"
    ),
    "window": attention("1 1 1 150 150 64 64", f"{P}, causal, window = 40 : i64"),
    "finite_mask": attention("1 1 1 70 70 64 64", f"{P}, {FINITE}"),
    "e5m2": attention(
        "1 1 1 9 70 64 64", "p_type = f8E5M2", formats="f8E5M2 f8E4M3FN f8E4M3FN", result="bf16"
    ),
    "widened": attention(
        "1 1 1 9 70 64 64",
        f"{SCALED_P}, qk_type = bf16, pv_type = bf16, scale_scores, scale_out",
        ["f32"] * 3,
        SCALES,
    ),
    "widened_to_f32": attention(
        "1 1 1 9 70 64 64", f"{SCALED_P}, qk_type = f32, pv_type = f32", ["f32"] * 3, SCALES
    ),
}


def _arguments(module: ir.Module) -> list[np.ndarray]:
    """Normal numbers; scales near 1, positions among the keys."""
    random = np.random.default_rng(0)
    (function,) = (each.operation for each in module.body.operations)
    found: list[np.ndarray] = []
    for at, value in enumerate(function.regions[0].blocks[0].arguments):
        type_ = ir.RankedTensorType(value.type)
        shape, name = list(type_.shape), str(type_.element_type)
        if name[0] == "i":
            found.append(random.integers(0, 200, shape).astype(f"i{int(name[1:]) // 8}"))
            continue
        x = random.standard_normal(shape) if at < 3 else np.exp2(random.uniform(-1, 1, shape))
        found.append(np.asarray(x, np.float32).astype(TYPES[name]))
    return found


def _by_kernel(module: ir.Module, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, list]:
    """What the one kernel gives, on what native code makes of the ops before it, and that."""
    (call,) = operations(module.operation, "stablehlo.custom_call")
    (function,) = (each.operation for each in module.body.operations)
    block = function.regions[0].blocks[0]
    config = ir.DictAttr(call.attributes["backend_config"])
    result = ir.RankedTensorType(call.results[0].type)
    workspace = ir.RankedTensorType(call.results[1].type).shape[0]
    behind = [each.operation for each in block.operations]
    for each in reversed(behind[behind.index(call) + 1 :]):
        each.erase()
    given = list(call.operands)
    with module.context, ir.Location.unknown():
        taken = [each.type for each in block.arguments]
        type_ = ir.FunctionType.get(taken, [each.type for each in given])
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
        ir.Operation.create("func.return", operands=given, ip=ir.InsertionPoint(block))
    call.erase()
    assert module.operation.verify()
    moved = [np.ascontiguousarray(each) for each in mlir_fp8.compile(module)(*arguments)]
    sizes, kind = list(result.shape), np.dtype(TYPES[str(result.element_type)])
    numbers = {
        name: ir.IntegerAttr(config[name]).value
        for name in ("grid_x", "block_x", "shared_mem_bytes")
    }
    buffers = [each.reshape(-1).view(np.uint8) for each in moved]
    buffers.append(np.full(int(np.prod(sizes)) * kind.itemsize, 0xEE, np.uint8))
    buffers.append(np.zeros(workspace, np.uint8))
    ptx = ir.StringAttr(config["kernel_data"]).value
    found = run_kernel(
        ptx, buffers, (numbers["grid_x"],), numbers["block_x"], numbers["shared_mem_bytes"]
    )
    return found[-2].view(kind).reshape(sizes).astype(np.float64), moved


def _found(module: ir.Module) -> FoundAttention:
    (op,) = operations(module.operation, "fp8.attention")
    found = attention_of(op)
    assert not isinstance(found, str), found
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", list(MODULES))
def test_values_are_within_the_bound_of_the_cpu(name: str) -> None:
    text = MODULES[name]
    arguments = _arguments(parsed(text))
    (by_op,) = mlir_fp8.compile(parsed(text))(*arguments)
    module = parsed(text)
    Fp8KernelsForXlaGpu(attention=True).run(module.operation)
    by_kernel, moved = _by_kernel(module, arguments)
    before = parsed(text)
    found = _found(before)
    shape = found.shape
    positions = arguments[-1].reshape(-1) if shape.offsets else np.zeros(0)
    q, k, v = arguments[:3]
    factor = moved[3] / gpu_attention.LOG2E
    q = q.reshape(shape.batch, shape.heads, shape.rows, shape.depth)
    assert (shape.row_step == 0) == (name == "one_query_of_shared_heads")
    given = gpu_attention.Operands(q, k, v, factor, moved[4], positions)
    assert [each.shape for each in moved[3:5]] == [(shape.batch, shape.heads)] * 2
    wanted, bound = gpu_attention.exact(shape, given)
    wanted_of_op, bound_of_op = gpu_attention.exact(shape, given, found.p_range)
    assert (np.abs(by_kernel - wanted) <= bound).all()
    by_op = by_op.astype(np.float64).reshape(wanted.shape)
    assert (np.abs(by_op - wanted_of_op) <= bound_of_op).all()


MASK, BIAS = "1, 1, 1, 0, 0, 0, 0, 1, 0", "1, 1, 1, 0, 0, 0, 1, 0, 0"
LEFT = {
    "q, k and v are not all of": attention(
        "1 1 1 9 9 64 64", f"{P}, qk_type = bf16", formats="bf16 f8E4M3FN f8E4M3FN"
    ),
    "probabilities are not of": attention("1 1 1 9 9 64 64", "pv_type = bf16"),
    "has a bias": attention("1 1 1 9 9 64 64", P, ["1x1x9x9xf32"], BIAS),
    "has a mask: give causal": attention("1 1 1 9 9 64 64", P, ["1x1x9x9xi1"], MASK),
    "scores are rounded to bf16": attention("1 1 1 9 9 64 64", f"{P}, score_type = bf16"),
    "v_scale multiplies": attention(
        "1 1 1 9 9 64 64", f"{P}, scale_p", ["f32"], "1, 1, 1, 0, 0, 1, 0, 0, 0"
    ),
    "mask_value -100 is neither": attention(
        "1 1 1 9 9 64 64", f"{P}, causal, mask_value = -100.0 : f32"
    ),
    "its k_scale is not one number": attention(
        "1 1 1 9 9 64 64", P, ["1x1x9x1xf32"], "1, 1, 1, 0, 1, 0, 0, 0, 0"
    ),
    "its q_scale is that of blocks": attention(
        "1 8 4 9 9 64 64", P, ["1x2x1x1xf32"], "1, 1, 1, 1, 0, 0, 0, 0, 0"
    ),
    "scaled in bf16, not their sum": attention(
        "1 1 1 9 9 64 64", f"{P}, qk_type = bf16", ["f32"], "1, 1, 1, 1, 0, 0, 0, 0, 0"
    ),
    "P and v are scaled in f16": attention(
        "1 1 1 9 9 64 64", f"{P}, pv_type = f16", ["f32"], "1, 1, 1, 0, 0, 1, 0, 0, 0"
    ),
    "not from 1 to 448": attention("1 1 1 9 9 64 64", f"{P}, p_scale = 0.001 : f32"),
    "from 1 to 57344": attention("1 1 1 9 9 64 64", "p_type = f8E5M2, p_scale = 2.0 : f32"),
    "sizes are from 1": attention("1 1 1 9 0 64 64", P),
    "more than 128 numbers": attention("1 1 1 9 9 64 256", P),
}


@pytest.mark.parametrize("reason", list(LEFT))
def test_what_no_kernel_computes_is_left_with_the_reason(reason: str) -> None:
    module = parsed(LEFT[reason])
    (op,) = operations(module.operation, "fp8.attention")
    assert reason in str(attention_of(op))
    Fp8KernelsForXlaGpu(attention=True).run(module.operation)
    assert operations(module.operation, "fp8.attention")
    assert not operations(module.operation, "stablehlo.custom_call")


@pytest.mark.parametrize(("rate", "becomes"), [(None, 0), (100.0, 0), (900.0, 1)])
def test_times_decide(rate: float | None, becomes: int, tmp_path: Path) -> None:
    card = table(tmp_path, attention=rate, attention_by_xla=None if rate is None else 300.0)
    module = parsed(attention("1 4 4 512 512 64 64", f"{P}, causal"))
    Fp8KernelsForXlaGpu(card).run(module.operation)
    assert len(operations(module.operation, "stablehlo.custom_call")) == becomes


def test_few_queries_have_no_known_time(tmp_path: Path) -> None:
    card = table(tmp_path, attention=900.0, attention_by_xla=300.0)
    module = parsed(attention("1 4 4 500 512 64 64", f"{P}, causal"))
    Fp8KernelsForXlaGpu(card).run(module.operation)
    assert not operations(module.operation, "stablehlo.custom_call")


def test_an_offset_beyond_i32_hides_or_shows_as_it_did() -> None:
    text = MODULES["cache"]
    arguments = _arguments(parsed(text))
    arguments[-1][:] = [2**40, -(2**40)]
    module = parsed(text)
    Fp8KernelsForXlaGpu(attention=True).run(module.operation)
    found = np.isnan(_by_kernel(module, arguments)[0])
    assert not found[0].any() and found[1].all()
