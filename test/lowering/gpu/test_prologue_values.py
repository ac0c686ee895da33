"""What kernels compute before they quantize, run from its PTX, against the CPU's native code."""

import gpu_kernels as gpu
import numpy as np
import pytest
from test_products_in_modules import parsed
from torch_mlir import ir

import mlir_fp8
from mlir_fp8.base.operations import operations
from mlir_fp8.lowering.gpu.kernels.elements import ELEMENTS
from mlir_fp8.lowering.gpu.kernels.elementwise import OPS
from mlir_fp8.lowering.gpu.kernels.prologue import Prologue, Site, Tensor
from mlir_fp8.lowering.gpu.kernels.text import GpuText, Kernel
from mlir_fp8.lowering.gpu.xla.prologues import FoundPrologue, prologue_of

ALL = pytest.mark.parametrize("element", list(gpu.ELEMENTS))
ROWS, COLUMNS = 24, 64
T = "tensor<24x64xE>"
EXACT = {
    "add": f"%h = stablehlo.add %x, %y : {T}",
    "subtract": f"%h = stablehlo.subtract %x, %y : {T}",
    "multiply": f"%h = stablehlo.multiply %x, %y : {T}",
    "divide": f"%h = stablehlo.divide %x, %y : {T}",
    "maximum": f"%h = stablehlo.maximum %x, %y : {T}",
    "minimum": f"%h = stablehlo.minimum %x, %y : {T}",
    "negate": f"%h = stablehlo.negate %x : {T}",
    "abs": f"%h = stablehlo.abs %x : {T}",
    "sqrt": f"%h = stablehlo.sqrt %x : {T}",
    "clamp": f"%h = stablehlo.clamp %a, %x, %b : (tensor<E>, {T}, tensor<E>) -> {T}",
    "select": f"""%c = stablehlo.compare LT, %x, %y : ({T}, {T}) -> tensor<24x64xi1>
      %d = stablehlo.compare NE, %x, %x : ({T}, {T}) -> tensor<24x64xi1>
      %e = stablehlo.or %c, %d : tensor<24x64xi1>
      %f = stablehlo.compare GE, %y, %x, FLOAT : ({T}, {T}) -> tensor<24x64xi1>
      %g = stablehlo.and %e, %f : tensor<24x64xi1>
      %i = stablehlo.select %g, %x, %y : tensor<24x64xi1>, {T}
      %h = stablehlo.select %c, %i, %x : tensor<24x64xi1>, {T}""",
    "compare": f"""%c = stablehlo.compare EQ, %x, %y : ({T}, {T}) -> tensor<24x64xi1>
      %d = stablehlo.compare GT, %x, %y : ({T}, {T}) -> tensor<24x64xi1>
      %e = stablehlo.compare LE, %x, %y : ({T}, {T}) -> tensor<24x64xi1>
      %f = stablehlo.select %c, %x, %y : tensor<24x64xi1>, {T}
      %g = stablehlo.select %d, %f, %x : tensor<24x64xi1>, {T}
      %h = stablehlo.select %e, %g, %f : tensor<24x64xi1>, {T}""",
    "square": f"%h = chlo.square %x : {T} -> {T}",
    "convert": f"""%c = stablehlo.convert %x : ({T}) -> tensor<24x64xf32>
      %d = stablehlo.convert %y : ({T}) -> tensor<24x64xf16>
      %e = stablehlo.convert %d : (tensor<24x64xf16>) -> tensor<24x64xbf16>
      %f = stablehlo.convert %e : (tensor<24x64xbf16>) -> tensor<24x64xf32>
      %g = stablehlo.add %c, %f : tensor<24x64xf32>
      %h = stablehlo.convert %g : (tensor<24x64xf32>) -> {T}""",
    "scalar": f"""%c = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<E>) -> {T}
      %h = stablehlo.multiply %c, %x : {T}""",
    "constant": f"""%c = stablehlo.constant dense<-1.1> : {T}
      %d = stablehlo.constant dense<0.0> : tensor<E>
      %e = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<E>) -> {T}
      %f = stablehlo.maximum %x, %e : {T}
      %h = stablehlo.add %c, %f : {T}""",
    "rows": f"""%c = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<24xE>) -> {T}
      %h = stablehlo.subtract %x, %c : {T}""",
    "columns": f"""%c = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<64xE>) -> {T}
      %h = stablehlo.subtract %c, %x : {T}""",
    "a_row_of_rank_2": f"""%c = stablehlo.reshape %n : (tensor<64xE>) -> tensor<1x64xE>
      %d = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<1x64xE>) -> {T}
      %h = stablehlo.subtract %d, %x : {T}""",
    "twice": f"""%c = stablehlo.add %x, %y : {T}
      %d = stablehlo.add %x, %y : {T}
      %h = stablehlo.multiply %c, %d : {T}""",
}
ARGUMENTS = f"%x: {T}, %y: {T}, %a: tensor<E>, %b: tensor<E>, %r: tensor<24xE>, %n: tensor<64xE>"
TAIL = {
    "f32": '%q = "fp8.quantize"(%h, %s) {saturate} : (W, tensor<f32>) -> tensor<24x64xf8E4M3FN>',
    "": """%w = stablehlo.convert %h : (T) -> W
  %q = "fp8.quantize"(%w, %s) {saturate} : (W, tensor<f32>) -> tensor<24x64xf8E4M3FN>""",
}


def _prologue(body: str, element: str) -> tuple[Prologue, list[int]]:
    """What of `body`, which makes %h, a kernel would compute, and of which arguments."""
    tail = TAIL.get(element, TAIL[""]).replace("W", "tensor<24x64xf32>").replace("T)", f"{T})")
    text = f"""func.func @main({ARGUMENTS}, %s: tensor<f32>) -> tensor<24x64xf8E4M3FN> {{
  {body}
  {tail}
  return %q : tensor<24x64xf8E4M3FN>
}}"""
    module = parsed(text.replace("xE>", f"x{element}>").replace("<E>", f"<{element}>"))
    (quantize,) = operations(module.operation, "fp8.quantize")
    source = quantize.operands[0]
    if element != "f32":
        source = source.owner.operands[0]
    found = prologue_of(source)
    assert isinstance(found, FoundPrologue), found
    return found.prologue, [_argument(each) for each in found.operands]


def _argument(value: ir.Value) -> int:
    """The number of the argument that `value` is, or is reshaped from."""
    while not isinstance(value.owner, ir.Block):
        value = value.owner.operands[0]
    return ir.BlockArgument(value).arg_number


def _computed(prologue: Prologue, arrays: list[np.ndarray], element: str) -> np.ndarray:
    """What a kernel computes that stores it, a vector for each thread."""
    text, threads = GpuText(), 32
    x = Tensor(text, ROWS, COLUMNS, element, prologue)
    of, count = ELEMENTS[element], ROWS * COLUMNS
    number = text.add(text.mul(text.block(), threads), text.thread())
    place = text.mul(number, of.lanes)
    row, column = text.div(place, COLUMNS), text.rem(place, COLUMNS)
    inside = text.below(place, count)
    (vector,) = x.vectors([Site(place, row, column, [inside])])
    result = ("%result", f"memref<{count}x{of.storage}>")
    with text.when(inside):
        text.line(f"vector.store {vector}, %result[{place}] : {result[1]}, {of.vector(of.lanes)}")
    body = text.kernel("computed", [*x.parameters, result], threads)
    kernel = Kernel("computed", body, (-(-count // (threads * of.lanes)), 1), threads)
    type_ = np.dtype(gpu.ELEMENTS[element])
    buffers = [each.reshape(-1).view(np.uint8) for each in arrays]
    buffers.append(np.full(count * type_.itemsize, 0xEE, np.uint8))
    return gpu.run(kernel, buffers)[-1].view(type_).reshape(ROWS, COLUMNS)


def _both(body: str, element: str, arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What a kernel makes of `body`, and the CPU."""
    text = f"func.func @main({ARGUMENTS}) -> {T} {{\n  {body}\n  return %h : {T}\n}}"
    text = text.replace("xE>", f"x{element}>").replace("<E>", f"<{element}>")
    wanted = np.asarray(mlir_fp8.compile(parsed(text))(*arrays)).reshape(ROWS, COLUMNS)
    prologue, places = _prologue(body, element)
    return _computed(prologue, [arrays[i] for i in places], element), wanted


def _arrays_of(element: str) -> list[np.ndarray]:
    shapes = [(ROWS, COLUMNS), (ROWS, COLUMNS), (1,), (1,), (ROWS,), (COLUMNS,)]
    arrays = [gpu.random(shape, element, i) for i, shape in enumerate(shapes[:2])]
    arrays[1] = np.roll(arrays[1], 3)
    arrays[1][5] = arrays[0][5]
    arrays[0][3, 4:6] = [np.nan, np.inf]
    arrays[1][3, 5:7] = [np.inf, np.nan]
    type_ = gpu.ELEMENTS[element]
    arrays += [np.array(number).astype(type_) for number in (-0.7, 1.3)]
    random = np.random.default_rng(7)
    return arrays + [random.standard_normal(shape).astype(type_) for shape in shapes[4:]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", list(EXACT))
@ALL
def test_exact_ops(element: str, name: str) -> None:
    found, wanted = _both(EXACT[name], element, _arrays_of(element))
    nans = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), nans)
    bits = f"u{wanted.dtype.itemsize}"
    np.testing.assert_array_equal(found.view(bits)[~nans], wanted.view(bits)[~nans])


FUNCTIONS = {"tanh": 6e-7, "logistic": 2.0**-21, "exponential": 2.0**-21, "rsqrt": 2.0**-22}
"""Bounds in proportion, of f32, where the function is not small."""


@pytest.mark.parametrize("name", list(FUNCTIONS))
@ALL
def test_functions_are_within_their_bounds(element: str, name: str) -> None:
    arrays = _arrays_of(element)
    x = np.linspace(-12, 12, ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    x[2] = np.geomspace(1e-6, 1, COLUMNS)
    x[3] = np.linspace(-86, 86, COLUMNS)
    x[4, :7] = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.55, -0.55]
    arrays[0] = x.astype(gpu.ELEMENTS[element])
    found, wanted = _both(f"%h = stablehlo.{name} %x : {T}", element, arrays)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    is_finite = np.isfinite(wanted)
    np.testing.assert_array_equal(found[~is_finite], wanted[~is_finite])
    x, found, wanted = (each[is_finite] for each in (arrays[0].astype(np.float64), found, wanted))
    last = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11}[element]
    bound = FUNCTIONS[name] + np.zeros(x.shape)
    if name in ("logistic", "exponential"):
        bound += np.minimum(np.abs(x), 128) * 2.0**-23
    # Both are rounded; the CPU's rightly.
    smallest = 2.0**-24 if element == "f16" else 2.0**-126
    assert (np.abs(found - wanted) <= (bound + 2 * last) * np.abs(wanted) + smallest).all()
    if element == "f32":
        assert (np.abs(found - wanted) <= (bound + last) * np.abs(wanted) + smallest).all()
    assert (np.signbit(found) == np.signbit(wanted)).all()


def test_all_ops_are_tested() -> None:
    named = " ".join((*EXACT.values(), *(f"stablehlo.{name} " for name in FUNCTIONS)))
    assert {op for op in OPS if f"stablehlo.{op} " in named} == OPS
