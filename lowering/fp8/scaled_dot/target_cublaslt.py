"""What one cuBLASLt FP8 matmul cannot do of a fused op, called for the op as it stands.

Sources: https://docs.nvidia.com/cuda/cublas/, "Narrow Precision Data Types Usage" (the table of
scaling modes with the compute capabilities that have them) and `cublasLtMatmul()` (the table of
data types). What one scalar op before the call mends is no obstacle: scales that divide or are of
another float type.
"""

import math
from collections.abc import Iterator
from itertools import product

from mlir_fp8.lowering.fp8.scaled_dot import target_common as common
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView, Side
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule, obstacle
from mlir_fp8.lowering.rewriting.swizzled_scales import TILE, whole_tiles

_E8M0, _E4M3, _F4 = "f8E8M0FNU", "f8E4M3FN", "f4E2M1FN"


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


def fp4_depth(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Rows of FP4 are whole 16 bytes: K is a multiple of 32 ("Tensor Core Usage"; so has it
    TransformerEngine, gemm.py: `assert_cublas_requirements`)."""
    lhs = view.sides[0]
    depth = lhs.size(lhs.contracting)
    if is_nvfp4(view) and depth % 16 == 0 and depth % 32:
        message = f"FP4 kernels take a K that is a multiple of 32: K = {depth}"
        edit = f"pad with zeros: K to {depth + -depth % 32}"
        yield obstacle(view, "dims-multiple-of-32", "dot", message, edit)


def layout(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Before Blackwell "A must be transposed and B non-transposed (The "TN" format)": of row-major
    tensors, both hold K innermost, transposes before the call undone: they are its flags.
    """
    if device.is_blackwell and not is_nvfp4(view):
        return
    for side in view.sides:
        if len(side.contracting) == 1 and side.contracting[0] != side.innermost:
            kernels = "FP4 kernels" if is_nvfp4(view) else "before Blackwell FP8 kernels"
            message = f"{kernels} take K as the innermost dimension of both sides"
            letter = "M" if side.part == "lhs" else "N"
            edit = f"store the {side.part} as [{letter}, K] and contract its last dimension"
            yield obstacle(view, "layout", side.part, message, edit)


def scaling_mode(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Per tensor from 8.9; per row and column (outer vectors), 1x128 and 128x128 blocks on 9.0
    alone; from 10.0 blocks of 32 with E8M0 scales, and of 16 FP4 with E4M3 ones (table of scaling
    modes). Both operands are scaled alike, but for 1x128 with 128x128."""
    yield from scale_shape(view)
    modes = joint_mode(view)
    if modes in (None, ("tensor", "tensor")):
        return
    needs_hopper = set(modes) <= {"row", "1x128", "128x128"}
    if modes not in PAIRS:
        message = f"scales per {modes[0]} and per {modes[1]} do not go together"
        edit = "scale both operands in the same way"
        yield obstacle(view, "scale-pair", "dot", message, edit)
    elif needs_hopper and device.capability != (9, 0):
        message = f"scales per {modes[0]} are for compute capability 9.0 alone"
        edit = "scale per tensor, or in blocks of 32 from compute capability 10.0"
        yield obstacle(view, "scale-capability", "dot", message, edit)
    elif modes in TILED and not device.is_blackwell:
        what = "32 with E8M0" if modes == ("1x32", "1x32") else "16 with E4M3"
        message = f"blocks of {what} scales need compute capability 10.0"
        yield obstacle(view, "scale-capability", "dot", message, "scale per tensor or per row")


def formats(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """E4M3 and E5M2; on Blackwell FP4 by FP4 in blocks of 16 too (table of data types, which has no
    FP6 and no FP4 in blocks of 32). Two E5M2 are no product in blocks either.
    """
    if not (device.is_blackwell and is_nvfp4(view)):
        yield from common.formats(view, device)
    if all(side.element == "f8E5M2" and side.scale_element == _E8M0 for side in view.sides):
        message = "both operands are E5M2, of which cuBLASLt has no product"
        yield obstacle(view, "both-e5m2", "dot", message, "quantize one of them to f8E4M3FN")


def scale_layout(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """Scales of blocks lie in tiles of 128 rows by 4 blocks of K ("1D Block Scaling Factors
    Layout"): those that a program takes so, and reads out of them, are as the kernel wants them.
    """
    if not device.is_blackwell or joint_mode(view) not in TILED:
        return
    rows, blocks = TILE
    for side in view.sides:
        if side.is_tiled:
            continue
        counts = side.size(side.free), side.size(side.contracting) // _blocks_along_k(side)
        whole = whole_tiles(counts)
        message = f"the kernel reads scales in tiles of {rows} rows by {blocks} blocks, 32x4x4"
        edit = f"store the scales of the {side.part} so, padded to {whole[0]}x{whole[1]}"
        yield obstacle(view, "scale-layout", side.part, message, edit)


def _blocks_along_k(side: Side) -> int:
    return max(1, side.block[side.contracting[0]])


def is_nvfp4(view: FusedView) -> bool:
    return all(side.element == _F4 and side.scale_element == _E4M3 for side in view.sides)


SHAPE_EDIT = "scale per tensor, per row and column, or in blocks of 32, 128 or 128x128"
PAIRS = (
    ("tensor", "tensor"),
    ("row", "row"),
    ("1x128", "1x128"),
    ("1x128", "128x128"),
    ("128x128", "1x128"),
    ("1x32", "1x32"),
    ("1x16", "1x16"),
)
TILED = (("1x32", "1x32"), ("1x16", "1x16"))


def scale_shape(view: FusedView) -> Iterator[Obstacle]:
    """Sides that no kernel scales so."""
    for side in view.sides:
        if not _modes(side):
            assert side.scale is not None
            shape, data = ("x".join(map(str, sizes)) for sizes in (side.scale, side.shape))
            scales = f"{side.scale_element} scales of shape {shape}"
            message = f"there is no kernel for {scales} for data of {data}"
            yield obstacle(view, "scale-shape", side.part, message, SHAPE_EDIT)


def joint_mode(view: FusedView) -> tuple[str, str] | None:
    """How both operands are scaled, of the ways that their scales can be read the first that there
    are kernels for; None where a side has no way."""
    lhs, rhs = view.sides
    pairs = list(product(_modes(lhs), _modes(rhs)))
    return next((pair for pair in pairs if pair in PAIRS), pairs[0] if pairs else None)


def _modes(side: Side) -> list[str]:
    """How an operand is scaled: "tensor", "row", "1x32" (with E8M0 scales), "1x16" (of FP4, with
    E4M3 scales), "1x128", "128x128".

    One number is also that of the only row, and one for each row that of the only block in it.
    """
    blocks = _blocks(side)
    fine = {_E8M0: ("1x32", (1, 32)), _E4M3: ("1x16", (1, 16))}.get(side.scale_element or "")
    if fine is not None and (side.scale_element == _E8M0 or side.element == _F4):
        name, wanted = fine
        return [name] * (blocks == wanted) + ["tensor"] * side.is_per_tensor
    found = ["tensor"] if side.is_per_tensor else []
    if side.is_per_row or (side.is_per_tensor and not side.batching and side.size(side.free) == 1):
        found.append("row")
    if blocks in _BLOCKS:
        found.append(_BLOCKS[blocks])
    return found


_BLOCKS = {(1, 128): "1x128", (128, 128): "128x128"}


def _blocks(side: Side) -> tuple[int, int] | None:
    """The block along the free and along the contracting dimension."""
    if len(side.contracting) != 1:
        return None
    block = side.block
    if any(block[i] != 1 for i in side.batching):
        return None
    return math.prod(block[i] for i in side.free), block[side.contracting[0]]


def fine_scale_output(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """With outer-vector and 128-element block scales D is f16, bf16 or f32 and has no scale ("the
    only supported precisions for D are CUDA_R_16F, CUDA_R_16BF and CUDA_R_32F")."""
    fine = {"row", "1x128", "128x128"} & {*(joint_mode(view) or ())}
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
    formats,
    common.contracting_dims,
    common.batch_count,
    dims,
    fp4_depth,
    layout,
    scaling_mode,
    scale_layout,
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
