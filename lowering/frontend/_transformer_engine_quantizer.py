"""TransformerEngine's quantizers to MXFP8, as its JAX primitives call them.

After transformer_engine/jax/cpp_extensions/quantization.py, csrc/extensions/quantization.cpp and
common/util/ptx.cuh (`float_to_e8m0`, `exp2f_rcp`) of version 2.20.
"""

import math

from torch_mlir import ir

from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.lowering.frontend._transformer_engine_text import MX, CallText
from mlir_fp8.lowering.rewriting.swizzled_scales import spread, tensor, whole_tiles

_ROWS, _COLUMNS, _BOTH = range(3)
"""`JAXX_Quantize_Layout`."""


def quantize(op: ir.Operation) -> str:
    """`te_dbias_quantize_ffi` to MXFP8, along rows, columns or both.

    A scale is amax times f32(1 / MAX), its exponent rounded up; elements are multiplied by its
    reciprocal, and saturate. A NaN does not count in an amax.
    """
    text = CallText(op)
    if text.options.get("scaling_mode") != MX or text.options.get("is_dbias"):
        raise text.refuse("for other than MXFP8 without a bias gradient: no meaning is known")
    axis = text.options["flatten_axis"] % len(text.shape(0))
    sizes = [math.prod(text.shape(0)[:axis]), math.prod(text.shape(0)[axis:])]
    wide, given = tensor(sizes, "f32"), tensor(sizes, text.element(0))
    value = text.reshaped("%a0", text.types[0], given)
    value = text.let(f"stablehlo.convert {value} : ({given}) -> {wide}")
    layout = text.options["q_layout"]
    results = [text.unused(index) for index in range(len(op.results))]
    if layout in (_ROWS, _BOTH):
        results[0], results[2] = _quantized(text, value, sizes, 0, 2, is_turned=False)
    if layout in (_COLUMNS, _BOTH):
        turned = tensor(sizes[::-1], "f32")
        value = text.let(f"stablehlo.transpose {value}, dims = [1, 0] : ({wide}) -> {turned}")
        results[1], results[3] = _quantized(text, value, sizes[::-1], 1, 3, is_turned=True)
    results[4] = text.reshaped("%a2", text.types[2], str(op.results[4].type))
    return text.function(results)


def _quantized(
    text: CallText, value: str, sizes: list[int], data: int, scale: int, *, is_turned: bool
) -> tuple[str, str]:
    """Codes and scales of blocks along the second dimension, turned back with `is_turned`."""
    results = [ir.RankedTensorType(text.op.results[index].type) for index in (data, scale)]
    element = str(results[0].element_type)
    counts = [sizes[0], sizes[1] // 32]
    if sizes[1] % 32:
        raise text.refuse(f"on {sizes[0]}x{sizes[1]}, which 32 does not divide")
    codes, scales = _mx(text, value, sizes, counts, element)
    if is_turned:
        codes = _turned(text, codes, sizes, element)
        scales, counts, sizes = (
            _turned(text, scales, counts, "f8E8M0FNU"),
            counts[::-1],
            sizes[::-1],
        )
    codes = text.reshaped(codes, tensor(sizes, element), str(results[0]))
    shape = list(results[1].shape)
    if math.prod(shape) != math.prod(counts):
        whole = whole_tiles(counts[::-1])[::-1] if is_turned else whole_tiles(counts)
        missing = ", ".join(str(a - b) for a, b in zip(whole, counts, strict=True))
        least = text.let('stablehlo.constant dense<"0x00"> : tensor<f8E8M0FNU>')
        scales = text.let(
            f"stablehlo.pad {scales}, {least}, low = [0, 0], high = [{missing}], interior = [0, 0]"
            f" : ({tensor(counts, 'f8E8M0FNU')}, tensor<f8E8M0FNU>) -> {tensor(whole, 'f8E8M0FNU')}"
        )
        counts = whole
    return codes, text.reshaped(scales, tensor(counts, "f8E8M0FNU"), str(results[1]))


def _turned(text: CallText, name: str, sizes: list[int], element: str) -> str:
    types = f"({tensor(sizes, element)}) -> {tensor(sizes[::-1], element)}"
    return text.let(f"stablehlo.transpose {name}, dims = [1, 0] : {types}")


def _mx(
    text: CallText, value: str, sizes: list[int], counts: list[int], element: str
) -> tuple[str, str]:
    largest = float(FORMATS[element].max)
    let, wide, few = text.let, tensor(sizes, "f32"), tensor(counts, "f32")
    flags = tensor(sizes, "i1")
    zero, zeros = let("stablehlo.constant dense<0.0> : tensor<f32>"), _splat(text, 0.0, wide)
    known = let(f"stablehlo.compare EQ, {value}, {value} : ({wide}, {wide}) -> {flags}")
    sized = let(f"stablehlo.abs {value} : {wide}")
    sized = let(f"stablehlo.select {known}, {sized}, {zeros} : {flags}, {wide}")
    parts = tensor([counts[0], counts[1], 32], "f32")
    sized = let(f"stablehlo.reshape {sized} : ({wide}) -> {parts}")
    amax = let(
        f"stablehlo.reduce({sized} init: {zero}) applies stablehlo.maximum"
        f" across dimensions = [2] : ({parts}, tensor<f32>) -> {few}"
    )
    inverse = _splat(text, 1 / largest, few)
    exact = let(f"stablehlo.multiply {amax}, {inverse} : {few}")
    code = _rounded_up(text, exact, counts)
    bytes_, scale = tensor(counts, "ui8"), tensor(counts, "f8E8M0FNU")
    narrow = let(f"stablehlo.convert {code} : ({tensor(counts, 'i32')}) -> {bytes_}")
    scales = let(f"stablehlo.bitcast_convert {narrow} : ({bytes_}) -> {scale}")
    factor = _reciprocal(text, code, counts)
    spread_ = spread(let, factor, "f32", counts, (1, 32))
    over = let(f"stablehlo.multiply {value}, {spread_} : {wide}")
    low, high = (let(f"stablehlo.constant dense<{s}{largest}> : tensor<f32>") for s in ("-", ""))
    over = let(
        f"stablehlo.clamp {low}, {over}, {high} : (tensor<f32>, {wide}, tensor<f32>) -> {wide}"
    )
    return let(f"stablehlo.convert {over} : ({wide}) -> {tensor(sizes, element)}"), scales


def _rounded_up(text: CallText, value: str, counts: list[int]) -> str:
    """The code of the least power of two that is no less than `value`, i32; infinity is 254."""
    let, few, whole = text.let, tensor(counts, "f32"), tensor(counts, "i32")
    bits = let(f"stablehlo.bitcast_convert {value} : ({few}) -> {whole}")
    # What is added carries for every mantissa but 0; subnormal numbers to 2^-127 have code 0.
    more = _splat(text, (1 << 23) - 1, whole)
    up = let(f"stablehlo.add {bits}, {more} : {whole}")
    shift = _splat(text, 23, whole)
    code = let(f"stablehlo.shift_right_logical {up}, {shift} : {whole}")
    half, zero = _splat(text, 1 << 22, whole), _splat(text, 0, whole)
    flags = tensor(counts, "i1")
    is_least = let(f"stablehlo.compare LE, {bits}, {half} : ({whole}, {whole}) -> {flags}")
    code = let(f"stablehlo.select {is_least}, {zero}, {code} : {flags}, {whole}")
    most = _splat(text, 254, whole)
    return let(f"stablehlo.minimum {code}, {most} : {whole}")


def _reciprocal(text: CallText, code: str, counts: list[int]) -> str:
    """2^(127 - code) in f32; 1 of code 0."""
    let, few, whole = text.let, tensor(counts, "f32"), tensor(counts, "i32")
    zero, one = _splat(text, 0, whole), _splat(text, 1.0, few)
    most, shift = _splat(text, 254, whole), _splat(text, 23, whole)
    exponent = let(f"stablehlo.subtract {most}, {code} : {whole}")
    bits = let(f"stablehlo.shift_left {exponent}, {shift} : {whole}")
    factor = let(f"stablehlo.bitcast_convert {bits} : ({whole}) -> {few}")
    flags = tensor(counts, "i1")
    is_zero = let(f"stablehlo.compare EQ, {code}, {zero} : ({whole}, {whole}) -> {flags}")
    return let(f"stablehlo.select {is_zero}, {one}, {factor} : {flags}, {few}")


def _splat(text: CallText, value: float, type_: str) -> str:
    return text.let(f"stablehlo.constant dense<{value!r}> : {type_}")
