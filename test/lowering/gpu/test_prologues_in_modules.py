"""Elementwise ops in front of a quantization: in its kernel, or left to XLA, and the values."""

import re
from pathlib import Path

import gpu_kernels as gpu
import numpy as np
import pytest
from hand_written_ptx import assemble
from test_kernels_in_modules import codes_in_blocks
from test_products_in_modules import evaluated, parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.fp8.weights.layouts import Blocks
from mlir_fp8.lowering.gpu.fp8_kernels_for_xla_gpu import Fp8KernelsForXlaGpu
from mlir_fp8.lowering.gpu.kernels.prologue import MOST_STEPS
from mlir_fp8.lowering.gpu.kernels.quantize_transpose import (
    QuantizeTranspose,
    quantize_transpose_kernel,
)
from mlir_fp8.lowering.gpu.xla import calls
from mlir_fp8.lowering.gpu.xla.calls import KernelCalls
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue, prologue_of
from mlir_fp8.lowering.gpu.xla.quantizers import put_kernel, quantizer_of
from mlir_fp8.lowering.gpu.xla.rows import put_rows_kernel, row_quantizer_of
from mlir_fp8.passes.pass_pipeline import run_pipeline

CALL = "stablehlo.custom_call"
HALF = """
  %y2 = stablehlo.multiply %x, %x : T
  %y3 = stablehlo.multiply %y2, %x : T
  %c0 = stablehlo.constant dense<0.044715> : tensor<E>
  %b0 = stablehlo.broadcast_in_dim %c0, dims = [] : (tensor<E>) -> T
  %u0 = stablehlo.multiply %b0, %y3 : T
  %u1 = stablehlo.add %x, %u0 : T
  %b1 = stablehlo.constant dense<0.797> : T
  %u2 = stablehlo.multiply %b1, %u1 : T
  %t = stablehlo.tanh %u2 : T
  %one = stablehlo.constant dense<1.0> : T
  %t1 = stablehlo.add %one, %t : T
  %b2 = stablehlo.constant dense<0.5> : T
  %half = stablehlo.multiply %b2, %t1 : T"""
GELU = f"{HALF}\n  %h = stablehlo.multiply %x, %half : T"
GELU_GRADIENT = f"""{HALF}
  %d0 = stablehlo.multiply %x, %y : T
  %d1 = stablehlo.multiply %y, %half : T
  %d2 = stablehlo.multiply %b2, %d0 : T
  %d3 = stablehlo.subtract %one, %t : T
  %d4 = stablehlo.multiply %d2, %d3 : T
  %d5 = stablehlo.multiply %d4, %t : T
  %d6 = stablehlo.add %d4, %d5 : T
  %d7 = stablehlo.multiply %b1, %d6 : T
  %d8 = stablehlo.add %d1, %d7 : T
  %d9 = stablehlo.multiply %b0, %d7 : T
  %e0 = stablehlo.constant dense<3.0> : T
  %e1 = stablehlo.multiply %e0, %y2 : T
  %e2 = stablehlo.multiply %d9, %e1 : T
  %h = stablehlo.add %d8, %e2 : T"""
RESIDUAL = """
  %b = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<Nxbf16>) -> tensor<MxNxbf16>
  %bw = stablehlo.convert %b : (tensor<MxNxbf16>) -> W
  %yw = stablehlo.convert %y : (tensor<MxNxbf16>) -> W
  %r0 = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<Mx1xf32>) -> W
  %m = stablehlo.subtract %yw, %r0 : W
  %xw = stablehlo.convert %x : (T) -> W
  %m1 = stablehlo.multiply %m, %xw : W
  %m2 = stablehlo.add %m1, %bw : W
  %v = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> W
  %m3 = stablehlo.divide %m2, %v : W
  %one = stablehlo.constant dense<1.0> : W
  %m4 = stablehlo.add %m3, %one : W
  %h = stablehlo.convert %m4 : (W) -> T"""
"""Zeros in the place of what is outside of the matrix would give other numbers than 0."""
TEXT = """
func.func @main(%x: T, %y: tensor<MxNxbf16>, %a: tensor<f32>, %r: tensor<Mx1xf32>, %n: tensor<Nxbf16>, %s: tensor<f32>) -> (tensor<MxNxF>, tensor<NxMxF>, tensor<f32>) {BODY
  %w = stablehlo.convert %h : (T) -> W
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.abs %w : W
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (W, tensor<f32>) -> tensor<f32>
  %q = "fp8.quantize"(%w, %s) {saturate} : (W, tensor<f32>) -> tensor<MxNxF>
  %3 = stablehlo.transpose %q, dims = [1, 0] : (tensor<MxNxF>) -> tensor<NxMxF>
  return %q, %3, %2 : tensor<MxNxF>, tensor<NxMxF>, tensor<f32>
}"""  # noqa: E501


def _text(
    body: str, rows: int, columns: int, element: str = "bf16", format_: str = "f8E4M3FN"
) -> str:
    text = TEXT.replace("BODY", body).replace("T", f"tensor<MxNx{element}>")
    if element == "f32":
        text = text.replace("stablehlo.convert %h :", "stablehlo.multiply %h, %one :")
        text = text.replace("%one : (tensor<MxNxf32>) -> W", "%one : W")
        text = text.replace("%h = stablehlo.convert %m4", "%h = stablehlo.negate %m4")
        text = text.replace("negate %m4 : (W) -> tensor<MxNxf32>", "negate %m4 : W")
        text = text.replace("convert %x : (tensor<MxNxf32>) -> W", "abs %x : W")
    text = text.replace("W", "tensor<MxNxf32>").replace("<E>", f"<{element}>")
    return text.replace("Mx", f"{rows}x").replace("Nx", f"{columns}x").replace("F>", f"{format_}>")


def _arrays(rows: int, columns: int, element: str) -> list[np.ndarray]:
    random = np.random.default_rng(3)
    x = random.standard_normal((rows, columns)) * np.exp2(random.integers(-6, 2, (rows, columns)))
    y = random.standard_normal((rows, columns))
    row, column = random.standard_normal((rows, 1)), random.standard_normal(columns)
    bf16 = gpu.ELEMENTS["bf16"]
    scalars = [np.array(each, np.float32) for each in (1.7, 0.013)]
    return [
        x.astype(gpu.ELEMENTS[element]),
        y.astype(bf16),
        scalars[0],
        row.astype(np.float32),
        column.astype(bf16),
        scalars[1],
    ]


def _with_kernels(text: str) -> ir.Module:
    """The module with a kernel for each quantization, whatever it costs."""
    module = parsed(text)
    with module.context:
        for op in operations(module.operation, "fp8.quantize"):
            found = quantizer_of(op)
            assert not isinstance(found, str), found
            put_kernel(found, KernelCalls("sm_90a", module.context))
    assert module.operation.verify()
    return module


def _both(text: str, arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    module = _with_kernels(text)
    made = [each.name for each in operations(module.operation) if "stablehlo" in each.name]
    assert made == ["stablehlo.constant", CALL]  # no op in front is left
    return evaluated(module, arrays), [
        np.asarray(x) for x in mlir_fp8.compile(parsed(text))(*arrays)
    ]


@pytest.mark.parametrize(
    ("element", "format_", "rows", "columns"),
    [
        ("bf16", "f8E4M3FN", 128, 128),
        ("bf16", "f8E5M2", 136, 136),  # tiles that end in the middle, whole vectors
        ("f16", "f8E4M3FN", 100, 99),  # rows that begin anywhere
        ("f32", "f8E4M3FN", 33, 130),
        ("f32", "f8E5M2", 128, 128),
    ],
)
def test_exact_ops_give_the_codes_of_the_module(
    element: str, format_: str, rows: int, columns: int
) -> None:
    """Tensors of two types, a scalar, a row and a column, by the CPU to the bit."""
    text = _text(RESIDUAL, rows, columns, element, format_)
    found, wanted = _both(text, _arrays(rows, columns, element))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one.view(f"u{one.itemsize}"), other.view(f"u{one.itemsize}"))


def test_the_gradient_of_gelu_is_within_a_last_place_of_bf16_of_its_terms() -> None:
    arrays = _arrays(128, 128, "bf16")
    module = _with_kernels(_text(GELU_GRADIENT, 128, 128, format_="f8E5M2"))
    (call,) = operations(module.operation, CALL)
    assert [ir.BlockArgument(each).arg_number for each in list(call.operands)[:2]] == [0, 1]
    found = evaluated(module, arrays)
    wanted = mlir_fp8.compile(parsed(_text(GELU_GRADIENT, 128, 128, format_="f8E5M2")))(*arrays)
    size = np.abs(arrays[1].astype(float)) * (1 + np.abs(arrays[0].astype(float)))
    one, other = (np.asarray(each[0]).astype(float) * 0.013 for each in (found, wanted))
    assert (np.abs(one - other) <= 2.0**-7 * size + 2.0**-2 * np.abs(other) + 1e-6).all()
    assert (one != other).mean() < 0.02
    np.testing.assert_array_equal(found[1].view(np.uint8), found[0].view(np.uint8).T)


@pytest.mark.parametrize("element", list(gpu.ELEMENTS))
def test_gelu_gives_the_codes_or_their_neighbours(element: str) -> None:
    arrays = _arrays(40, 130, element)
    arrays[0][0, :4] = np.array([0.0, -0.0, 60.0, -60.0]).astype(gpu.ELEMENTS[element])
    found, wanted = _both(_text(GELU, 40, 130, element), arrays)
    for one, other in zip(found[:2], wanted[:2], strict=True):
        apart = np.abs(one.view(np.int8).astype(int) - other.view(np.int8).astype(int))
        assert apart.max() <= 1
        assert (apart > 0).mean() < 0.02
    assert abs(found[2] / wanted[2] - 1) <= 2.0**-7


def test_what_others_use_is_computed_twice_or_read() -> None:
    """%p is returned: what it is made of has no more bytes. %t is of two tensors: it is read."""
    body = """
  %p = stablehlo.negate %x : T
  %t = stablehlo.add %x, %y : T
  %h = stablehlo.multiply %p, %t : T"""
    text = _text(body, 128, 128).replace("%q, %3, %2 :", "%q, %3, %2, %p, %t :")
    text = text.replace("tensor<f32>) {", "tensor<f32>, U, U) {").replace(
        "tensor<f32>\n}", "tensor<f32>, U, U\n}"
    )
    module = _with_kernels(text.replace("U", "tensor<128x128xbf16>"))
    (call,) = operations(module.operation, CALL)
    (added,) = operations(module.operation, "stablehlo.add")
    assert call.operands[0] == added.results[0] or call.operands[1] == added.results[0]
    assert [isinstance(each.owner, ir.Block) for each in call.operands].count(True) == 2
    assert len(operations(module.operation, "stablehlo.negate")) == 1  # that which is returned


def test_two_quantizations_of_one_value() -> None:
    text = _text(RESIDUAL, 128, 128).replace(
        "  return %q, %3",
        """  %p = "fp8.quantize"(%w, %a) {saturate} : (W, tensor<f32>) -> X
  %4 = stablehlo.transpose %p, dims = [1, 0] : (X) -> X
  return %4, %3""",
    )
    text = text.replace("W", "tensor<128x128xf32>").replace("X", "tensor<128x128xf8E4M3FN>")
    arrays = _arrays(128, 128, "bf16")
    module = _with_kernels(text)
    assert len(operations(module.operation, CALL)) == 2
    assert not operations(module.operation, "stablehlo.multiply")
    wanted = mlir_fp8.compile(parsed(text))(*arrays)
    for one, other in zip(evaluated(module, arrays), wanted, strict=True):
        other = np.asarray(other)
        bits = f"u{other.itemsize}"
        np.testing.assert_array_equal(one.view(bits), other.view(bits))


@pytest.mark.parametrize(
    ("element", "rows", "columns", "blocks"),
    [
        ("bf16", 6, 512, (1, 0)),
        ("f32", 5, 99, (1, 0)),  # elements behind the last of a row
        ("bf16", 5, 640, (1, 128)),
        ("f16", 4, 128, (1, 128)),
    ],
)
def test_scales_of_rows_and_groups(element: str, rows: int, columns: int, blocks: Blocks) -> None:
    """A normalization: a number for each row, one for each column."""
    text = f"""func.func @main(
    %x: T, %r: tensor<{rows}x1xf32>, %n: tensor<{columns}x{element}>) -> T {{
  %w = stablehlo.convert %x : (T) -> W
  %m = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<{rows}x1xf32>) -> W
  %0 = stablehlo.subtract %w, %m : W
  %1 = stablehlo.convert %0 : (W) -> T
  %g = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<{columns}x{element}>) -> T
  %h = stablehlo.multiply %1, %g : T
  return %h : T
}}"""
    text = text.replace("T", f"tensor<{rows}x{columns}x{element}>")
    text = text.replace("W", f"tensor<{rows}x{columns}xf32>")
    x, _, _, r, n, _ = _arrays(rows, columns, element)
    arrays = [x, r, n.astype(gpu.ELEMENTS[element])]
    wanted = mlir_fp8.compile(codes_in_blocks(text, blocks, 1.0))(*arrays)
    module = codes_in_blocks(text, blocks, 1.0)
    with module.context:
        (op,) = operations(module.operation, "fp8.quantize")
        found = row_quantizer_of(op)
        assert not isinstance(found, str), found
        put_rows_kernel(found, KernelCalls("sm_90a", module.context))
    assert module.operation.verify()
    (call,) = (each for each in operations(module.operation) if "stablehlo" in each.name)
    assert len(call.operands) == 3
    codes, scales = evaluated(module, arrays)
    np.testing.assert_array_equal(codes.view(np.uint8), np.asarray(wanted[0]).view(np.uint8))
    np.testing.assert_array_equal(scales, wanted[1])


def _reason(body: str, then: str = "") -> str:
    """Why what makes %h stays in front of the kernel."""
    text = _text(body, 128, 128).replace("  %w =", f"{then}\n  %w =")
    text = text.replace("T", "tensor<128x128xbf16>")
    module = parsed(text)
    (quantize,) = operations(module.operation, "fp8.quantize")
    found = prologue_of(quantize.operands[0].owner.operands[0])
    assert isinstance(found, str), found
    module = _with_kernels(text)
    (call,) = operations(module.operation, CALL)
    assert len(call.operands) == 3
    return found


def test_what_is_left_to_xla() -> None:
    deep = ["%h0 = stablehlo.add %x, %x : T"]
    deep += [f"%h{i + 1} = stablehlo.add %h{i}, %x : T" for i in range(MOST_STEPS)]
    deep.append(f"%h = stablehlo.negate %h{MOST_STEPS} : T")
    assert _reason("\n".join(deep)) == f"more than {MOST_STEPS} ops make it"
    used = "%k = stablehlo.reverse %h, dims = [0] : T"
    assert _reason("\n%h = stablehlo.negate %x : T", used) == (
        "'stablehlo.reverse' uses what is quantized too"
    )
    sines = "\n%i = stablehlo.sine %x : T\n%h = stablehlo.add %i, %x : T"
    assert _reason(sines) == "XLA would write 'stablehlo.sine' for it"
    costly = "\n".join(f"%d{i + 1} = stablehlo.divide %x, %d{i} : T" for i in range(9))
    costly = f"\n%d0 = stablehlo.negate %x : T\n{costly}\n%h = stablehlo.abs %d9 : T"
    assert _reason(costly) == "9 divisions and functions make it"
    shape = "\n%h = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<128xbf16>) -> T"
    assert _reason(shape) == ""
    assert _reason("\n%h = stablehlo.sine %x : T") == ""


@pytest.mark.parametrize(
    ("behind", "is_taken"),
    [
        ("%h = stablehlo.multiply %d, %b : T", False),
        ("%h = stablehlo.divide %d, %b : T", False),
        ("%h = stablehlo.multiply %d, %x : T", True),
        ("%i = stablehlo.multiply %d, %b : T\n%h = stablehlo.negate %i : T", True),
    ],
)
def test_the_scale_behind_a_dot_stays_with_it(behind: str, is_taken: bool) -> None:
    body = f"""
  %d = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (T, T) -> T
  %c = stablehlo.convert %a : (tensor<f32>) -> tensor<bf16>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<bf16>) -> T
  {behind}"""
    module = _with_kernels(_text(body, 128, 128))
    (call,) = operations(module.operation, CALL)
    name = call.operands[0].owner.name
    assert (name == "stablehlo.dot_general") == ("%d, %x" in behind)
    assert bool(operations(module.operation, "stablehlo.negate")) is False
    is_multiply = name in ("stablehlo.multiply", "stablehlo.divide")
    assert is_multiply == ("%b" in behind)
    assert is_taken or is_multiply


def test_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    text = _text(GELU, 1024, 2048)
    for prologues, said in ((True, "with 9 ops on 1 tensor in front of it"), (False, "by XLA\n")):
        module = parsed(text)
        Fp8KernelsForXlaGpu(prologues=prologues, remarks=True).run(module.operation)
        (call,) = operations(module.operation, CALL)
        assert isinstance(call.operands[0].owner, ir.Block) == prologues
        assert capsys.readouterr().err.endswith(f"{said.strip()}\n")


def test_the_step_of_an_mlp_writes_no_activation(monkeypatch: pytest.MonkeyPatch) -> None:
    """At its real size: gelu, its gradient and that of the loss are made in the kernels."""
    pytest.importorskip("jax")
    from benchmarks.gpu.programs import mlp_step

    monkeypatch.setattr(calls, "ptx_of_kernel", lambda *_: "")
    module = parsed(mlp_step(8192, 4096, 16384).text())
    options = "recipe=delayed skip-batched=true power-of-two=true"
    run_pipeline(module, ["fp8-fuse-scaled-dot", f"fp8-quantize-dots{{{options}}}"])
    Fp8KernelsForXlaGpu().run(module.operation)
    found: list[list[str]] = []
    for op in operations(module.operation, CALL):
        config = ir.DictAttr(op.attributes["backend_config"])
        if ir.StringAttr(config["name"]).value == "quantize_transpose":
            read = [each for each in op.operands if ir.RankedTensorType(each.type).rank]
            owners = [each.owner for each in read]
            found.append(["" if isinstance(each, ir.Block) else each.name for each in owners])
    dot = "fp8.scaled_dot"
    assert found == [[""], [""], [""], [dot], [dot, ""], [dot, dot]]
    assert not operations(module.operation, "stablehlo.tanh", "fp8.quantize")


FOUR = """
  %p0 = stablehlo.add %x, %y : T
  %p1 = stablehlo.convert %i : (tensor<MxNxf32>) -> T
  %p2 = stablehlo.multiply %p0, %p1 : T
""" + "\n".join(f"  %p{i + 1} = stablehlo.logistic %p{i} : T" for i in range(2, 10))
"""As many words as a prologue may read, and functions as it may have."""


@pytest.mark.parametrize(
    ("body", "loads", "registers"),
    [
        (GELU, 8, 80),
        (GELU_GRADIENT, 16, 80),
        (f"{FOUR}\n  %h = stablehlo.negate %p10 : T", 32, 128),
    ],
)
def test_registers_and_loads(body: str, loads: int, registers: int, tmp_path: Path) -> None:
    """80 are those of three blocks on a multiprocessor; all loads are of 16 bytes."""
    text = _text(body, 1024, 2048).replace("%y: ", "%i: tensor<1024x2048xf32>, %y: ")
    module = parsed(text)
    (op,) = operations(module.operation, "fp8.quantize")
    found = quantizer_of(op)
    assert not isinstance(found, str) and isinstance(found.prologue, FoundPrologue), found
    shape = QuantizeTranspose(1024, 2048, prologue=found.prologue.prologue)
    ptx = gpu.ptx_of(quantize_transpose_kernel(shape))
    every = re.findall(r"ld\.global\.(\S+)", ptx)
    assert every.count("v4.b32") == loads
    assert len(every) == loads + 1  # the scale
    assert "local" not in ptx  # memory of a thread, off the chip
    said = assemble(ptx, tmp_path)
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    used = re.search(r"Used (\d+) registers", said)
    assert used and int(used[1]) <= registers, said
