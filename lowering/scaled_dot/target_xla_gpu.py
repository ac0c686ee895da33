"""What XLA:GPU leaves out of `__cublas$lt$matmul$f8` and of cuDNN's FP8 convolutions.

The rules are the checks of openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc (functions are
named below) and cudnn_fused_conv_rewriter.cc. XLA pads dimensions to multiples of 16 and transposes
operands for the layout by itself (`PadOperandToMultipleOf16`, `TransposeMatrix`): no rule here.
"""

from collections.abc import Iterator

from mlir_fp8.lowering.scaled_dot import target_common as common
from mlir_fp8.lowering.scaled_dot.device import Device
from mlir_fp8.lowering.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.scaled_dot.fused_view import FusedView
from mlir_fp8.lowering.scaled_dot.target_common import Rule, obstacle

_GELU_CUDA = (12, 4)


def scale_rank(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Scales are rank 0, broadcast (`CreateF8CustomCall`: "The scaling factors must be scalars";
    cudnn_fused_conv_rewriter.cc, `conv_operand_maybe_scaled`). Block scales go through XLA's own
    scaled-dot op (openxla/xla#22256), not through a dequantize.
    """
    for side in view.sides:
        if not side.scale:
            continue
        shape = "x".join(map(str, side.scale))
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
        if side.converts_scale:
            wanted = view.type_attribute("operand_type")
            message = f"the scale is converted to {wanted}: XLA then runs the dot in 16 bits"
            edit = f"dequantize in {side.scale_element}, or pass the scale as {wanted}"
            yield obstacle(view, "scale-convert", side.part, message, edit)


def free_dims(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The check "Inputs must have exactly one contracting and one non-contracting dimension"
    (`CreateF8CustomCall`); several free dimensions are one by then (XLA's dot_decomposer), none
    stay none.
    """
    for side in view.sides:
        if not side.free:
            message = "the operand is a vector: an FP8 GEMM takes matrices"
            edit = "reshape it to a matrix of one row or column"
            yield obstacle(view, "vector", side.part, message, edit)


def unclamped_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The output becomes FP8 by clamp and convert, exactly to the format's range (`F8ConvertD`); a
    dot on FP8 operands whose own result is FP8 needs none (`CreateF8CustomCall`).
    """
    is_dots_own = view.dot_type == view.result and view.type_attribute("operand_type") is None
    if not is_dots_own or view.operand("d_scale") is not None:
        yield from common.unclamped_output(view, device)


def rocm_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """On ROCm the output stays wide (`F8ConvertD`: "TODO: add ROCm support to this fusion")."""
    if device.amd is not None and view.result in device.formats and view.saturates:
        message = "on ROCm XLA does not fuse the quantization of the output"
        yield obstacle(view, "rocm-output", "output", message, "leave the result in 16 bits")


def output_scale(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The output scale fuses with an FP8 output. A wide output's is moved to the left operand, if
    that has none and no bias, matrix or GELU is between (`F8ScaleD`).
    """
    if view.operand("d_scale") is None or view.result in device.formats:
        return
    blocked = view.sides[0].scale is not None or view.activation not in ("none", "relu")
    if blocked or view.operand("bias") is not None or view.operand("c") is not None:
        message = f"the scale of a {view.result} result does not fuse"
        edit = "multiply the scale of the left operand by it"
        yield obstacle(view, "output-scale", "output", message, edit)


def vector_bias(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A vector bias is bf16 or f16; with an f32 product, a convert from bf16 (`FuseVectorBiasAdd`:
    "cuBLAS LT does not support FP32 biases on matmuls with FP8 inputs").
    """
    bias, epilogue = view.element("bias"), view.epilogue_type
    if bias is None:
        return
    if epilogue == "f32" and bias != "bf16":
        message = f"the bias is {bias}, with an f32 product it fuses from bf16 alone"
        edit = "keep the bias in bf16 and convert it to f32 before the broadcast"
        yield obstacle(view, "bias-type", "bias", message, edit)


def bias_and_matrix(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The rule "When (non-trivial) matrix and vector bias co-exist for FP8 matmul, just fuse matrix
    bias" (`FuseVectorBiasAdd`)."""
    if view.operand("bias") is not None and view.operand("c") is not None:
        message = "beside an added matrix the vector bias does not fuse"
        edit = "add the bias to the matrix first"
        yield obstacle(view, "bias-and-matrix", "bias", message, edit)


def beta(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Only beta = 1 is made (`FuseMatrixBiasAdd`: `config.set_beta(1.0)`)."""
    if view.number("beta") not in (None, 1.0):
        message = "the added matrix fuses as it is: its factor beta stays a kernel of its own"
        yield obstacle(view, "beta", "bias", message, "apply the factor where the matrix is made")


def activation(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """ReLU and tanh-GELU are cuBLASLt epilogues (`FuseReluActivation`, `FuseGeluActivation`: the
    latter with CUDA 12.4 or newer, and not after an added matrix of its own).
    """
    if view.activation == "gelu_erf":
        message = "erf-GELU is no epilogue of cuBLASLt, tanh-GELU is"
        edit = "use the tanh form (jax.nn.gelu(x, approximate=True))"
        yield obstacle(view, "activation", "activation", message, edit)
    if view.activation == "gelu_tanh" and device.amd is None and device.cuda < _GELU_CUDA:
        message = "tanh-GELU fuses with CUDA 12.4 or newer"
        yield obstacle(view, "cuda-version", "activation", message, "use CUDA 12.4 or newer")


def convolution(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A convolution's graph has additions, scales, ReLU, amax and a saturating cast
    (cudnn_fused_conv_rewriter.cc, `CaptureConvGraphRecursive`), no GELU, and is NVIDIA's alone
    (`F8GraphConv` asks for a CUDA compute capability).
    """
    if device.amd is not None:
        message = "XLA has FP8 convolutions on CUDA alone"
        yield obstacle(view, "rocm-convolution", "dot", message, "run it on CUDA")
    if view.activation not in ("none", "relu"):
        message = f"{view.activation} is no part of a cuDNN graph that XLA builds"
        edit = "use ReLU, or leave the activation outside"
        yield obstacle(view, "activation", "activation", message, edit)


DOT_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    common.formats,
    common.f64,
    scale_rank,
    scale_convert,
    common.contracting_dims,
    free_dims,
    common.batch_count,
    vector_bias,
    bias_and_matrix,
    beta,
    activation,
    common.matrix_with_fp8_output,
    common.result_type,
    unclamped_output,
    rocm_output,
    output_scale,
    common.amax_of_fp8_alone,
)
CONVOLUTION_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    common.formats,
    common.f64,
    scale_rank,
    scale_convert,
    convolution,
    unclamped_output,
)
