"""What devices exchange in a collective, on arrays that all lie in one process.

Elements are moved bit for bit, whatever their type is; what is computed of them is not here.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Exchange:
    """One collective: what each device of a group gets of the others' operands.

    Devices are numbered as StableHLO's flattened ids: `replica * num_partitions + partition`.
    """

    kind: str
    """A key of `KINDS`, or `NUMBER`: the device's number, of no operand."""
    op: str
    """The name of the op that it is in the place of."""
    takes: tuple[int, ...]
    """The shape of an operand."""
    gives: tuple[int, ...]
    """The shape of a result."""
    item_bytes: int
    groups: tuple[tuple[int, ...], ...] = ()
    """Those that wait for each other, in the order in which their operands count."""
    dim: int = 0
    other_dim: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    """Sources and targets of a permutation."""
    places: tuple[tuple[int, ...], ...] = ()
    """Where the part of each device begins in the whole."""
    place: str = ""
    """Of the op, for messages."""

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> "Exchange":
        given = json.loads(text)
        for name in ("groups", "pairs", "places"):
            given[name] = tuple(map(tuple, given[name]))
        given["takes"], given["gives"] = tuple(given["takes"]), tuple(given["gives"])
        return Exchange(**given)

    @property
    def dtype(self) -> np.dtype:
        """A type of as many bytes as an element has."""
        return np.dtype(f"V{self.item_bytes}")

    def run(self, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
        """Fill `results`, one for each of `members`, from their `operands`, both of `dtype`."""
        KINDS[self.kind](self, members, operands, results)


NUMBER = "number"


def _gather(exchange: Exchange, _: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The operands one after the other along `dim`."""
    whole = np.concatenate(operands, exchange.dim)
    for result in results:
        result[...] = whole


def _stack(_: Exchange, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The operands along a new first dimension, which may be longer than the group.

    In the order of the devices' numbers, as StableHLO's interpreter reduces them.
    """
    for result in results:
        _put(result, _in_order(members, operands))


def _scatter(exchange: Exchange, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """As `_stack`, of the part along `dim` that is the device's by its place in the group."""
    parts = [np.split(each, len(operands), exchange.dim) for each in operands]
    for number, result in enumerate(results):
        _put(result, _in_order(members, [each[number] for each in parts]))


def _in_order(members: Sequence[int], arrays: Arrays) -> Arrays:
    return [arrays[place] for place in np.argsort(members)]


def _all_to_all(exchange: Exchange, _: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The parts along `dim` that are the device's, one after the other along `other_dim`."""
    parts = [np.split(each, len(operands), exchange.dim) for each in operands]
    for number, result in enumerate(results):
        result[...] = np.concatenate([each[number] for each in parts], exchange.other_dim)


def _permute(exchange: Exchange, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The operand of the source, zeros where there is none."""
    of = dict(zip(members, operands, strict=True))
    sources = {target: source for source, target in exchange.pairs}
    for member, result in zip(members, results, strict=True):
        _put(result[None], [of[sources[member]]] if member in sources else [])


def _shard(exchange: Exchange, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The device's part of its operand."""
    for member, operand, result in zip(members, operands, results, strict=True):
        result[...] = operand[_window(exchange.places[member], result.shape)]


def _unshard(exchange: Exchange, members: Sequence[int], operands: Arrays, results: Arrays) -> None:
    """The parts of all in their places."""
    for result in results:
        for member, operand in zip(members, operands, strict=True):
            result[_window(exchange.places[member], operand.shape)] = operand


def _put(target: np.ndarray, parts: Arrays) -> None:
    """`parts` along the first dimension of `target`, and zeros behind them."""
    for number, part in enumerate(parts):
        target[number] = part
    if len(parts) < len(target):
        target[len(parts) :] = np.zeros((), target.dtype)


def _window(starts: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(start, start + size) for start, size in zip(starts, shape, strict=True))


KINDS: dict[str, Callable[[Exchange, Sequence[int], Arrays, Arrays], None]] = {
    "all_to_all": _all_to_all,
    "gather": _gather,
    "permute": _permute,
    "scatter": _scatter,
    "shard": _shard,
    "stack": _stack,
    "unshard": _unshard,
}
