"""Layers from repeats: where they begin, and what they take and give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from mlir_fp8.lowering.frontend.layers.repeats import Repeat
from mlir_fp8.lowering.frontend.layers.steps import CONSTANT, Steps
from mlir_fp8.lowering.rewriting.stablehlo import names

# Without these, ops fuse into loops whose borders would cost more than they save.
_WORTH_IT = names(
    "stablehlo",
    "cholesky convolution custom_call dot dot_general dynamic_slice dynamic_update_slice fft gather"
    " reduce reduce_window scatter select_and_scatter sort triangular_solve while",
)
_OPEN = (-1, 0)
"""The place of operands from outside of a layer."""


@dataclass(frozen=True)
class Layers:
    """Two or more parts of `period` steps each, isomorphic, one after the other."""

    start: int
    period: int
    parameters: tuple[tuple[int, ...], ...]
    """For each layer the numbers of the values that it takes."""
    taken: tuple[int | None, ...]
    """For each operand from outside, in order, its parameter; None for a constant of all layers."""
    results: tuple[tuple[int, int], ...]
    """What other ops take: a step of the layer, and the number of its result."""

    @property
    def count(self) -> int:
        return len(self.parameters)

    @property
    def end(self) -> int:
        return self.start + self.count * self.period


def layers_of(block: Steps, repeat: Repeat) -> Layers | None:
    """The layers of `repeat`; None where keys are equal, but not what ops take."""
    inside = block.steps[repeat.start : repeat.start + repeat.period]
    if not any(step.op.name in _WORTH_IT for step in inside):
        return None
    start = _start(block, repeat)
    count = (repeat.end - start) // repeat.period
    starts = [start + number * repeat.period for number in range(count)]
    starts = _isomorphic(block, starts, repeat.period)
    if len(starts) < 2:
        return None
    return layers_at(block, starts, repeat.period)


def layers_at(block: Steps, starts: Sequence[int], period: int) -> Layers:
    """Those at the places `starts`, known to be isomorphic.

    What all take is a parameter, too, but for constants: each has those inside.
    """
    taken = list(zip(*(_taken(block, start, period) for start in starts), strict=True))
    distinct = [each for each in dict.fromkeys(taken) if not _is_common(block, each)]
    places = {each: place for place, each in enumerate(distinct)}
    parameters = tuple(zip(*distinct, strict=True)) if distinct else ((),) * len(starts)
    given = _given(block, starts, period)
    return Layers(starts[0], period, parameters, tuple(map(places.get, taken)), given)


def _is_common(block: Steps, values: Sequence[int]) -> bool:
    """Whether `values`, of one parameter, all are one constant."""
    owner = block.values[values[0]].owner
    return len(set(values)) == 1 and not isinstance(owner, ir.Block) and owner.name == CONSTANT


def _start(block: Steps, repeat: Repeat) -> int:
    """Where the first layer begins: the fewest bytes go from one layer to the next."""
    costs = _border_bytes(block, repeat)
    period = repeat.period

    def order(offset: int) -> tuple[int, int, int]:
        return costs[offset], -((repeat.end - repeat.start - offset) // period), offset

    usable = range(min(period, repeat.end - repeat.start - 2 * period + 1))
    return repeat.start + min(usable, key=order)


def _border_bytes(block: Steps, repeat: Repeat) -> list[int]:
    """For each place in a period, the bytes that ops before it give to ops after it.

    Of values that are used within a period: others go across every border. In the middle of
    `repeat`, as the first layer may take something else.
    """
    period, layers = repeat.period, (repeat.end - repeat.start) // repeat.period
    first = repeat.start + (layers // 2) * period
    changes = [0] * (period + 1)
    for place in range(first - period, first + period):
        for value in block.steps[place].results:
            last = max((u for u in block.users[value] if u - place < period), default=place)
            # Across the borders before `place` + 1, ..., `last`.
            begin, end = max(place + 1 - first, 0), min(last + 1 - first, period)
            if begin < end:
                size = _bytes(block.values[value].type)
                changes[begin] += size
                changes[end] -= size
    costs, total = [], 0
    for change in changes[:period]:
        total += change
        costs.append(total)
    return costs


def _bytes(type_: ir.Type) -> int:
    if not isinstance(type_, ir.RankedTensorType) or not type_.has_static_shape:
        return 0
    element = type_.element_type
    bits = element.width if isinstance(element, ir.IntegerType | ir.FloatType) else 128
    return math.prod(type_.shape) * -(-bits // 8)


def _isomorphic(block: Steps, starts: Sequence[int], period: int) -> list[int]:
    """Those of `starts` beside the middle one where ops take the same, up to parameters."""
    middle = len(starts) // 2
    forms = [_form(block, start, period) for start in starts]
    first, end = middle, middle + 1
    while first > 0 and forms[first - 1] == forms[middle]:
        first -= 1
    while end < len(starts) and forms[end] == forms[middle]:
        end += 1
    return list(starts[first:end])


def _form(block: Steps, start: int, period: int) -> list[tuple[int, int]]:
    """Where each operand comes from: a step of the layer and the number of its result."""
    form = []
    for step in block.steps[start : start + period]:
        for value in step.operands:
            place = block.defined.get(value, -1) - start
            if place < 0:
                form.append(_OPEN)
            else:
                form.append((place, block.steps[start + place].results.index(value)))
    return form


def _taken(block: Steps, start: int, period: int) -> list[int]:
    """Operands from outside, in order."""
    return [
        value
        for step in block.steps[start : start + period]
        for value in step.operands
        if block.defined.get(value, -1) < start
    ]


def _given(block: Steps, starts: Sequence[int], period: int) -> tuple[tuple[int, int], ...]:
    """Results that an op outside of any of the layers takes."""
    return tuple(
        (offset, number)
        for offset in range(period)
        for number in range(len(block.steps[starts[0] + offset].results))
        if any(_is_given(block, start, offset, number, period) for start in starts)
    )


def _is_given(block: Steps, start: int, offset: int, number: int, period: int) -> bool:
    users = block.users[block.steps[start + offset].results[number]]
    return bool(users) and users[-1] >= start + period
