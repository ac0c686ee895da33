"""What XLA:GPU leaves out of `__cublas$lt$matmul$f8` and of cuDNN's FP8 convolutions.

The rules are the checks of openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc (functions are
named below) and cudnn_fused_conv_rewriter.cc. XLA pads dimensions to multiples of 16 and transposes
operands for the layout by itself (`PadOperandToMultipleOf16`, `TransposeMatrix`): no obstacle.
"""

from collections.abc import Iterator
from dataclasses import replace

from mlir_fp8.lowering.scaled_dot import target_common as common
from mlir_fp8.lowering.scaled_dot.device import Device
from mlir_fp8.lowering.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.scaled_dot.fused_view import FusedView
from mlir_fp8.lowering.scaled_dot.target_common import Rule, obstacle

_GELU_CUDA = (12, 4)
_MIN_SIZE = 100


def scale_rank(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Scales are rank 0, broadcast (`CreateF8CustomCall`: "The scaling factors must be scalars";
    cudnn_fused_conv_rewriter.cc, `conv_operand_maybe_scaled`). Block scales go through XLA's own
    scaled-dot op (openxla/xla#22256), not through a dequantize. One that multiplies the sum stays
    behind the call (`F8ScaleD`).
    """
    for side in view.sides:
        if not side.scale:
            continue
        shape = "x".join(map(str, side.scale))
        if view.operand_type is None:
            message = f"the scale of the {side.part} has shape {shape}: it stays behind the call"
            yield obstacle(view, "scale-rank", "output", message, "quantize per tensor")
            continue
        if side.is_per_tensor:
            message = f"the scale has shape {shape}, the GEMM rewriter takes rank 0"
            edit = "reshape the scale to rank 0 before it is broadcast"
        else:
            message = f"the scale has shape {shape}, the GEMM rewriter takes one number, of rank 0"
            edit = "quantize per tensor; or multiply the result of an unscaled FP8 dot by the scale"
        yield obstacle(view, "scale-rank", side.part, message, edit)


def scale_convert(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A convert in a scale's path breaks the match: `x.astype(bf16) * s.astype(bf16)` with an f32 s
    runs as a bf16 product (seen on a Hopper GPU: 625 against 1390 TFLOP/s at 8192 cubed; also
    openxla/xla#17887). f32, f16 and bf16 scales without a convert fuse.
    """
    for side in view.sides:
        if side.converts_scale and not side.scale and view.operand_type is not None:
            wanted = view.operand_type
            message = f"the scale is converted to {wanted}: XLA then runs the dot in 16 bits"
            edit = f"dequantize in {side.scale_element}, or pass the scale as {wanted}"
            yield obstacle(view, "scale-convert", side.part, message, edit)


def scale_after_sum(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Of the factors of the sum one becomes a scale of the call, unconverted (`F8ScaleD`, where the
    left operand has no scale yet).
    """
    if view.operand_type is not None:
        return
    given = [side for side in view.sides if side.scale is not None and not side.scale]
    if len(given) == 2:
        message = "two scales multiply the sum, of which XLA moves one into the call"
        edit = "multiply the scales first, as numbers, and the sum by their product"
        yield obstacle(view, "scale-after-sum", "output", message, edit)
    elif given and given[0].converts_scale:
        message = "the scale of the sum is converted to f32: XLA does not move it into the call"
        yield obstacle(view, "scale-convert", "output", message, "pass the scale as f32")


def too_small(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A size of 1 leaves a product with a vector, after XLA's algebraic simplifier
    (`RemoveDegenerateDimensionFromDot`), and "Inputs must have exactly one contracting and one
    non-contracting dimension" (`CreateF8CustomCall`); several free dimensions are one by then
    (dot_decomposer). Below `xla_gpu_gemm_rewrite_size_threshold`, 100, a dot stays a loop.
    """
    lhs, rhs = view.sides
    sizes = {"M": lhs.size(lhs.free), "N": rhs.size(rhs.free), "K": lhs.size(lhs.contracting)}
    ones = [name for name, size in sizes.items() if size == 1]
    if ones:
        message = f"{' and '.join(ones)} of 1 makes it a product with a vector, which XLA runs wide"
        edit = f"pad {' and '.join(ones)} with zeros to 2 or more"
        yield obstacle(view, "vector", "dot", message, edit)
    elif (sizes["M"] + sizes["N"]) * sizes["K"] < _MIN_SIZE:
        message = f"(M + N) * K is below {_MIN_SIZE}: XLA makes a loop of so small a dot"
        edit = "set --xla_gpu_gemm_rewrite_size_threshold=0"
        yield obstacle(view, "too-small", "dot", message, edit)


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
    if view.has_steps and view.dot_type != view.epilogue_type and view.operand_type is not None:
        message = f"the product is converted from {view.dot_type} to {view.epilogue_type} first"
        edit = f"do what follows in {view.dot_type}, or give the dot an {view.epilogue_type} result"
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


def convolution(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A convolution's graph has additions, scales, ReLU, amax and a saturating cast
    (cudnn_fused_conv_rewriter.cc, `CaptureConvGraphRecursive`), no GELU, and is NVIDIA's alone
    (`F8GraphConv` asks for a CUDA compute capability). Its operands are dequantized right before it
    (`conv_operand_maybe_scaled`).
    """
    for part, mover in view.form.moves.items():
        message = f"{mover} stands between the dequantize and the convolution"
        edit = f"apply {mover} to the FP8 tensor, and dequantize after it"
        yield obstacle(view, "movement-between", part, message, edit)
    if device.amd is not None:
        message = "XLA has FP8 convolutions on CUDA alone"
        yield obstacle(view, "rocm-convolution", "dot", message, "run it on CUDA")
    if view.parts.activation not in ("none", "relu"):
        message = f"{view.parts.activation} is no part of a cuDNN graph that XLA builds"
        edit = "use ReLU, or leave the activation outside"
        yield obstacle(view, "activation", "activation", message, edit)


DOT_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    common.formats,
    scale_rank,
    scale_convert,
    scale_after_sum,
    common.contracting_dims,
    too_small,
    common.batch_count,
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
)
CONVOLUTION_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    common.formats,
    scale_rank,
    scale_convert,
    convolution,
    unclamped_output,
)
