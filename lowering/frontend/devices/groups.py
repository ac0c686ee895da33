"""The process groups of a collective, as StableHLO's specification numbers and orders them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from mlir_fp8.base.context import op_error
from mlir_fp8.lowering.rewriting.collectives import has_channel

Groups = tuple[tuple[int, ...], ...]
_PER_PARTITION = frozenset(
    f"stablehlo.{name}" for name in ("all_to_all", "collective_broadcast", "collective_permute")
)
"""Collectives that are among partitions where they have a channel."""


@dataclass(frozen=True)
class Devices:
    """A grid of processes, each with the number `replica * partitions + partition`."""

    replicas: int
    partitions: int

    @property
    def count(self) -> int:
        return self.replicas * self.partitions

    def groups_of(self, op: ir.Operation) -> Groups:
        """Who takes part in `op`, in order; refuses what is none of these devices, or one twice."""
        listed = [[each for each in row if each != -1] for row in _rows(op, "replica_groups")]
        if not any(listed):  # as XLA means it: all of them
            listed = [list(range(self._size(op)))]
        self._check(op, [each for row in listed for each in row])
        return tuple(self._processes(op, listed))

    def pairs_of(self, op: ir.Operation) -> tuple[tuple[int, int], ...]:
        """The sources and targets of a `collective_permute`."""
        rows = _rows(op, "source_target_pairs")
        for end, name in enumerate(("source", "target")):
            ends = [row[end] for row in rows]
            if len(set(ends)) < len(ends):
                raise op_error(op, f"has a {name} twice in its source_target_pairs")
        self._check_range(op, [each for row in rows for each in row])
        pairs = self._processes(op, rows)
        return tuple((source, target) for source, target in pairs)

    def _processes(self, op: ir.Operation, rows: list[list[int]]) -> Iterator[tuple[int, ...]]:
        replicas, partitions = range(self.replicas), range(self.partitions)
        for row in rows:
            match _strategy(op):
                case "cross_replica":
                    yield from (tuple(self._number(r, p) for r in row) for p in partitions)
                case "cross_partition":
                    yield from (tuple(self._number(r, p) for p in row) for r in replicas)
                case "cross_replica_and_partition":
                    yield tuple(self._number(r, p) for p in partitions for r in row)
                case _:
                    yield tuple(row)

    def _number(self, replica: int, partition: int) -> int:
        return replica * self.partitions + partition

    def _size(self, op: ir.Operation) -> int:
        """How many numbers `replica_groups` are of."""
        sizes = {"cross_partition": self.partitions, "flattened_ids": self.count}
        return sizes.get(_strategy(op), self.replicas)

    def _check(self, op: ir.Operation, numbers: list[int]) -> None:
        if len(set(numbers)) < len(numbers):
            raise op_error(op, "has a number twice in its replica_groups")
        self._check_range(op, numbers)
        missing = set(range(self._size(op))).difference(numbers)
        if missing and op.name != "stablehlo.collective_broadcast":
            raise op_error(op, f"is without {min(missing)} in its replica_groups, {self._way(op)}")

    def _check_range(self, op: ir.Operation, numbers: Iterable[int]) -> None:
        wrong = [number for number in numbers if not 0 <= number < self._size(op)]
        if wrong:
            raise op_error(op, f"is among {wrong[0]} too, {self._way(op)}")

    def _way(self, op: ir.Operation) -> str:
        grid = f"{self.replicas} replicas and {self.partitions} partitions"
        return f"which are {_strategy(op)} numbers of {grid}: simulate as many as it is written for"


def _rows(op: ir.Operation, name: str) -> list[list[int]]:
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.DenseElementsAttr):
        raise op_error(op, f"has {attribute} as {name}: write the numbers out")
    shape = ir.ShapedType(attribute.type).shape
    values = np.asarray(ir.DenseIntElementsAttr(attribute))
    return [list(map(int, row)) for row in np.broadcast_to(values, shape)]


def _strategy(op: ir.Operation) -> str:
    is_flattened = "use_global_device_ids" in op.attributes
    if is_flattened and not has_channel(op):
        raise op_error(op, "has use_global_device_ids without a channel_handle: give it one")
    if is_flattened:
        return "flattened_ids"
    if not has_channel(op):
        return "cross_replica"
    return "cross_partition" if op.name in _PER_PARTITION else "cross_replica_and_partition"
