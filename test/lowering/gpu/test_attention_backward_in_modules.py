"""`fp8.attention_backward`s as kernels: values against the CPU's of the same op; what is left."""

from collections.abc import Sequence

import gpu_attention_backward
import numpy as np
import pytest
from ptx_machine import run_kernel
from test_products_in_modules import parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.kernels.attention_backward.shape import AttentionBackward


def backward(sizes: str, attributes: str = "", element: str = "bf16") -> str:
    """A module with one op; `sizes` are B H Hk T S D E."""
    b, h, shared, t, s, d, e = sizes.split()
    shapes = [f"{b}x{h}x{t}x{d}", f"{b}x{shared}x{s}x{d}", f"{b}x{shared}x{s}x{e}"]
    types = [f"tensor<{each}x{element}>" for each in [*shapes, *[f"{b}x{h}x{t}x{e}"] * 2]]
    types.append(f"tensor<{b}x{h}x{t}xf32>")
    taken = ", ".join(f"%x{i}: {each}" for i, each in enumerate(types))
    made, values = ", ".join(types[:3]), ", ".join(f"%x{i}" for i in range(6))
    return (
        f"func.func @main({taken}) -> ({made}) {{\n"
        f'%0:3 = "fp8.attention_backward"({values}) {{{attributes}}} : ({", ".join(types)}) -> '
        f"({made})\nreturn %0#0, %0#1, %0#2 : {made}\n}}"
    )


MODULES = {
    "plain": ("1 2 2 70 130 64 64", "", "bf16"),
    "shared": ("1 4 2 66 66 64 32", "causal, scale = 0.125 : f32", "bf16"),
    "f16": ("2 1 1 3 5 16 16", "scale = 0.125 : f32", "f16"),
}


def _by_kernels(module: ir.Module, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """dq, dk and dv as bytes, on what native code makes of the ops before the kernels."""
    calls = list(operations(module.operation, "stablehlo.custom_call"))
    (function,) = (each.operation for each in module.body.operations)
    block = function.regions[0].blocks[0]
    configs = [ir.DictAttr(each.attributes["backend_config"]) for each in calls]
    given = list(calls[0].operands)
    assert list(calls[1].operands) == given
    made = [[ir.RankedTensorType(each.type) for each in call.results] for call in calls]
    behind = [each.operation for each in block.operations]
    for each in reversed(behind[behind.index(calls[0]) :]):
        each.erase()
    with module.context, ir.Location.unknown():
        type_ = ir.FunctionType.get(
            [each.type for each in block.arguments], [each.type for each in given]
        )
        function.attributes["function_type"] = ir.TypeAttr.get(type_)
        ir.Operation.create("func.return", operands=given, ip=ir.InsertionPoint(block))
    moved = [np.ascontiguousarray(each) for each in mlir_fp8.compile(module)(*arguments)]
    found: list[np.ndarray] = []
    for config, types in zip(configs, made, strict=True):
        numbers = [
            ir.IntegerAttr(config[each]).value for each in ("grid_x", "block_x", "shared_mem_bytes")
        ]
        buffers = [each.reshape(-1).view(np.uint8) for each in moved]
        sizes = [int(np.prod(each.shape)) for each in types]
        buffers += [np.full(2 * size, 0xEE, np.uint8) for size in sizes[:-1]]
        buffers.append(np.zeros(sizes[-1], np.uint8))
        ptx = ir.StringAttr(config["kernel_data"]).value
        found += run_kernel(ptx, buffers, (numbers[0],), numbers[1], numbers[2])[6:-1]
    return found


@pytest.mark.parametrize("name", list(MODULES))
def test_values_are_within_the_bound_of_the_cpu(name: str) -> None:
    text = backward(*MODULES[name])
    sizes, attributes, element = MODULES[name]
    b, h, shared, t, s, d, e = map(int, sizes.split())
    shape = AttentionBackward(
        b, h, shared, t, s, d, e,
        scale=0.125 if attributes else 1.0, element=element, causal="causal" in attributes,
    )  # fmt: skip
    given = gpu_attention_backward.given(shape, spread=1 / np.sqrt(d))
    out = gpu_attention_backward.out_of(shape, given)
    arguments = [given.q, given.k, given.v, out, given.do, given.lse]
    by_op = mlir_fp8.compile(parsed(text))(*arguments)
    module = parsed(text)
    Fp8KernelsForXlaGpu(attention=True).run(module.operation)
    by_kernels = _by_kernels(module, arguments)
    delta = (out.astype(np.float64) * given.do.astype(np.float64)).sum(-1)
    given = gpu_attention_backward.with_delta(given, delta)
    expected = gpu_attention_backward.exact(shape, given)
    for each, other, name_ in zip(by_op, by_kernels, ("dq", "dk", "dv"), strict=True):
        wanted, bound = expected[name_]
        other = other.view(each.dtype).reshape(each.shape)
        assert (np.abs(each.astype(np.float64) - wanted) <= bound).all(), name_
        assert (np.abs(other.astype(np.float64) - wanted) <= bound).all(), name_


LEFT = {
    "f32 is none of bf16, f16": backward("1 1 1 9 9 64 64", element="f32"),
    "no multiple of 8": backward("1 1 1 9 9 60 64"),
    "heads of more than 128": backward("1 1 1 9 9 256 64"),
}


@pytest.mark.parametrize("reason", list(LEFT))
def test_what_is_left_and_why(reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = parsed(LEFT[reason])
    Fp8KernelsForXlaGpu(attention=True, remarks=True).run(module.operation)
    assert "custom_call" not in str(module)
    assert reason in capsys.readouterr().err


def test_without_times_it_is_put_in_where_the_option_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = backward(*MODULES["plain"])
    for attention in (False, True):
        module = parsed(text)
        Fp8KernelsForXlaGpu(attention=attention, remarks=True).run(module.operation)
        assert str(module).count("stablehlo.custom_call") == 2 * attention
    assert "the option 'attention' says so" in capsys.readouterr().err
