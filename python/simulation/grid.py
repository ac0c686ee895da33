"""How many devices are simulated, and how a module is written: for all of them, or for each."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.operations import call_target, operations
from mlir_fp8.simulation.limits import MOST

_BORDER = re.compile(r"SPMDFullToShardShape|xla\.sdy\.GlobalToLocalShape")
OF_DEVICES = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("cross-replica-sum", "partition_id", "reduce_scatter", "replica_id"),
    )
)


def check_devices(given: Any) -> tuple[int, int | None]:
    """`simulate_devices=` as replicas and partitions, or as their product and None."""
    numbers = given if isinstance(given, tuple) else (given,)
    is_sound = len(numbers) == 1 + isinstance(given, tuple) and all(
        isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in numbers
    )
    if not is_sound:
        way_out = "give a number, or (replicas, partitions)"
        raise Fp8Error(f"simulate_devices is {given!r}: {way_out}")
    count = numbers[0] * numbers[-1] if len(numbers) == 2 else numbers[0]
    if count > MOST:
        raise Fp8Error(f"{count} devices cannot be simulated: {MOST} at most")
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (numbers[0], None)


def grid_of(module: ir.Module, given: tuple[int, int | None]) -> tuple[int, int]:
    """The replicas and partitions of `given`, as `module` says where only the product is.

    Where it says nothing, they are replicas.
    """
    says = [_count(module, f"mhlo.num_{name}") for name in ("replicas", "partitions")]
    first, second = given
    if second is not None:
        grid = first, second
    elif says == [None, None]:
        return first, 1
    else:
        grid = says[0] or 1, says[1] or 1
        if grid[0] * grid[1] != first:
            raise Fp8Error(f"{first} devices are asked for, and the module is for {_spelled(grid)}")
    for wanted, said in zip(grid, says, strict=True):
        if said is not None and said != wanted:
            grids = _spelled(grid), _spelled((says[0] or 1, says[1] or 1))
            raise Fp8Error(f"{grids[0]} are asked for, and the module is for {grids[1]}")
    return grid


def several_devices(module: ir.Module) -> tuple[int, int] | None:
    """The replicas and partitions that `module` says it is for; None where that is one device."""
    said = [_count(module, f"mhlo.num_{name}") or 1 for name in ("replicas", "partitions")]
    return None if said == [1, 1] else (said[0], said[1])


def of_devices(
    module: ir.Module, count: int, *sides: Sequence[TensorSpec]
) -> list[tuple[TensorSpec, ...]]:
    """`sides`, types of arguments or results of the program, as callers have them.

    Where the program is that of each device, these have a dimension of devices first.
    """
    if not is_for_each(module):
        return [tuple(side) for side in sides]
    return [tuple(replace(spec, shape=(count, *spec.shape)) for spec in side) for side in sides]


def has_parts(module: ir.Module) -> bool:
    """Whether some of `module` is the program of each device."""
    ops = operations(module.operation)
    return any(op.name in OF_DEVICES or _is_border(op) for op in ops)


def is_for_each(module: ir.Module) -> bool:
    """Whether `module` is the program of each device, on tensors of its own.

    A program of all devices has manual computations, or nothing that tells them apart.
    """
    ops = operations(module.operation)
    has_borders = any(map(_is_border, ops))
    return not has_borders and any(op.name in OF_DEVICES for op in ops)


def _is_border(op: ir.Operation) -> bool:
    is_call = op.name == "stablehlo.custom_call"
    return is_call and _BORDER.fullmatch(call_target(op)) is not None


def _count(module: ir.Module, name: str) -> int | None:
    attributes = module.operation.attributes
    return ir.IntegerAttr(attributes[name]).value if name in attributes else None


def _spelled(grid: tuple[int, int]) -> str:
    return f"{grid[0]} replicas of {grid[1]} partitions"
