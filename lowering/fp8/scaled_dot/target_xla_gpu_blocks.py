"""What XLA:GPU does not give to cuDNN of a dot with scales of blocks, as it has such dots.

The rules are those of openxla/xla, xla/backends/gpu/transforms/block_scaling_rewriter.cc
(`GetCudnnMxType`, `IsSupportedByCudnn`). What cuDNN does not take is dequantized, and multiplied
in 16 or 32 bits. XLA pads scales and lays them out in tiles itself (`AddScaleSwizzle`).
"""

from collections.abc import Iterator

from mlir_fp8.lowering.fp8._block_scaled_dots import no_block_scaled_dot
from mlir_fp8.lowering.fp8.scaled_dot import target_common as common
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import FusedView, Side
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule, obstacle

_KINDS = (
    (("f8E4M3FN", "f8E5M2"), ("f8E8M0FNU", 32)),
    (("f4E2M1FN",), ("f8E4M3FN", 16)),
)
"""Elements, and the type of scales with how many elements have one: MXFP8 and NVFP4."""
_EDIT = "quantize both sides in MXFP8 (blocks of 32) or in NVFP4 (of 16)"


def is_block_scaled(view: FusedView) -> bool:
    """Whether the op is one that XLA has as a block-scaled dot, and no dot that a program wrote."""
    return view.form.element is None and view.parts.is_dot and not no_block_scaled_dot(view.parts)


def capability(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """cuDNN's kernels are for Blackwell, of NVIDIA (gpu_compiler: `allow_cudnn`)."""
    if not device.is_blackwell:
        message = f"XLA dequantizes blocks on {device.name}: cuDNN's kernels need 10.0"
        yield obstacle(view, "scale-capability", "dot", message, "scale per tensor")


def formats(view: FusedView, device: Device) -> Iterator[Obstacle]:
    """MXFP8 by MXFP8, of which one is E4M3, or NVFP4 by NVFP4 (`IsSupportedByCudnn`)."""
    for side in view.sides:
        if not _is_known(side):
            block = side.block[side.contracting[0]]
            what = f"{side.element} in blocks of {block} with {side.scale_element} scales"
            yield obstacle(view, "scale-shape", side.part, f"cuDNN has no product of {what}", _EDIT)
    if all(side.element == "f8E5M2" for side in view.sides):
        message = "both operands are E5M2, of which cuDNN has no product"
        yield obstacle(view, "both-e5m2", "dot", message, "quantize one of them to f8E4M3FN")


def _is_known(side: Side) -> bool:
    block = side.block[side.contracting[0]]
    return any(
        side.element in elements and (side.scale_element, block) == scales
        for elements, scales in _KINDS
    )


RULES: tuple[Rule, ...] = (common.contracting_dims, capability, formats)
