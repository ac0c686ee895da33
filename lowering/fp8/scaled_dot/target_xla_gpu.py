"""What XLA:GPU leaves out of `__cublas$lt$matmul$f8` and of cuDNN's FP8 convolutions.

The rules are the checks of openxla/xla, xla/service/gpu/transforms/gemm_rewriter.cc (functions are
named below) and cudnn_fused_conv_rewriter.cc. XLA pads dimensions to multiples of 16 and transposes
operands for the layout by itself (`PadOperandToMultipleOf16`, `TransposeMatrix`): no obstacle.
"""

from collections.abc import Iterator

from mlir_fp8.lowering.fp8.scaled_dot import target_common as common
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule, obstacle
from mlir_fp8.lowering.fp8.scaled_dot.target_xla_gpu_output import RULES, unclamped_output
from mlir_fp8.lowering.rewriting.stablehlo import names

_MIN_SIZE = 100
_COMMUTATIVE = names(
    "stablehlo", "broadcast broadcast_in_dim dynamic_slice pad reshape select slice transpose"
)
_WIDE = ("f32", "bf16", "f16")
_RESULTS = {"f32": ("f32",), "bf16": ("bf16", "f32"), "f16": ("f16", "f32")}


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
            if device.is_blackwell and side.scale_element in ("f8E8M0FNU", "f8E4M3FN"):
                edit = "write it as XLA's block-scaled dot: fp8-to-block-scaled-dot"
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


def movement(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """What may move dequantized data before a dot (`MatchFp8Param`: "Bitcast, broadcast, copy,
    dynamic-slice, pad, reshape, select, slice and transpose instructions are supported").
    """
    yield from _moved(view, allowed=_COMMUTATIVE)


def _moved(view: FusedView, allowed: frozenset[str]) -> Iterator[Obstacle]:
    for part, movers in view.form.between.items():
        for mover in (each for each in movers if each not in allowed):
            message = f"{mover} stands between the dequantize and the product"
            edit = f"apply {mover} to the FP8 tensor, and dequantize after it"
            if mover == "stablehlo.convert":
                edit = "dequantize in the type that the product takes"
            yield obstacle(view, "movement-between", part, message, edit)
            break


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


def dot_types(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """The program's own dot is one that cuBLASLt would do (`TypesAreSupportedByCublasLt`, asked
    before FP8 is looked for): both operands of one type, or both FP8.
    """
    element, operands = view.form.element, view.form.operands
    if element is None or not operands:
        return
    are_fp8 = set(operands) <= set(device.formats)
    allowed = _WIDE if are_fp8 else _RESULTS.get("".join({*operands}), ())
    if not allowed:
        message = f"the dot multiplies {operands[0]} and {operands[1]}, which XLA has no GEMM for"
        edit = "dequantize both operands to one type"
        yield obstacle(view, "dot-types", "dot", message, edit)
    elif element not in allowed and element not in device.formats:
        message = f"the dot gives {element}, which XLA has no GEMM of {operands[0]} for"
        yield obstacle(view, "dot-types", "dot", message, f"let the dot give {allowed[0]}")


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
        message = f"{' = '.join(ones)} = 1: XLA runs the dot as a wide product with a vector"
        edit = f"pad {' and '.join(ones)} with zeros to 2 or more"
        yield obstacle(view, "vector", "dot", message, edit)
    elif (sizes["M"] + sizes["N"]) * sizes["K"] < _MIN_SIZE:
        message = f"(M + N) * K is below {_MIN_SIZE}: XLA makes a loop of so small a dot"
        edit = "set --xla_gpu_gemm_rewrite_size_threshold=0"
        yield obstacle(view, "too-small", "dot", message, edit)


def convolution(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """A convolution's graph has additions, scales, ReLU, amax and a saturating cast
    (cudnn_fused_conv_rewriter.cc, `CaptureConvGraphRecursive`), no GELU, and is NVIDIA's alone
    (`F8GraphConv` asks for a CUDA compute capability). Its operands are dequantized right before it
    (`conv_operand_maybe_scaled`).
    """
    yield from _moved(view, allowed=frozenset())
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
    dot_types,
    movement,
    scale_rank,
    scale_convert,
    scale_after_sum,
    common.contracting_dims,
    too_small,
    common.batch_count,
    *RULES,
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
