"""What runs a fused op, and what of an op it refuses.

`TARGETS` are by the names that users type, which target_names.py lists. `fp8` is this project's
own op, which refuses nothing that it can express; the others are the kernels that a fused op is
meant for. Each rule is a function with its source in its docstring: target_common.py,
target_xla_gpu.py, target_xla_gpu_blocks.py,
target_cublaslt.py and target_torch.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaled_dot import target_cublaslt, target_torch, target_xla_gpu
from mlir_fp8.lowering.fp8.scaled_dot.device import Device
from mlir_fp8.lowering.fp8.scaled_dot.findings import Obstacle
from mlir_fp8.lowering.fp8.scaled_dot.fused_view import Form, FusedView
from mlir_fp8.lowering.fp8.scaled_dot.ragged import groups_obstacle
from mlir_fp8.lowering.fp8.scaled_dot.target_common import Rule
from mlir_fp8.lowering.fp8.scaled_dot.target_xla_gpu_blocks import RULES as BLOCK_RULES
from mlir_fp8.lowering.fp8.scaled_dot.target_xla_gpu_blocks import is_block_scaled
from mlir_fp8.lowering.fp8.scaled_dot.target_xla_gpu_output import takes_factor

BLOCKING_PARTS = frozenset({"lhs", "rhs", "dot"})
"""An obstacle in one of these keeps the product itself out of FP8; in others, what follows it."""

_COPIES = frozenset({"layout", "scale-layout"})
"""Obstacles that cost a copy of an operand or its scales before the call, not the call."""


@dataclass(frozen=True)
class Target:
    """What is known of one target: its rules in the order of reporting."""

    name: str
    dots: tuple[Rule, ...]
    convolutions: tuple[Rule, ...]
    elsewhere: tuple[Rule, ...] | None = None
    """In place of these, the rules on an AMD GPU, where they differ."""
    takes: Callable[[ir.Operation, Obstacle], bool] | None = None
    """Whether it does what keeps a step out of the fused op."""
    block_dots: tuple[Rule, ...] | None = None
    """In place of `dots`, the rules for block-scaled dots, where it has these as an op."""
    least: tuple[int, int] = (0, 0)
    """The compute capability that an older NVIDIA GPU is taken for."""


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("fp8", (), ()),
        Target(
            "xla-gpu",
            target_xla_gpu.DOT_RULES,
            target_xla_gpu.CONVOLUTION_RULES,
            takes=takes_factor,
            block_dots=BLOCK_RULES,
        ),
        Target(
            "cublaslt",
            target_cublaslt.DOT_RULES,
            target_cublaslt.CONVOLUTION_RULES,
            elsewhere=(target_cublaslt.nvidia,),
        ),
        Target("torch-scaled-mm", target_torch.DOT_RULES, target_torch.CONVOLUTION_RULES),
        Target(
            "cublaslt-blackwell",
            target_cublaslt.DOT_RULES,
            target_cublaslt.CONVOLUTION_RULES,
            elsewhere=(target_cublaslt.nvidia,),
            least=(10, 0),
        ),
    )
}


def refusals(
    op: ir.Operation,
    target: str,
    device: Device | None = None,
    form: Form | None = None,
) -> list[Obstacle]:
    """What of the fused `op` (`fp8.scaled_dot` or `fp8.scaled_convolution`) `target` cannot do.

    The device is a Hopper GPU with CUDA 12.9 where none is given. `form` is that of the program
    that `op` was made of; without it, `op` is taken to be written as the target likes it. Raises
    `Fp8Error` for an unknown target.
    """
    known = TARGETS.get(target)
    if known is None:
        raise Fp8Error(f"'{target}' is no target: it is one of {', '.join(TARGETS)}")
    if op.name == "fp8.scaled_ragged_dot":
        return [groups_obstacle(op)]
    view, device = FusedView(op, form or Form()), device or Device()
    device = replace(device, capability=max(device.capability, known.least))
    rules = known.convolutions if view.is_convolution else known.dots
    if known.block_dots is not None and is_block_scaled(view):
        rules = known.block_dots
    if device.amd is not None and known.elsewhere is not None:
        rules = known.elsewhere
    return [each for rule in rules for each in rule(view, device)]


def takes(op: ir.Operation, target: str, obstacle: Obstacle) -> bool:
    """Whether `target` does what `obstacle` keeps out of the fused `op`."""
    asked = TARGETS[target].takes
    return asked is not None and asked(op, obstacle)


def blocks(obstacle: Obstacle) -> bool:
    """Whether the product itself is lost, not only a step before or after it."""
    return obstacle.part in BLOCKING_PARTS and obstacle.kind not in _COPIES
