"""mbarriers of `ptx_machine`: phases, pending arrivals and bytes, as in "Parallel Synchronization
and Communication Instructions: mbarrier" of NVIDIA's PTX ISA.

A wait that fails suspends its thread until the phase is complete, and says false: hardware may do
both, and a kernel has to ask again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ptx_memory import BARRIER, Memory
from ptx_text import Instruction, PtxError
from ptx_threads import Threads

_LIMIT = (1 << 20) - 1
_SIZE = 8


@dataclass
class Mbarrier:
    block: int
    offset: int
    expected: int
    pending: int
    bytes: int = 0
    phase: int = 0
    writer: int = -1
    """Who made it, until his fence: for others, and the copy engine, it may not be there yet."""

    def __str__(self) -> str:
        return f"mbarrier {self.offset:#x} of block {self.block}"


class Mbarriers:
    def __init__(self, memory: Memory, threads: Threads) -> None:
        self.memory, self.threads = memory, threads
        self.barriers: dict[tuple[int, int], Mbarrier] = {}

    def run(self, what: Instruction, values: list[np.ndarray], at: np.ndarray) -> np.ndarray | None:
        """Do `mbarrier.*`; `values` are the address and what follows it."""
        owner, offset = self._placed(str(what), values[0], at)
        match what.parts[1]:
            case "init":
                for i, thread in enumerate(at):
                    self._init((int(owner[i]), int(offset[i])), int(values[1][i]), int(thread))
            case "inval":
                for place in zip(owner.tolist(), offset.tolist(), strict=True):
                    each = self.at(str(what), *place)
                    self.memory.release(each.block, each.offset + np.arange(_SIZE), BARRIER)
                    del self.barriers[place]
            case "arrive" | "arrive_drop":
                return self._arrivals(what, values, at, owner, offset)
            case "expect_tx" | "complete_tx":
                sign = 1 if what.parts[1] == "expect_tx" else -1
                for i in range(len(at)):
                    each = self.at(str(what), int(owner[i]), int(offset[i]))
                    self.count_bytes(each, sign * int(values[1][i]))
            case "test_wait" | "try_wait":
                return self._waits(what, values[1], at, owner, offset)
            case _:
                raise PtxError(f"{what} is not known")
        return None

    def at(self, what: str, block: int, offset: int) -> Mbarrier:
        found = self.barriers.get((block, offset))
        if found is None:
            raise PtxError(f"{what}: no mbarrier was made at {offset:#x} of block {block}")
        return found

    def _placed(
        self, what: str, address: np.ndarray, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        owner, offset = self.memory.owned(what, address.astype(np.int64), at)
        self.memory.check_shared(what, offset, _SIZE)
        if (offset % _SIZE).any():
            raise PtxError(f"{what} is not aligned to {_SIZE} bytes")
        return owner, offset

    def _init(self, place: tuple[int, int], count: int, thread: int) -> None:
        if place in self.barriers:
            raise PtxError(f"{self.barriers[place]} is made twice without mbarrier.inval")
        if not 1 <= count <= _LIMIT:
            raise PtxError(f"an mbarrier for {count} arrivals")
        made = Mbarrier(*place, count, count, writer=thread)
        self.memory.claim(f"making {made}", place[0], place[1] + np.arange(_SIZE), BARRIER)
        self.barriers[place] = made

    def fence(self, at: np.ndarray) -> None:
        for each in self.barriers.values():
            if each.writer in at:
                each.writer = -1

    def _arrivals(
        self, what: Instruction, values: list[np.ndarray], at: np.ndarray, owner: np.ndarray,
        offset: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        expects, drops = "expect_tx" in what.parts, what.parts[1] == "arrive_drop"
        states = np.zeros(len(at), np.uint64)
        for i in range(len(at)):
            each = self.at(str(what), int(owner[i]), int(offset[i]))
            states[i] = (each.phase << 20) | each.pending
            if expects:
                self.count_bytes(each, int(values[1][i]), completes=False)
            count = 1 if expects or len(values) == 1 else int(values[1][i])
            if not 1 <= count <= each.pending:
                raise PtxError(
                    f"{what}: {count} arrivals at {each}, which waits for {each.pending} of "
                    f"{each.expected} in phase {each.phase}"
                )
            if "noComplete" in what.parts and count == each.pending:
                raise PtxError(f"{what} completes phase {each.phase} of {each}")
            each.pending -= count
            each.expected -= count * drops
            self._complete(each)
        return states

    def count_bytes(self, barrier: Mbarrier, count: int, completes: bool = True) -> None:
        """Add to the bytes that a phase waits for; less than 0 are bytes that arrived."""
        barrier.bytes += count
        if abs(barrier.bytes) > _LIMIT:
            raise PtxError(f"{barrier} counts {barrier.bytes} bytes, which it cannot")
        if completes:
            self._complete(barrier)

    def _complete(self, barrier: Mbarrier) -> None:
        if barrier.pending or barrier.bytes:
            return
        barrier.pending = barrier.expected
        barrier.phase += 1
        self.threads.wake(("mbarrier", barrier.block, barrier.offset))

    def _waits(
        self, what: Instruction, state: np.ndarray, at: np.ndarray, owner: np.ndarray,
        offset: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        is_over = np.zeros(len(at), np.uint64)
        failed: dict[tuple[int, int], list[int]] = {}
        for i in range(len(at)):
            place = (int(owner[i]), int(offset[i]))
            each = self.at(str(what), *place)
            if "parity" in what.parts:
                if state[i] > 1:
                    raise PtxError(f"{what}: a parity of {state[i]}")
                is_over[i] = each.phase % 2 != state[i]
            else:
                asked = int(state[i]) >> 20
                if not each.phase - 1 <= asked <= each.phase:
                    raise PtxError(f"{what}: phase {asked} of {each}, which is in {each.phase}")
                is_over[i] = asked < each.phase
            if not is_over[i]:
                failed.setdefault(place, []).append(i)
        for place, waiting in failed.items():
            each, chosen = self.barriers[place], at[waiting]
            if what.parts[1] == "test_wait":
                self.threads.rest(chosen)
            else:
                self.threads.suspend(chosen, ("mbarrier", *place), _reason(each))
        return is_over

    def check_end(self) -> None:
        for each in self.barriers.values():
            if each.bytes:
                raise PtxError(f"the kernel ends while {each} counts {each.bytes} bytes")


def _reason(barrier: Mbarrier) -> Callable[[], str]:
    def reason() -> str:
        return (
            f"waits for phase {barrier.phase} (parity {barrier.phase % 2}) of {barrier}, which "
            f"lacks {barrier.pending} of {barrier.expected} arrivals and {barrier.bytes} bytes"
        )

    return reason
