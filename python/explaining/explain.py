"""`mlir_fp8.explain`: for each dot and convolution, which targets run it in FP8, or why not."""

from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.context import check_module, load_fp8_dialect
from mlir_fp8.errors import Fp8Error
from mlir_fp8.execution import copy_of
from mlir_fp8.explaining.verdicts import (
    FUSED,
    NOT_FP8,
    NOT_FUSED,
    PARTLY,
    Answer,
    Explanation,
    Hindrance,
    Row,
)
from mlir_fp8.inspection.module_places import module_place
from mlir_fp8.lowering.scaled_dot.device import Device, parse_device
from mlir_fp8.lowering.scaled_dot.findings import Finding, Obstacle
from mlir_fp8.lowering.scaled_dot.targets import TARGETS, blocks, refusals
from mlir_fp8.passes.pass_pipeline import run_pipeline

NO_FP8 = "not-fp8"
"""The kind of obstacle of an operand that does not come from FP8."""


def explain(
    module: ir.Module,
    target: str | Sequence[str] = "fp8",
    *,
    compute_capability: str = "9.0",
    cuda_version: str = "12.9",
    name: str = "<module>",
) -> Explanation:
    """A row for each dot and convolution of `module`, which stays as it is.

    `target` is one of `fp8`, `xla-gpu`, `cublaslt`, `torch-scaled-mm`, several of them, or "all";
    `compute_capability` an NVIDIA one, such as "8.9", or an AMD architecture, such as "gfx942";
    `name` stands in places for a module that was read from no file. Private functions are inlined
    first. Raises `Fp8Error` for an unknown target or device.
    """
    check_module(module)
    targets = _targets(target)
    device = parse_device(compute_capability, cuda_version)
    copy = prepared_copy(module, name)
    from mlir_fp8.lowering.fp8_fuse_scaled_dot import fuse

    with copy.context:
        rows = tuple(_row(finding, targets, device, name) for finding in fuse(copy.operation))
    return Explanation(name, device.name, targets, rows)


def prepared_copy(module: ir.Module, name: str) -> ir.Module:
    """A copy of `module` in which calls are inlined."""
    copy = copy_of(module)
    load_fp8_dialect(copy.context)
    run_pipeline(copy, ["inline"], name=name)
    return copy


def _targets(target: str | Sequence[str]) -> tuple[str, ...]:
    names = [target] if isinstance(target, str) else list(target)
    if "all" in names:
        return tuple(TARGETS)
    for each in names:
        if each not in TARGETS:
            raise Fp8Error(f"'{each}' is no target: it is all, or one of {', '.join(TARGETS)}")
    return tuple(dict.fromkeys(names))


def _row(finding: Finding, targets: Sequence[str], device: Device, name: str) -> Row:
    answers = tuple(_answer(finding, target, device, name) for target in targets)
    place = module_place(finding.location, name)
    return Row(finding.name, place, finding.signature, finding.type, answers)


def _answer(finding: Finding, target: str, device: Device, name: str) -> Answer:
    obstacles = list(finding.obstacles)
    if finding.fused is None:
        verdict = NOT_FP8 if is_not_fp8(finding) else NOT_FUSED
    else:
        refused = refusals(finding.fused, target, device)
        obstacles += refused
        verdict = NOT_FUSED if any(map(blocks, refused)) else PARTLY if obstacles else FUSED
    hindrances = tuple(_hindrance(each, name) for each in obstacles)
    return Answer(target, verdict, hindrances)


def is_not_fp8(finding: Finding) -> bool:
    """Whether no operand of a dot that is not fused comes from FP8."""
    parts = {each.part for each in finding.obstacles if each.kind == NO_FP8}
    return finding.fused is None and ("dot" in parts or {"lhs", "rhs"} <= parts)


def _hindrance(obstacle: Obstacle, name: str) -> Hindrance:
    place = module_place(obstacle.location, name)
    return Hindrance(obstacle.kind, obstacle.part, obstacle.message, place, obstacle.edit)
