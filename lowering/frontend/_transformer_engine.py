"""TransformerEngine's products, as its JAX primitives call them.

After transformer_engine/jax/cpp_extensions/gemm.py and csrc/extensions/gemm.cpp of version 2.20.
"""

import math
from collections.abc import Callable

from torch_mlir import ir

from mlir_fp8.base.operations import call_target, producer
from mlir_fp8.lowering.frontend._transformer_engine_quantizer import quantize
from mlir_fp8.lowering.frontend._transformer_engine_text import (
    MX,
    NVFP4,
    NVFP4_SQUARES,
    WIDE,
    CallText,
)
from mlir_fp8.lowering.rewriting.swizzled_scales import (
    cut,
    spread,
    tensor,
    unswizzled,
    whole_tiles,
)

_BLOCKS = {MX: (32, "f8E8M0FNU"), NVFP4: (16, "f8E4M3FN"), NVFP4_SQUARES: (16, "f8E4M3FN")}
_SPREADING = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")
_PLAIN_OPERANDS = {"te_gemm_v2_ffi": 7, "te_gemm_ffi": 8}


def gemm(op: ir.Operation) -> str:
    """`te_gemm_v2_ffi` and `te_gemm_ffi`: operands are dequantized, and summed in f32."""
    text = CallText(op)
    operands = _PLAIN_OPERANDS[call_target(op)]
    mode: int = text.options.get("scaling_mode", -1)
    if len(op.operands) != operands or mode not in range(6):
        raise text.refuse("in another form than TransformerEngine 2.20 has it")
    if any(text.options.get(each) for each in ("collective_op", "fuse_gelu", "grad")):
        raise text.refuse("with a collective, GELU or gradient: compute it beside the product")
    (a, m), (b, n) = (_matrix(text, side, mode) for side in (0, 1))
    k = math.prod(text.shape(0)) // m
    sum_ = tensor([m, n], "f32")
    left, right = tensor([m, k], "f32"), tensor([n, k], "f32")
    dims = "contracting_dims = [1] x [1]"
    value = text.let(f"stablehlo.dot_general {a}, {b}, {dims} : ({left}, {right}) -> {sum_}")
    if mode in (NVFP4, NVFP4_SQUARES):
        _check_beta(text, operands - 1)
        alpha = text.reshaped(f"%a{operands - 2}", text.types[operands - 2], "tensor<f32>")
        wide = text.let(f"stablehlo.broadcast_in_dim {alpha}, dims = [] : (tensor<f32>) -> {sum_}")
        value = text.let(f"stablehlo.multiply {value}, {wide} : {sum_}")
    if math.prod(text.shape(4)):
        row = tensor([n], "f32")
        bias = text.reshaped("%a4", text.types[4], tensor([n], text.element(4)))
        bias = text.let(f"stablehlo.convert {bias} : ({tensor([n], text.element(4))}) -> {row}")
        bias = text.let(f"stablehlo.broadcast_in_dim {bias}, dims = [1] : ({row}) -> {sum_}")
        value = text.let(f"stablehlo.add {value}, {bias} : {sum_}")
    result = ir.RankedTensorType(op.results[0].type)
    narrow = tensor([m, n], str(result.element_type))
    value = text.let(f"stablehlo.convert {value} : ({sum_}) -> {narrow}")
    value = text.reshaped(value, narrow, str(result))
    return text.function([value, *map(text.unused, range(1, len(op.results)))])


def _check_beta(text: CallText, index: int) -> None:
    op = producer(text.op.operands[index])
    while op is not None and op.name in _SPREADING:
        op = producer(op.operands[0])
    held = op.attributes["value"] if op is not None and op.name == "stablehlo.constant" else None
    if not (isinstance(held, ir.DenseFPElementsAttr) and all(each == 0 for each in held)):
        raise text.refuse("with a beta that is no constant 0: add what it multiplies")


def _matrix(text: CallText, side: int, mode: int) -> tuple[str, int]:
    """The numbers of an operand as [rows, K], f32, and how many rows there are."""
    data, scale = 2 * side, 2 * side + 1
    name = ("lhs", "rhs")[side]
    shape, element = text.shape(data), text.element(data)
    boundary = text.options[f"{name}_axis_boundary"]
    sizes = [math.prod(shape[:boundary]), math.prod(shape[boundary:])]
    is_turned = bool(text.options[f"{name}_transposed"]) == (side == 0)
    value = text.reshaped(f"%a{data}", text.types[data], tensor(sizes, element))
    if is_turned:
        turned = tensor(sizes[::-1], element)
        value = text.let(
            f"stablehlo.transpose {value}, dims = [1, 0] : ({tensor(sizes, element)}) -> {turned}"
        )
        sizes.reverse()
    wide = tensor(sizes, "f32")
    value = text.let(f"stablehlo.convert {value} : ({tensor(sizes, element)}) -> {wide}")
    if mode == WIDE:
        return value, sizes[0]
    spread_ = _scales(text, scale, sizes, mode, is_turned=is_turned)
    return text.let(f"stablehlo.multiply {value}, {spread_} : {wide}"), sizes[0]


def _scales(text: CallText, index: int, sizes: list[int], mode: int, *, is_turned: bool) -> str:
    name, type_ = f"%a{index}", text.types[index]
    if mode not in _BLOCKS:
        one = text.reshaped(name, type_, "tensor<f32>")
        wide = tensor(sizes, "f32")
        return text.let(f"stablehlo.broadcast_in_dim {one}, dims = [] : (tensor<f32>) -> {wide}")
    block, element = _BLOCKS[mode]
    counts = [sizes[0], -(-sizes[1] // block)]
    whole = whole_tiles(counts)
    if sizes[1] % block or math.prod(text.shape(index)) != math.prod(whole):
        raise text.refuse(f"with scales of {type_} for {sizes[0]}x{sizes[1]} in blocks of {block}")
    if mode == MX:
        compact = unswizzled(text.let, name, type_, element, counts)
    elif is_turned:
        raise text.refuse("in NVFP4 with an operand that is transposed, which cuBLAS has not")
    else:  # in rows: its kernel lays them out
        compact = text.reshaped(name, type_, tensor(whole, element))
        compact = cut(text.let, compact, element, whole, counts)
    return spread(text.let, compact, element, counts, (1, block))


EXPANSIONS: dict[str, Callable[[ir.Operation], str]] = {
    **dict.fromkeys(_PLAIN_OPERANDS, gemm),
    "te_dbias_quantize_ffi": quantize,
}
"""By target."""
