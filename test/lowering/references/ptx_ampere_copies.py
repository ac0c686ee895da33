"""`cp.async` of `ptx_machine`, 4 to 16 bytes of each thread: there after its thread's wait."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ptx_memory import WRITTEN
from ptx_text import Instruction, PtxError

if TYPE_CHECKING:
    from ptx_machine import Machine


@dataclass
class _Copy:
    block: int
    offsets: np.ndarray
    data: np.ndarray


class AmpereCopies:
    def __init__(self, machine: "Machine") -> None:
        self.machine, self.memory = machine, machine.memory
        self._open: dict[int, list[_Copy]] = {}
        self._groups: dict[int, list[list[_Copy]]] = {}

    def run(self, what: Instruction, at: np.ndarray) -> None:
        kind = what.parts[2]
        if kind == "commit_group":
            for thread in at.tolist():
                self._groups.setdefault(thread, []).append(self._open.pop(thread, []))
        elif kind in ("wait_group", "wait_all"):
            kept = int(what.operands[0], 0) if kind == "wait_group" else 0
            for thread in at.tolist():
                groups = self._groups.setdefault(thread, [])
                if kind == "wait_all":
                    groups.append(self._open.pop(thread, []))
                for group in groups[: len(groups) - kept]:
                    self._arrive(thread, group)
                self._groups[thread] = groups[len(groups) - kept :] if kept else []
        elif kind in ("ca", "cg"):
            self._start(what, at)
        else:
            raise PtxError(f"{what} is not known")

    def _start(self, what: Instruction, at: np.ndarray) -> None:
        target, source, size, *rest = what.operands
        count = int(size, 0)
        used = np.full(len(at), count)
        if rest and "cache_hint" not in what.name:
            used = self.machine.get(rest[0], at).astype(np.int64)
        if count not in (4, 8, 16) or ("cg" in what.parts and count != 16) or (used > count).any():
            raise PtxError(f"{what}: {count} bytes")
        address = self.machine.address(source, at)
        into = self.machine.address(target, at)
        owner, offset = self.memory.owned(str(what), into, at)
        self.memory.check_shared(str(what), offset, count)
        if (address % count).any() or (offset % count).any():
            raise PtxError(f"{what} is not aligned to {count} bytes")
        for i, thread in enumerate(at.tolist()):
            places = int(address[i]) + np.arange(int(used[i]))
            self.memory.check_global(str(what), places)
            data = np.zeros(count, np.uint8)
            data[: len(places)] = self.memory.bytes[places]
            copy = _Copy(int(owner[i]), int(offset[i]) + np.arange(count), data)
            self.memory.claim(str(what), copy.block, copy.offsets, WRITTEN)
            self._open.setdefault(thread, []).append(copy)

    def _arrive(self, thread: int, group: list[_Copy]) -> None:
        for copy in group:
            self.memory.release(copy.block, copy.offsets, WRITTEN)
            self.memory.shared[copy.block, copy.offsets] = copy.data
            if self.memory.writers is not None:
                self.memory.writers[copy.block, copy.offsets] = thread
