"""What XLA:GPU leaves behind `__cublas$lt$matmul$f8`: the steps after the product.

As target_xla_gpu.py, from openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc.
"""

from collections.abc import Iterator
from dataclasses import replace

from torch_mlir import ir

from mlir_fp8.base.operations import producer
from mlir_fp8.dialects._fp8_product_parts import product_parts
from mlir_fp8.lowering.fp8.scaled_dot import target_common as common
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule, obstacle

_GELU_CUDA = (12, 4)
_WIDE = ("f32", "bf16", "f16")


def takes_factor(op: ir.Operation, obstacle: Obstacle) -> bool:
    """Whether XLA does what `obstacle` keeps out of the fused product `op`: a factor of rank 0 of a
    bf16 or f16 result becomes the left operand's scale, if that has none (`F8ScaleD`).

    Seen with jax 0.11.2: the call takes it, and rounds once.
    """
    parts, result = product_parts(op), op.results[0]
    scales = (parts.a_scale, parts.b_scale, parts.bias, parts.c, parts.d_scale)
    if obstacle.kind != "scale-position" or any(each is not None for each in scales):
        return False
    readers = [use.owner.operation for use in result.uses]
    if len(readers) != 1 or readers[0].name != "stablehlo.multiply":
        return False
    factors = [producer(each) for each in readers[0].operands if each != result]
    is_number = [
        each is not None
        and each.name == "stablehlo.broadcast_in_dim"
        and not ir.ShapedType(each.operands[0].type).shape
        for each in factors
    ]
    sizes = ir.ShapedType(result.type).shape[-2:]
    return is_number == [True] and all(size % 16 == 0 for size in sizes)


def padded_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Where M or N is no multiple of 16, XLA pads the operands and slices the result
    (`CreateF8CustomCall`), and neither a factor nor a quantization matches behind a slice
    (`HandleMultiply`, `HandleConvert`); a bias, a matrix and an activation do.
    """
    lhs, rhs = view.sides
    named = {"M": (lhs, lhs.free), "N": (rhs, rhs.free)}
    parts = view.parts
    after_sum = view.operand_type is None and any(side.scale is not None for side in view.sides)
    factors = (parts.d_scale, parts.alpha)
    if all(each is None for each in factors) and not (parts.saturate or parts.amax or after_sum):
        return
    for each in common.multiples_of_16(view, device, named):
        message = f"what scales or quantizes the result stays outside: {each.message}"
        yield replace(each, part="output", message=message)


def epilogue_convert(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """What follows the dot fuses in the dot's own type (`HandleAdd`, `HandleConvert` and others
    take no convert behind an FP8 call).
    """
    written, wanted = view.form.element, view.epilogue_type
    given = view.dot_type if written not in _WIDE else written
    if given == wanted or not view.has_steps or (view.operand_type is None and written is None):
        return
    edit = f"do what follows in {given}"
    if view.operand_type is not None:
        is_f32 = view.operand_type == "f32"
        edit += f", or {'dequantize to' if is_f32 else 'let the dot give'} {wanted}"
    message = f"the product is converted from {given} to {wanted} first"
    yield obstacle(view, "epilogue-convert", "output", message, edit)


def output_scale_convert(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """As `scale_convert`, for the output's scale."""
    if view.converts_output_scale:
        message = f"the output scale is converted to {view.epilogue_type}: XLA does not fuse it"
        edit = f"pass the output scale as {view.epilogue_type}"
        yield obstacle(view, "scale-convert", "output", message, edit)


def unclamped_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The output becomes FP8 by clamp and convert, exactly to the format's range (`F8ConvertD`); a
    dot on FP8 operands whose own result is FP8 needs none (`CreateF8CustomCall`).
    """
    is_dots_own = view.operand_type is None and not view.has_steps
    if not is_dots_own or view.form.element not in (None, view.result):
        yield from common.unclamped_output(view, device)


def amax_convert(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Beside the quantization the call has one other user, the abs of an amax, and that no user but
    the reduction (`F8ConvertD`): else the quantization stays outside.
    """
    if view.parts.amax and view.form.converts_amax and view.result in device.formats:
        message = "amax is taken of the value after a conversion: XLA then fuses no quantization"
        edit = "take amax of the value as it is, and convert amax"
        yield obstacle(view, "amax-convert", "output", message, edit)


def rocm_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """On ROCm the output stays wide (`F8ConvertD`: "TODO: add ROCm support to this fusion")."""
    if device.amd is not None and view.result in device.formats and view.parts.saturate:
        message = "on ROCm XLA does not fuse the quantization of the output"
        yield obstacle(view, "rocm-output", "output", message, "leave the result in 16 bits")


def output_scale(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The output scale fuses with an FP8 output. A wide output's is moved to the left operand, if
    that has none and no bias, matrix or GELU is between (`F8ScaleD`).
    """
    if view.parts.d_scale is None or view.result in device.formats:
        return
    blocked = view.sides[0].scale is not None or view.parts.activation not in ("none", "relu")
    if blocked or view.parts.bias is not None or view.parts.c is not None:
        message = f"the scale of a {view.result} result does not fuse"
        edit = "multiply the scale of the left operand by it"
        yield obstacle(view, "output-scale", "output", message, edit)


def vector_bias(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A vector bias is bf16 or f16; with an f32 product, a convert from bf16 (`FuseVectorBiasAdd`:
    "cuBLAS LT does not support FP32 biases on matmuls with FP8 inputs").
    """
    bias, epilogue = view.bias, view.epilogue_type
    if bias is None:
        return
    if epilogue == "f32" and bias != "bf16":
        message = f"the bias is {bias}; behind an f32 product it fuses from bf16 alone"
        edit = "keep the bias in bf16 and convert it to f32 before the broadcast"
        yield obstacle(view, "bias-type", "bias", message, edit)


def bias_and_matrix(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The rule "When (non-trivial) matrix and vector bias co-exist for FP8 matmul, just fuse matrix
    bias" (`FuseVectorBiasAdd`)."""
    if view.parts.bias is not None and view.parts.c is not None:
        message = "beside an added matrix the vector bias does not fuse"
        edit = "add the bias to the matrix first"
        yield obstacle(view, "bias-and-matrix", "bias", message, edit)


def beta(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Only beta = 1 is made (`FuseMatrixBiasAdd`: `config.set_beta(1.0)`)."""
    if view.parts.beta not in (None, 1.0):
        message = "the added matrix fuses as it is: its factor beta stays a kernel of its own"
        yield obstacle(view, "beta", "bias", message, "apply the factor where the matrix is made")


def activation(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """ReLU and tanh-GELU are cuBLASLt epilogues (`FuseReluActivation`, `FuseGeluActivation`: the
    latter with CUDA 12.4 or newer, and not after an added matrix of its own).
    """
    if view.parts.activation == "gelu_erf":
        message = "erf-GELU is no epilogue of cuBLASLt, tanh-GELU is"
        edit = "use the tanh form (jax.nn.gelu(x, approximate=True))"
        yield obstacle(view, "activation", "activation", message, edit)
    if view.parts.activation == "gelu_tanh" and device.amd is None and device.cuda < _GELU_CUDA:
        message = "tanh-GELU fuses with CUDA 12.4 or newer"
        yield obstacle(view, "cuda-version", "activation", message, "use CUDA 12.4 or newer")


RULES: tuple[Rule, ...] = (
    vector_bias,
    bias_and_matrix,
    beta,
    activation,
    common.matrix_with_fp8_output,
    common.result_type,
    unclamped_output,
    rocm_output,
    padded_output,
    epilogue_convert,
    output_scale,
    output_scale_convert,
    common.amax_of_fp8_alone,
    amax_convert,
)
