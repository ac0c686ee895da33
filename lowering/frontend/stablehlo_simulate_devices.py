"""`stablehlo-simulate-devices`: collectives as exchanges between simulated devices.

Each device runs the same code. What it asks of others is a `custom_call @mlir_fp8.exchange`, which
`stablehlo-exchanges-to-calls` lowers; what is computed of it, such as sums, stays StableHLO.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from torch_mlir import ir

from mlir_fp8.arrays.exchange import NUMBER, Exchange
from mlir_fp8.base.context import op_error
from mlir_fp8.base.operations import operations, replace_op
from mlir_fp8.lowering import ModulePass
from mlir_fp8.lowering.frontend.devices.async_ops import inline_async
from mlir_fp8.lowering.frontend.devices.element_bytes import element_bytes
from mlir_fp8.lowering.frontend.devices.groups import Devices, Groups
from mlir_fp8.lowering.frontend.devices.reductions import reduced
from mlir_fp8.lowering.rewriting.exchange_calls import exchange_call
from mlir_fp8.lowering.rewriting.stablehlo import build, empty_constant, has_static_shape, splat

_UI32 = "tensor<ui32>"


@dataclass(frozen=True)
class StablehloSimulateDevices(ModulePass):
    """Replace collectives, `partition_id` and `replica_id` by exchanges between devices.

    Groups and their order are those of StableHLO's specification. A reduction takes the operands
    in the order of the devices' numbers, from the first on, and rounds as its body says.
    `async_start` is done where `async_done` asks for it. Options: `replicas` and `partitions`,
    whose product is the number of devices.
    """

    replicas: int = 1
    partitions: int = 1

    def run(self, module: ir.Operation) -> None:
        devices = Devices(self.replicas, self.partitions)
        for done in operations(module, "stablehlo.async_done", inner_first=True):
            inline_async(done)
        with module.context:
            for op in operations(module, *_RULES, inner_first=True):
                with op.location, ir.InsertionPoint(op):
                    values = _RULES[op.name](op, devices)
                replace_op(op, values)


def _each(op: ir.Operation, exchange: Callable[[ir.Value, ir.Value], ir.Value]) -> list[ir.Value]:
    """What `exchange` gives for each operand with its result; without elements there is nothing to
    wait for."""
    values: list[ir.Value] = []
    for operand, result in zip(op.operands, op.results, strict=True):
        if not (has_static_shape(operand) and has_static_shape(result)):
            raise op_error(op, f"on {operand.type} needs a static shape: refine shapes first")
        is_empty = not math.prod(result.type.shape)
        values.append(empty_constant(op, result.type) if is_empty else exchange(operand, result))
    return values


def _exchange(op: ir.Operation, kind: str, groups: Groups, operand: ir.Value) -> Exchange:
    shape = tuple(operand.type.shape)
    return Exchange(
        kind, op.name, shape, shape, element_bytes(op, operand.type.element_type), groups
    )


def _gather(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    groups = devices.groups_of(op)
    dim = _integer(op, "all_gather_dim")

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        shape = tuple(result.type.shape)
        counts = {operand.type.shape[dim] * len(group) for group in groups}
        _check(op, counts, {shape[dim]})
        made = replace(_exchange(op, "gather", groups, operand), gives=shape, dim=dim)
        return exchange_call(made, result.type, operand)

    return _each(op, exchange)


def _all_to_all(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    groups = devices.groups_of(op)
    split, concat = _integer(op, "split_dimension"), _integer(op, "concat_dimension")
    _check(op, {len(group) for group in groups}, {_integer(op, "split_count")})

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        made = _exchange(op, "all_to_all", groups, operand)
        made = replace(made, gives=tuple(result.type.shape), dim=split, other_dim=concat)
        return exchange_call(made, result.type, operand)

    return _each(op, exchange)


def _permute(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    pairs = devices.pairs_of(op)

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        made = _exchange(op, "permute", _linked(pairs, devices), operand)
        return exchange_call(replace(made, pairs=pairs), result.type, operand)

    return _each(op, exchange)


def _linked(pairs: tuple[tuple[int, int], ...], devices: Devices) -> Groups:
    """Devices that wait for each other, directly or not; one that nobody sends to is on its own."""
    above = list(range(devices.count))

    def top(device: int) -> int:
        while above[device] != device:
            device = above[device]
        return device

    for source, target in pairs:
        above[top(source)] = top(target)
    groups: dict[int, list[int]] = {}
    for device in range(devices.count):
        groups.setdefault(top(device), []).append(device)
    return tuple(map(tuple, groups.values()))


def _broadcast(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    """What is in no group gets zeros, as by a permutation to which it does not belong."""
    groups = devices.groups_of(op)
    pairs = tuple((group[0], device) for group in groups for device in group)

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        made = _exchange(op, "permute", _linked(pairs, devices), operand)
        return exchange_call(replace(made, pairs=pairs), result.type, operand)

    return _each(op, exchange)


def _all_reduce(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    groups = devices.groups_of(op)

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        return _reduced(op, devices, _exchange(op, "stack", groups, operand), operand, result)

    return _each(op, exchange)


def _reduce_scatter(op: ir.Operation, devices: Devices) -> list[ir.Value]:
    groups = devices.groups_of(op)
    dim = _integer(op, "scatter_dimension")

    def exchange(operand: ir.Value, result: ir.Value) -> ir.Value:
        shape = tuple(result.type.shape)
        _check(op, {shape[dim] * len(group) for group in groups}, {operand.type.shape[dim]})
        made = replace(_exchange(op, "scatter", groups, operand), gives=shape, dim=dim)
        return _reduced(op, devices, made, operand, result)

    return _each(op, exchange)


def _reduced(
    op: ir.Operation,
    devices: Devices,
    exchange: Exchange,
    operand: ir.Value,
    result: ir.Value,
) -> ir.Value:
    """The operands of the group as one tensor, reduced along its first dimension."""
    whole = ir.RankedTensorType(result.type)
    sizes = {device: len(group) for group in exchange.groups for device in group}
    most = max(sizes.values())
    shape = (most, *exchange.gives)
    type_ = ir.RankedTensorType.get(shape, operand.type.element_type)
    stacked = exchange_call(replace(exchange, gives=shape), type_, operand)
    if set(sizes.values()) == {most}:
        return reduced(op, stacked, most, ir.RankedTensorType(result.type))
    listed = [sizes[device] for device in range(devices.count)]
    return reduced(op, stacked, _of_device(listed), whole)


def _of_device(numbers: list[int]) -> ir.Value:
    """The one of `numbers` that is the device's, a `tensor<i64>`."""
    i64 = ir.IntegerType.get_signless(64)
    table = ir.DenseElementsAttr.get(
        [ir.IntegerAttr.get(i64, number) for number in numbers],
        ir.RankedTensorType.get([len(numbers)], i64),
    )
    sizes = ir.DenseI64ArrayAttr.get([1])
    one = ir.RankedTensorType.get([1], i64)
    held = build("constant", table.type, [], {"value": table})
    part = build("dynamic_slice", one, [held, _number()], {"slice_sizes": sizes})
    return build("reshape", ir.RankedTensorType.get([], i64), [part])


def _number() -> ir.Value:
    """The number of the device, a `tensor<ui32>`."""
    return exchange_call(Exchange(NUMBER, "", (), (), 4), ir.Type.parse(_UI32))


def _replica_id(_: ir.Operation, devices: Devices) -> list[ir.Value]:
    type_ = ir.Type.parse(_UI32)
    return [build("divide", type_, [_number(), splat(type_, devices.partitions)])]


def _partition_id(_: ir.Operation, devices: Devices) -> list[ir.Value]:
    type_ = ir.Type.parse(_UI32)
    return [build("remainder", type_, [_number(), splat(type_, devices.partitions)])]


def _integer(op: ir.Operation, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def _check(op: ir.Operation, given: set[int], wanted: set[int]) -> None:
    if given != wanted:
        sizes = " or ".join(map(str, sorted(given)))
        (want,) = wanted
        raise op_error(op, f"makes {sizes} of its groups, and its type says {want}")


_RULES: dict[str, Callable[[ir.Operation, Devices], list[ir.Value]]] = {
    "stablehlo.all_gather": _gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_broadcast": _broadcast,
    "stablehlo.collective_permute": _permute,
    "stablehlo.cross-replica-sum": _all_reduce,
    "stablehlo.partition_id": _partition_id,
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.replica_id": _replica_id,
}
