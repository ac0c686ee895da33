"""What `torch._scaled_mm` refuses of a fused op, or has no argument for.

The rules are the checks of pytorch, aten/src/ATen/native/cuda/ScaledBlas.cpp
(`_scaled_mm_out_cuda`, `get_joint_scaling`, `_scaled_rowwise_rowwise`, `_check_deepseek_support`).
What one scalar op before the call mends is no obstacle, as for cuBLASLt.
"""

from collections.abc import Iterator

from mlir_fp8.lowering.fp8.scaled_dot import target_common as common
from mlir_fp8.lowering.fp8.scaled_dot import target_cublaslt as cublaslt
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule, obstacle


def matrices(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The checks "mat1 must be a matrix" and "mat2 must be a matrix"."""
    for side in view.sides:
        if len(side.shape) != 2:
            shape = "x".join(map(str, side.shape)) or "a scalar"
            message = f"the operand is {shape}, torch._scaled_mm takes matrices"
            edit = "loop over the batch" if side.batching else "reshape it to two dimensions"
            yield obstacle(view, "rank-2", side.part, message, edit)


def dims(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """K and N are multiples of 16 ("Expected trailing dimension of mat1 to be divisible by 16",
    "mat2 shape ... must be divisible by 16"); M is free.
    """
    lhs, rhs = view.sides
    named = {"K": (lhs, lhs.contracting), "N": (rhs, rhs.free)}
    yield from common.multiples_of_16(view, device, named)


def formats(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """E4M3 and E5M2, on Blackwell NVFP4 too, whose K is a multiple of 32: two codes are one element
    of torch's ("Expected trailing dimension of mat1 to be divisible by 16").
    """
    if not (device.is_blackwell and cublaslt.is_nvfp4(view)):
        yield from common.formats(view, device)
    yield from cublaslt.fp4_depth(view, device)


def layout(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """On compute capability 9.0 and before "Only multiplication of row-major and column-major
    matrices is supported by cuBLASLt": a column-major B is one stored as [N, K], passed as `.t()`.
    """
    if device.amd is None:
        yield from cublaslt.layout(view, device)


def scaling(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The pairs of `get_joint_scaling`. Per row everywhere; 128-element blocks on 9.0 alone
    ("DeepSeek style (1x128, 128x128) scaling only supported in CUDA for SM90"); E8M0 blocks of 32
    from 10.0, on AMD on gfx950; FP4 blocks of 16 from 10.0 (`_scaled_nvfp4_nvfp4`).
    """
    yield from cublaslt.scale_shape(view)
    modes = cublaslt.joint_mode(view)
    if modes is None or modes in (("tensor", "tensor"), ("row", "row")):
        return
    if modes == ("1x32", "1x32"):
        if not device.is_blackwell and device.amd not in ("gfx950", "gfx1250"):
            message = "blocks of 32 with E8M0 scales need compute capability 10.0 or gfx950"
            yield obstacle(view, "scale-capability", "dot", message, "scale per tensor or per row")
    elif modes == ("1x16", "1x16"):
        if not device.is_blackwell:
            message = "blocks of 16 FP4 with E4M3 scales need compute capability 10.0"
            yield obstacle(view, "scale-capability", "dot", message, "scale per tensor or per row")
    elif modes in _BLOCK_PAIRS:
        if device.amd is not None or device.capability[0] != 9:
            message = "scales per 128 elements are for compute capability 9.0 alone"
            yield obstacle(view, "scale-capability", "dot", message, "scale per tensor or per row")
    else:
        message = f"scales per {modes[0]} and per {modes[1]} do not go together"
        edit = "scale both operands in the same way"
        yield obstacle(view, "scale-pair", "dot", message, edit)


_BLOCK_PAIRS = (("1x128", "1x128"), ("1x128", "128x128"), ("128x128", "1x128"))


def bias(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The check "Bias is not supported when out_dtype is set to Float32"; bf16 with a bf16 result,
    f16 with an f16 one, either with FP8.
    """
    if view.parts.bias is None:
        return
    given, epilogue, result = view.bias, view.epilogue_type, view.result
    element = epilogue if epilogue in ("bf16", "f16") else given
    wanted = {"f32": (), "bf16": ("bf16",), "f16": ("f16",)}.get(result, ("bf16", "f16"))
    if not wanted:
        message = "torch._scaled_mm adds no bias to an f32 result"
        edit = "ask for a bf16 result, or add the bias afterwards"
        yield obstacle(view, "bias-type", "bias", message, edit)
    elif element not in wanted:
        message = f"with {result} results the bias is {' or '.join(wanted)}, not {element}"
        yield obstacle(view, "bias-type", "bias", message, f"round the bias to {wanted[0]}")


def no_argument(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The signature: two matrices, two scales, a bias, a result scale, fast accumulation."""
    after = "do it in an op after torch._scaled_mm"
    if view.parts.c is not None:
        message = "torch._scaled_mm adds no matrix, only a bias vector"
        yield obstacle(view, "matrix-bias", "bias", message, after)
    if view.parts.activation != "none":
        message = f"torch._scaled_mm has no activation, this op has {view.parts.activation}"
        yield obstacle(view, "activation", "activation", message, after)
    if view.parts.amax:
        message = "torch._scaled_mm returns no amax"
        yield obstacle(view, "amax", "amax", message, "reduce a result in 16 bits")
    if view.parts.alpha not in (None, 1.0):
        message = "torch._scaled_mm has no factor alpha"
        yield obstacle(view, "alpha", "output", message, "multiply the scale of a side by it")


def row_wise_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The check "Only bf16, fp16, and fp32 high precision output types are supported for row-wise
    scaling"; on AMD bf16 alone ("hipblaslt rowwise _scaled_mm only supports BFloat16 output").
    """
    yield from cublaslt.fine_scale_output(view, device)
    is_row = cublaslt.joint_mode(view) == ("row", "row")
    if is_row and device.amd is not None and view.result not in ("bf16", *device.formats):
        message = f"on AMD the result of row-wise scales is bf16, not {view.result}"
        yield obstacle(view, "fine-scale-output", "output", message, "ask for a bf16 result")


DOT_RULES: tuple[Rule, ...] = (
    common.compute_capability,
    common.both_e5m2,
    formats,
    common.contracting_dims,
    matrices,
    dims,
    layout,
    scaling,
    cublaslt.scale_layout,
    bias,
    no_argument,
    common.result_type,
    common.unclamped_output,
    row_wise_output,
    cublaslt.output_scale,
)
CONVOLUTION_RULES: tuple[Rule, ...] = (cublaslt.no_convolution,)
