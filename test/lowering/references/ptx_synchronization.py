"""Barriers, mbarriers and fences of `ptx_machine`, from their operands."""

from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import mask
from ptx_text import Instruction, PtxError

if TYPE_CHECKING:
    from ptx_machine import Machine


def barrier(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    kind = what.parts[1:]
    if kind[0] == "cluster":
        arrives = kind[1] == "arrive"
        (machine.threads.cluster_arrive if arrives else machine.threads.cluster_wait)(at)
    elif kind[0] != "warp":
        if kind[0] == "red" or "red" in kind[:2]:
            raise PtxError(f"{what} is not known")
        values = [machine.get(each, at).astype(np.int64) for each in what.operands]
        count = values[1] if len(values) > 1 else np.zeros(len(at), np.int64)
        machine.threads.barrier(values[0], count, at, "arrive" not in kind)


def mbarrier(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    if what.parts[1] == "pending_count":
        machine.put(what.operands[0], at, machine.get(what.operands[1], at) & mask(20))
        return
    first = next(i for i, each in enumerate(what.operands) if each.startswith("["))
    values = [machine.address(what.operands[first], at)]
    values += [machine.get(each, at) for each in what.operands[first + 1 :]]
    found = machine.mbarriers.run(what, values, at)
    if found is not None and first:
        machine.put(what.operands[0].partition("|")[0], at, found)


def fence(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    if "proxy" in what.parts and "async" in what.name:
        if "global" not in what.name:
            machine.memory.fence_async(at)
        machine.mbarriers.fence(at)
    elif "mbarrier_init" in what.parts:
        machine.mbarriers.fence(at)
    elif "tensormap" in what.name:
        machine.copies.acquire(what, at)


def activemask(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    words = np.zeros(machine.threads.count, np.int64)
    np.bitwise_or.at(words, machine.threads.warp_of[at], 1 << machine.threads.lane[at])
    machine.put(what.operands[0], at, words[machine.threads.warp_of[at]])


def set_registers(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    count = int(what.operands[0])
    if not 24 <= count <= 256 or count % 8:
        raise PtxError(f"{what}: no multiple of 8 from 24 to 256")
