"""The ops of a block as a sequence of keys, equal where the ops are, up to their operands."""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from mlir_fp8.base.operations import call_target, operations
from mlir_fp8.lowering.rewriting.stablehlo import names

CONSTANT = "stablehlo.constant"
SLICE = "stablehlo.slice"
_PLACES = ("start_indices", "limit_indices")
_FREE = names("stablehlo", "broadcast_in_dim iota reshape")
"""Ops that belong to each of their users: they are views, or fuse into what reads them."""
_FEW = 1024
"""The most elements of a constant that layers have to have in common, if it is no splat."""
_SCALING = names("stablehlo", "multiply divide")
_MOVING = names("stablehlo", "broadcast_in_dim reshape transpose")
# Ops with an effect, or whose results depend on their place in the module.
_UNEQUAL = names("stablehlo", "infeed outfeed recv rng send")


@dataclass(frozen=True)
class Step:
    """An op of the block; values have numbers."""

    op: ir.Operation
    key: int
    """Of name, attributes, types, regions, and of the attached ops that give operands."""
    operands: tuple[int, ...]
    """With what its regions take from outside; in place of an attached op what that takes."""
    results: tuple[int, ...]


@dataclass
class Steps:
    """A block without the ops that are attached to their users: constants, reshapes, broadcasts."""

    steps: list[Step] = field(default_factory=list)
    values: list[ir.Value] = field(default_factory=list)
    """By number."""
    attached: dict[ir.Value, tuple[int, ir.Value | None]] = field(default_factory=dict)
    """By the result: the key of the op, with those that it takes; and what they all take."""
    defined: dict[int, int] = field(default_factory=dict)
    """Where the results of steps come from: a place in `steps`."""
    users: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Places in `steps`, in order."""


def steps_of(block: ir.Block) -> Steps:
    """The ops of `block`, with its terminator last."""
    reader = _Reader()
    for op in block.operations:
        reader.add(op.operation)
    return reader.made


class _Reader:
    def __init__(self) -> None:
        self.made = Steps()
        self._numbers: dict[ir.Value, int] = {}
        self._keys: dict[Hashable, int] = {}
        self._scalars: dict[ir.Attribute, ir.Value] = {}
        """The first of equal ones: constants that are no part of a key, as an index of a layer."""

    def add(self, op: ir.Operation) -> None:
        captured = [each.operands[index] for each, index in free_operands(op)]
        described = _described(op, {})
        given = [self.made.attached.get(value, (None, value)) for value in captured]
        whole = (described, *(key for key, _ in given))
        sources = [source for _, source in given if source is not None]
        if _is_attached(op, sources):
            self.made.attached[op.results[0]] = self._key(whole), next(iter(sources), None)
        elif _is_free_constant(op):
            first = self._scalars.setdefault(op.attributes["value"], op.results[0])
            self._numbers[op.results[0]] = self._number(first)
        elif op.name != CONSTANT:  # a large one, which is an argument of its layer
            self._add_step(op, whole, tuple(map(self._number, sources)))

    def _add_step(self, op: ir.Operation, whole: Hashable, operands: tuple[int, ...]) -> None:
        made, place = self.made, len(self.made.steps)
        if op.name == "stablehlo.custom_call":  # may want constants
            whole = (whole, *(each for each in operands if self._is_integer(each)))
        key = self._key(whole if is_comparable(op) else ("unequal", place))
        made.steps.append(Step(op, key, operands, tuple(map(self._number, op.results))))
        for result in made.steps[place].results:
            made.defined[result] = place
        for operand in operands:
            made.users[operand].append(place)

    def _is_integer(self, number: int) -> bool:
        owner = self.made.values[number].owner
        return not isinstance(owner, ir.Block) and is_integer(owner.operation)

    def _number(self, value: ir.Value) -> int:
        number = self._numbers.setdefault(value, len(self._numbers))
        if number == len(self.made.values):
            self.made.values.append(value)
        return number

    def _key(self, described: Hashable) -> int:
        return self._keys.setdefault(described, len(self._keys))


def free_operands(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The operands of `op`, and those that its regions take from outside, in order."""
    if not len(op.regions):
        return [(op, index) for index in range(len(op.operands))]
    inside = operations(op)
    own: set[ir.Value] = {result for each in inside[1:] for result in each.results}
    for each in inside:
        own.update(a for region in each.regions for block in region for a in block.arguments)
    return [
        (each, index)
        for each in inside
        for index, operand in enumerate(each.operands)
        if operand not in own
    ]


def _described(op: ir.Operation, local: dict[ir.Value, int]) -> tuple[Hashable, ...]:
    """All of `op` but its location and the values from outside, `local` aside.

    Of slices not the place either: layers may take theirs of stacked weights.
    """
    attributes = op.attributes
    try:
        named = tuple((name, attributes[name]) for name in attributes if name not in _PLACES)
    except TypeError:  # the bindings have no class for it
        named = (str(attributes),)
    if op.name == SLICE and set(ir.DenseI64ArrayAttr(attributes["strides"])) != {1}:
        named = (*named, *(attributes[name] for name in _PLACES))
    operands = tuple(local.get(operand, operand.type) for operand in op.operands)
    types = tuple(result.type for result in op.results)
    if not len(op.regions):
        return (op.name, named, types, operands)
    inside: list[Hashable] = []
    for block in (block for region in op.regions for block in region):
        inside.append(tuple(argument.type for argument in block.arguments))
        for argument in block.arguments:
            local[argument] = len(local)
        for inner in (each.operation for each in block.operations):
            inside.append(_described(inner, local))
            for result in inner.results:
                local[result] = len(local)
    return (op.name, named, types, operands, len(op.regions), tuple(inside))


def _is_attached(op: ir.Operation, sources: Sequence[ir.Value]) -> bool:
    """Whether `op` is cloned for its users: a view, a broadcast, or a small constant."""
    if op.name == CONSTANT:
        return _is_small(op) and not _is_free_constant(op)
    if not sources and op.name == "stablehlo.convert":  # of constants
        return True
    return op.name in _FREE and all(map(_is_plain, (*op.operands, *op.results)))


def _is_small(constant: ir.Operation) -> bool:
    type_ = constant.results[0].type
    if not isinstance(type_, ir.RankedTensorType) or math.prod(type_.shape) <= _FEW:
        return True
    try:
        return bool(ir.DenseElementsAttr(constant.attributes["value"]).is_splat)
    except (TypeError, ValueError):
        return False


def _is_free_constant(op: ir.Operation) -> bool:
    """Whether layers may differ in `op`: an integer of rank 0, or factors in f32, such as scales.

    Products and quotients have the same bits whether a factor is known or not. Of other ops what
    is known of a constant may decide, as it does of the start of a reduction.
    """
    return is_integer(op) or (op.name == CONSTANT and _may_scale(op) and _only_scales(op))


def _may_scale(op: ir.Operation) -> bool:
    type_ = op.results[0].type
    if not isinstance(type_, ir.RankedTensorType) or not isinstance(type_.element_type, ir.F32Type):
        return False
    return sum(size != 1 for size in type_.shape) <= 1  # one, or one for each channel


def _only_scales(op: ir.Operation) -> bool:
    users = [use.owner.operation for use in op.results[0].uses]
    return all(
        user.name in _SCALING or (user.name in _MOVING and _only_scales(user)) for user in users
    )


def is_integer(op: ir.Operation) -> bool:
    """Whether `op` is a constant integer of rank 0."""
    if op.name != CONSTANT:
        return False
    type_ = op.results[0].type
    return (
        isinstance(type_, ir.RankedTensorType)
        and not type_.rank
        and isinstance(type_.element_type, ir.IntegerType)
    )


def is_comparable(op: ir.Operation) -> bool:
    """Whether `op` may be in a layer: pure, on tensors of known sizes that are not 0."""
    if op.name in _UNEQUAL or op.name.partition(".")[0] not in ("stablehlo", "chlo"):
        return False
    if op.name == "stablehlo.custom_call" and not _is_pure_call(op):
        return False
    values = (*op.operands, *op.results)
    return all(map(_is_plain, values)) and all(
        is_comparable(inner.operation)
        for region in op.regions
        for block in region
        for inner in block.operations
        if inner.operation.name != "stablehlo.return"
    )


def _is_pure_call(op: ir.Operation) -> bool:
    effect = op.attributes.get("has_side_effect")
    return bool(call_target(op)) and (effect is None or not ir.BoolAttr(effect).value)


def _is_plain(value: ir.Value) -> bool:
    type_ = value.type
    return (
        isinstance(type_, ir.RankedTensorType)
        and type_.has_static_shape
        and type_.encoding is None
        and 0 not in type_.shape
    )
