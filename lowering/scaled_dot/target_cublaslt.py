"""What one cuBLASLt FP8 matmul cannot do of a fused op, called for the op as it stands.

Sources: https://docs.nvidia.com/cuda/cublas/, "Narrow Precision Data Types Usage" (the table of
scaling modes with the compute capabilities that have them) and `cublasLtMatmul()` (the table of
data types). What one scalar op before the call mends is no obstacle: scales that divide or are of
another float type.
"""

import math
from collections.abc import Iterator

from mlir_fp8.lowering.scaled_dot import target_common as common
from mlir_fp8.lowering.scaled_dot.device import Device
from mlir_fp8.lowering.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.scaled_dot.fused_view import FusedView, Side
from mlir_fp8.lowering.scaled_dot.target_common import Rule, obstacle

_E8M0 = "f8E8M0FNU"


def nvidia(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """cuBLASLt is NVIDIA's: the only thing to say of it on another GPU."""
    message = f"cuBLASLt does not run on {device.amd}"
    yield obstacle(view, "vendor", "dot", message, "ask about an NVIDIA compute capability")


def no_convolution(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A matmul is no convolution."""
    if view.is_convolution:
        message = "a matrix product is no convolution"
        edit = "use XLA:GPU, which has cuDNN's FP8 convolutions, or write it as a dot over patches"
        yield obstacle(view, "convolution", "dot", message, edit)


def dims(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """M, N and K are multiples of 16 ("All matrix dimensions must meet the optimal requirements
    listed in Tensor Core Usage"; NVIDIA/CUDALibrarySamples#172)."""
    lhs, rhs = view.sides
    named = {"M": (lhs, lhs.free), "N": (rhs, rhs.free), "K": (lhs, lhs.contracting)}
    yield from common.multiples_of_16(view, device, named)


def layout(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Before Blackwell "A must be transposed and B non-transposed (The "TN" format)": of row-major
    tensors, both hold K innermost.
    """
    if device.is_blackwell:
        return
    for side in view.sides:
        last = len(side.shape) - 1
        if len(side.contracting) == 1 and side.contracting[0] != last:
            message = "before Blackwell FP8 kernels take K as the innermost dimension of both sides"
            letter = "M" if side.part == "lhs" else "N"
            edit = f"store the {side.part} as [{letter}, K] and contract its last dimension"
            yield obstacle(view, "layout", side.part, message, edit)


def scaling_mode(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Per tensor from 8.9; per row and column (outer vectors), 1x128 and 128x128 blocks on 9.0
    alone; blocks of 32 with E8M0 scales from 10.0 (table of scaling modes). Both operands are
    scaled alike, but for 1x128 with 128x128."""
    lhs, rhs = view.sides
    modes = mode(lhs), mode(rhs)
    for side, which in zip(view.sides, modes, strict=True):
        if which is None:
            yield obstacle(view, "scale-shape", side.part, shape_message(side), SHAPE_EDIT)
    if None in modes or modes == ("tensor", "tensor"):
        return
    needs_hopper = set(modes) <= {"row", "1x128", "128x128"}
    if modes not in _PAIRS:
        message = f"scales per {modes[0]} and per {modes[1]} do not go together"
        edit = "scale both operands in the same way"
        yield obstacle(view, "scale-pair", "dot", message, edit)
    elif needs_hopper and device.capability != (9, 0):
        message = f"scales per {modes[0]} are for compute capability 9.0 alone"
        edit = "scale per tensor, or in blocks of 32 from compute capability 10.0"
        yield obstacle(view, "scale-capability", "dot", message, edit)
    elif modes == ("1x32", "1x32") and not device.is_blackwell:
        message = "blocks of 32 with E8M0 scales need compute capability 10.0"
        yield obstacle(view, "scale-capability", "dot", message, "scale per tensor or per row")


SHAPE_EDIT = "scale per tensor, per row and column, or in blocks of 32, 128 or 128x128"
_PAIRS = (
    ("row", "row"),
    ("1x128", "1x128"),
    ("1x128", "128x128"),
    ("128x128", "1x128"),
    ("1x32", "1x32"),
)


def mode(side: Side) -> str | None:
    """How an operand is scaled: "tensor", "row", "1x32" (with E8M0 scales), "1x128", "128x128"."""
    if side.is_per_tensor:
        return "tensor"
    if side.scale_element == _E8M0:
        return "1x32" if _blocks(side) == (1, 32) else None
    if side.is_per_row:
        return "row"
    blocks = _blocks(side)
    return {(1, 128): "1x128", (128, 128): "128x128"}.get(blocks) if blocks else None


def _blocks(side: Side) -> tuple[int, int] | None:
    """The block along the free and along the contracting dimension."""
    if len(side.contracting) != 1:
        return None
    block = side.block
    if any(block[i] != 1 for i in side.batching):
        return None
    return math.prod(block[i] for i in side.free), block[side.contracting[0]]


def shape_message(side: Side) -> str:
    assert side.scale is not None
    shape = "x".join(map(str, side.scale))
    data = "x".join(map(str, side.shape))
    return f"there is no kernel for {side.scale_element} scales of shape {shape} for data of {data}"


def fine_scale_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """With outer-vector and 128-element block scales D is f16, bf16 or f32 and has no scale ("the
    only supported precisions for D are CUDA_R_16F, CUDA_R_16BF and CUDA_R_32F")."""
    fine = any(mode(side) in ("row", "1x128", "128x128") for side in view.sides)
    if fine and view.result in device.formats:
        message = f"with scales per row or block the result is f32, f16 or bf16, not {view.result}"
        edit = "quantize the result by itself"
        yield obstacle(view, "fine-scale-output", "output", message, edit)


def output_scale(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """D's scale is for FP8 results ("scaling is generally only supported for narrow precision
    tensors")."""
    if view.parts.d_scale is not None and view.result not in device.formats:
        message = f"the scale of a {view.result} result is not applied"
        edit = "multiply the scale of the left operand by it"
        yield obstacle(view, "output-scale", "output", message, edit)


def vector_bias(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The bias is bf16 with f32 and bf16 results, f16 with f16 ones, either with FP8 (table of data
    types)."""
    if view.parts.bias is None:
        return
    given, epilogue, result = view.bias, view.epilogue_type, view.result
    bias = epilogue if epilogue in ("bf16", "f16") else given
    wanted = {"f32": ("bf16",), "bf16": ("bf16",), "f16": ("f16",)}.get(result, ("bf16", "f16"))
    if bias not in wanted:
        message = f"with {result} results the bias is {' or '.join(wanted)}, not {bias}"
        edit = f"round the bias to {wanted[0]}"
        yield obstacle(view, "bias-type", "bias", message, edit)


def activation(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Epilogues are ReLU and the tanh form of GELU (cublasLtEpilogue_t; CUDA 12.4: XLA,
    `FuseGeluActivation`)."""
    if view.parts.activation == "gelu_erf":
        message = "the GELU of cuBLASLt's epilogue is the tanh form"
        yield obstacle(view, "activation", "activation", message, "use tanh-GELU")
    if view.parts.activation == "gelu_tanh" and device.cuda < (12, 4):
        message = "tanh-GELU on FP8 needs CUDA 12.4"
        yield obstacle(view, "cuda-version", "activation", message, "use CUDA 12.4 or newer")


DOT_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    common.formats,
    common.contracting_dims,
    common.batch_count,
    dims,
    layout,
    scaling_mode,
    vector_bias,
    activation,
    common.matrix_with_fp8_output,
    common.result_type,
    common.unclamped_output,
    fine_scale_output,
    output_scale,
    common.amax_of_fp8_alone,
)
CONVOLUTION_RULES: tuple[Rule, ...] = (no_convolution,)
