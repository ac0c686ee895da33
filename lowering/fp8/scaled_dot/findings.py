"""What the search for scaled dots says about each dot and convolution of a module."""

from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.base.context import format_location


@dataclass(frozen=True)
class Obstacle:
    """One thing that keeps a dot, or a part of what surrounds it, out of the fused op.

    `kind` is an id in kebab-case, `part` is "lhs", "rhs", "dot", "bias", "activation", "amax" or
    "output", `message` says in one line what exactly is missing or in the way, `location` is that
    of the op in the way, `edit` is the smallest edit of the program that would let it fuse.
    """

    kind: str
    part: str
    message: str
    location: ir.Location
    edit: str


@dataclass(frozen=True)
class Finding:
    """One dot or convolution: the op it was fused into, if any, and what stayed outside of it.

    `name` is the op's without its dialect ("dot_general", "convolution", ...), `type` its result
    type before the fusion, `signature` its operand types.
    """

    name: str
    location: ir.Location
    type: str
    fused: ir.Operation | None
    obstacles: tuple[Obstacle, ...]
    signature: str


def remarks(finding: Finding) -> list[str]:
    """`file:line:column: remark: ...`, one line for the dot and one for each obstacle."""
    verdict = "not fused" if finding.fused is None else f"fused into {finding.fused.name}"
    lines = [(finding.location, f"{finding.name} {finding.signature} -> {finding.type}: {verdict}")]
    for obstacle in finding.obstacles:
        text = f"{obstacle.part}: {obstacle.message} [{obstacle.kind}]; {obstacle.edit}"
        lines.append((obstacle.location, text))
    return [f"{format_location(location)}: remark: {text}" for location, text in lines]
