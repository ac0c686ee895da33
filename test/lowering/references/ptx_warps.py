"""What the threads of a warp tell each other: shuffles, votes, matches, reductions."""

from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import mask
from ptx_text import Instruction, PtxError

if TYPE_CHECKING:
    from ptx_machine import Machine

_U64 = np.uint64
_REDUCTIONS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def exchange(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    """`shfl`, `vote`, `match`, `redux`, `elect` of whole warps, whose mask is the last operand."""
    run = {"shfl": _shuffle, "vote": _vote, "match": _match, "redux": _redux, "elect": _elect}
    run[what.parts[0]](machine, what, at)


def _grid(machine: "Machine", at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values by warp and lane, and which lanes are there."""
    threads = machine.threads
    warps = threads.warp_of[at]
    _, rows = np.unique(warps, return_inverse=True)
    table = np.zeros((rows.max() + 1, 32), _U64)
    present = np.zeros(table.shape, bool)
    table[rows, threads.lane[at]] = values
    present[rows, threads.lane[at]] = True
    return table, present


def _rows(machine: "Machine", at: np.ndarray) -> np.ndarray:
    return np.unique(machine.threads.warp_of[at], return_inverse=True)[1]


def _shuffle(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    target, _, flag = what.operands[0].partition("|")
    value, by, limits = (machine.get(each, at) for each in what.operands[1:4])
    lane = machine.threads.lane[at]
    by, clamp, segment = (
        (by & _U64(31)).astype(int),
        limits & _U64(31),
        (limits >> _U64(8)) & _U64(31),
    )
    clamp, segment = clamp.astype(int), segment.astype(int)
    highest = (lane & segment) | (clamp & ~segment)
    lowest = lane & segment
    source, is_inside = {
        "up": lambda: (lane - by, lane - by >= highest),
        "down": lambda: (lane + by, lane + by <= highest),
        "bfly": lambda: (lane ^ by, (lane ^ by) <= highest),
        "idx": lambda: (lowest | (by & ~segment), (lowest | (by & ~segment)) <= highest),
    }[what.parts[2]]()
    source = np.where(is_inside, source, lane)
    table, present = _grid(machine, at, value)
    rows = _rows(machine, at)
    if not present[rows, source].all():
        raise PtxError(f"{what} reads a lane that does not take part")
    machine.put(target, at, table[rows, source])
    if flag:
        machine.put(flag, at, is_inside)


def _vote(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    value = machine.get(what.operands[1], at) & _U64(1)
    table, present = _grid(machine, at, value)
    flags, rows = table != 0, _rows(machine, at)
    match what.parts[2]:
        case "ballot":
            words = (flags.astype(_U64) << np.arange(32, dtype=_U64)).sum(1, dtype=_U64)
            machine.put(what.operands[0], at, words[rows])
        case "all":
            machine.put(what.operands[0], at, (flags | ~present).all(1)[rows])
        case "any":
            machine.put(what.operands[0], at, flags.any(1)[rows])
        case _:
            uniform = (flags | ~present).all(1) | ~flags.any(1)
            machine.put(what.operands[0], at, uniform[rows])


def _match(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    target, _, flag = what.operands[0].partition("|")
    value = machine.get(what.operands[1], at) & mask(int(what.parts[-1][1:]))
    table, present = _grid(machine, at, value)
    rows = _rows(machine, at)
    same = (table[rows] == value[:, None]) & present[rows]
    if what.parts[1] == "all":
        is_all = (same | ~present[rows]).all(1)
        same &= is_all[:, None]
        if flag:
            machine.put(flag, at, is_all)
    machine.put(target, at, (same.astype(_U64) << np.arange(32, dtype=_U64)).sum(1, dtype=_U64))


def _redux(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    kind = what.parts[-1]
    word = machine.get(what.operands[1], at) & mask(32)
    table, present = _grid(machine, at, word)
    numbers = table.astype(np.uint32).view(np.int32 if kind[0] == "s" else np.uint32)
    reduce = _REDUCTIONS[what.parts[2]]
    found = [
        int(reduce.reduce(row[there].astype(np.int64))) % (1 << 32)
        for row, there in zip(numbers, present, strict=True)
    ]
    machine.put(what.operands[0], at, np.array(found, _U64)[_rows(machine, at)])


def _elect(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    target, _, flag = what.operands[0].partition("|")
    _, present = _grid(machine, at, np.zeros(len(at), _U64))
    leader = present.argmax(1)[_rows(machine, at)]
    machine.put(target, at, leader)
    machine.put(flag, at, machine.threads.lane[at] == leader)
