"""Shardings of values in a module, and where one device's part of a tensor is computed on."""

import math
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import symbol_name
from mlir_fp8.base.operations import call_target, callee, operations, producer
from mlir_fp8.base.shardings import (
    MESHES,
    Gspmd,
    Sharding,
    Shardy,
    annotate,
    annotation,
    frontend_attributes,
    mesh_axes,
    read_sharding,
    shardy_of,
)
from mlir_fp8.lowering.rewriting.stablehlo import build

BODY = "xla.sdy.manual_computation_body"
"""How the names of functions begin that compute on one device's part of their arguments."""
_ENTER = ("xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape")
_LEAVE = ("xla.sdy.LocalToGlobalShape", "SPMDShardToFullShape")
_ANNOTATIONS = frozenset(
    {"Sharding", *_ENTER, *_LEAVE}
    | {f"xla.sdy.{each}" for each in ("FuncResultSharding", "PropagationBarrier", "ShardingGroup")}
)
_SAME_SHARDING = frozenset(
    f"stablehlo.{each}" for each in ("convert", "abs", "negate", "optimization_barrier")
)


def is_constraint(op: ir.Operation | None) -> bool:
    """Whether `op` gives its operand under a sharding that it names."""
    return op is not None and op.name == "stablehlo.custom_call" and call_target(op) == "Sharding"


def leaves_dims_open(op: ir.Operation) -> bool:
    """Whether a constraint of GSPMD says that some dimensions are XLA's to choose."""
    key = "backend_config"
    return key in op.attributes and "unspecified_dims" in str(op.attributes[key])


def annotations(module: ir.Operation) -> list[ir.Operation]:
    """The custom calls that say where values lie, and give them as they are."""
    calls = operations(module, "stablehlo.custom_call")
    return [
        op
        for op in calls
        if call_target(op) in _ANNOTATIONS
        and [each.type for each in op.results] in ([], [each.type for each in op.operands])
    ]


def gathers(op: ir.Operation) -> bool:
    """Whether a constraint moves parts of its operand, each of which is no larger than those after.

    So elements are fewer to quantize before it, and what moves is smaller.
    """
    before, after = sharding_of(op.operands[0]), read_sharding(op.attributes)
    if before is None or after is None or str(before) == str(after) or leaves_dims_open(op):
        return False
    parts = [math.prod(each.tiles(module_of(op))) for each in (before, after)]
    return parts[0] > 1 and parts[0] >= parts[1] > 0


def sharding_of(value: ir.Value) -> Sharding | None:
    """The sharding that the module says `value` has; None where it says nothing."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return _of_argument(owner.owner.operation, ir.BlockArgument(value).arg_number)
    op = owner.operation
    if call_target(op) in _ENTER if op.name == "stablehlo.custom_call" else False:
        return None
    said = read_sharding(op.attributes, ir.OpResult(value).result_number)
    if said is not None:
        return said
    if op.name in _SAME_SHARDING and len(op.operands) == 1:
        return sharding_of(op.operands[0])
    if op.name == "stablehlo.transpose":
        before = sharding_of(op.operands[0])
        order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        return None if before is None else before.transposed(order)
    return None


def _of_argument(function: ir.Operation, number: int) -> Sharding | None:
    if function.name != "func.func" or "arg_attrs" not in function.attributes:
        return None
    return read_sharding(ir.DictAttr(ir.ArrayAttr(function.attributes["arg_attrs"])[number]))


def share(made: ir.Value, source: ir.Value) -> None:
    """Let `made`, of the shape of `source` or with sizes of 1, say that it is split as that is."""
    sharding, op = sharding_of(source), producer(made)
    if sharding is None or op is None or len(op.results) != 1:
        return
    sizes, whole = (ir.RankedTensorType(each.type).shape for each in (made, source))
    annotate(op, of_scale(sharding, sizes, whole))


def of_scale(sharding: Sharding, counts: Sequence[int], shape: Sequence[int]) -> Sharding:
    """That of a scale of so many numbers a dimension, of a tensor of `shape` under `sharding`."""
    if len(counts) != len(shape):
        return sharding.replicated(len(counts))
    return sharding.along([a == b for a, b in zip(counts, shape, strict=True)])


def scale_argument(
    attributes: ir.DictAttr, counts: Sequence[int], shape: Sequence[int]
) -> dict[str, ir.Attribute]:
    """What the argument of a scale says of its sharding, where that of its codes has these."""
    sharding = read_sharding(attributes)
    if sharding is None:
        return {}
    return annotation([of_scale(sharding, counts, shape)], of_argument=True)


def replicate(made: ir.Value, source: ir.Value) -> None:
    """Let all results of what makes `made` say that each device holds them whole, if `source` has
    a sharding."""
    sharding, op = sharding_of(source), producer(made)
    if sharding is not None and op is not None:
        ranks = (ir.RankedTensorType(each.type).rank for each in op.results)
        annotate(op, *map(sharding.replicated, ranks))


def constrain(value: ir.Value, sharding: Sharding) -> ir.Value:
    """`value` under `sharding`, at the current insertion point: XLA moves it there, as it is."""
    attributes = {"call_target_name": ir.StringAttr.get("Sharding"), **annotation([sharding])}
    return build("custom_call", value.type, [value], attributes)


def replicated_in(function: ir.Operation, rank: int) -> Sharding | None:
    """That of a value of `rank` which all devices hold whole; None where nothing is sharded."""
    module = function.parent
    assert module is not None
    meshes = frontend_attributes(module.operation.attributes).get(MESHES, "")
    name = meshes.removeprefix("{").partition(" =")[0]
    if name:
        return Shardy(f"@{name}", ("{}",) * rank)
    block = function.regions[0].blocks[0]
    shardings = (_of_argument(function, each.arg_number) for each in block.arguments)
    return next((each.replicated(rank) for each in shardings if each is not None), None)


def said_result(
    end: ir.Operation, value: ir.Value, sharding: Sharding
) -> tuple[ir.Value, dict[str, ir.Attribute]]:
    """What to return before `end`, so that `value` has `sharding`, and the result's attributes."""
    if isinstance(sharding, Gspmd):
        return value, annotation([sharding])
    target = ir.StringAttr.get("xla.sdy.FuncResultSharding")
    attributes = {"call_target_name": target, "has_side_effect": ir.BoolAttr.get(True)}
    with ir.InsertionPoint(end), end.location:
        said = build("custom_call", value.type, [value], {**attributes, **annotation([sharding])})
    return said, {}


def is_body(function: ir.Operation) -> bool:
    """Whether `function` computes on one device's part of its arguments."""
    return function.name == "func.func" and symbol_name(function).startswith(BODY)


def bodies(module: ir.Operation) -> list[ir.Operation]:
    """The functions of a module that compute on one device's part, in order."""
    return [op for op in operations(module, "func.func") if is_body(op)]


class ManualValues:
    """Which values of a function are one device's part, and among which devices they differ."""

    def __init__(self, function: ir.Operation) -> None:
        self._function = function
        self._module = module_of(function)
        self._local: set[ir.Value] = set()
        if not is_body(function):
            self._follow()

    def _follow(self) -> None:
        for op in operations(self._function):
            is_call = op.name == "stablehlo.custom_call"
            if is_call and call_target(op) in _ENTER:
                self._local.update(op.results)
            elif is_call and call_target(op) in _LEAVE:
                continue
            elif any(operand in self._local for operand in op.operands):
                self._local.update(op.results)
                for region in op.regions:
                    for block in region.blocks:
                        self._local.update(block.arguments)

    def groups(self, value: ir.Value) -> np.ndarray | None:
        """The devices that hold the parts of `value`, a row a group; None where it is whole."""
        if is_body(self._function):
            return body_groups(self._module, self._function)
        if value not in self._local:
            return None
        return np.arange(partitions(self._module)).reshape(1, -1)


def partitions(module: ir.Operation) -> int:
    """The number of partitions that a module says it is for."""
    key = "mhlo.num_partitions"
    return ir.IntegerAttr(module.attributes[key]).value if key in module.attributes else 1


def body_groups(module: ir.Operation, function: ir.Operation) -> np.ndarray:
    """The groups of devices that differ along the manual axes of `function`, a row each."""
    name = symbol_name(function)
    call = next(op for op in operations(module, "func.call") if callee(op) == name)
    ends = [producer(value) for value in call.operands]
    ends += [use.owner.operation for value in call.results for use in value.uses]
    for op in ends:
        texts = frontend_attributes(op.attributes) if op is not None else {}
        axes = texts.get("xla.sdy.manual_axes", "")
        shardings = texts.get("xla.sdy.in_shardings") or texts.get("xla.sdy.out_shardings")
        said = None if shardings is None else shardy_of(shardings)
        mesh = None if said is None else mesh_axes(module, said.mesh)
        if mesh is not None:
            return _groups(mesh, [name for name in mesh if f'"{name}"' in axes])
    return np.arange(partitions(module)).reshape(1, -1)


def _groups(mesh: dict[str, int], axes: Sequence[str]) -> np.ndarray:
    names = list(mesh)
    devices = np.arange(math.prod(mesh.values())).reshape(list(mesh.values()))
    inner = [names.index(axis) for axis in axes]
    outer = [dim for dim in range(len(names)) if dim not in inner]
    return devices.transpose([*outer, *inner]).reshape(-1, math.prod(mesh[each] for each in axes))


def function_of(op: ir.Operation) -> ir.Operation:
    """The function that `op` is in."""
    while op.name != "func.func" and op.parent is not None:
        op = op.parent.operation
    return op


def module_of(op: ir.Operation) -> ir.Operation:
    """The module that `op` is in."""
    while op.parent is not None:
        op = op.parent.operation
    return op
