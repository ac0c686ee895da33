"""The asynchronous copies of `ptx_machine`: `cp.async.bulk`, `.tensor`, and tensor maps.

Bytes come into shared memory when nobody can go on without them, or at once with `early`. Bytes
from shared memory are in use until `wait_group.read`, and in global memory from `wait_group` on.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from ptx_ampere_copies import AmpereCopies
from ptx_memory import READ, WRITTEN
from ptx_tensor_map_slots import TensorMaps
from ptx_tensor_maps import SIZE, TensorMap
from ptx_text import Instruction, PtxError, listed

if TYPE_CHECKING:
    from ptx_machine import Machine

_REDUCTIONS = {"add": np.add, "min": np.minimum, "max": np.maximum}


@dataclass
class _Incoming:
    what: str
    block: int
    offsets: np.ndarray
    """In shared memory, where the bytes go."""
    places: np.ndarray
    """In global memory, where those come from that are `inside`; the others are 0."""
    inside: np.ndarray
    barrier: int
    source: int = -1
    """The block whose shared memory `places` are in, or -1."""


@dataclass
class _Outgoing:
    block: int
    offsets: np.ndarray
    places: np.ndarray
    data: np.ndarray
    reduction: str = ""
    element: np.dtype = field(default_factory=lambda: np.dtype("u1"))
    is_read: bool = False


class Copies:
    def __init__(self, machine: "Machine", early: bool) -> None:
        self.machine, self.early = machine, early
        self.memory, self.threads = machine.memory, machine.threads
        self.incoming: list[_Incoming] = []
        self._open: dict[int, list[_Outgoing]] = {}
        self._groups: dict[int, list[list[_Outgoing]]] = {}
        self.maps = TensorMaps(machine.memory, machine.threads)
        self._ampere = AmpereCopies(machine)

    def run(self, what: Instruction, at: np.ndarray) -> None:
        parts = what.parts
        if "prefetch" in parts:
            return
        if parts[0] == "tensormap":
            self._change_map(what, at)
        elif "bulk" not in parts:
            self._ampere.run(what, at)
        elif "commit_group" in parts:
            for thread in at.tolist():
                groups = self._groups.setdefault(thread, [])
                groups.append(self._open.pop(thread, []))
        elif "wait_group" in parts:
            for thread in at.tolist():
                self._wait(thread, int(what.operands[0], 0), "read" in parts)
        else:
            for thread in at:
                self._copy(what, np.array([thread]))

    def _one(self, operand: str, at: np.ndarray) -> int:
        return int(self.machine.address(operand, at)[0])

    def _copy(self, what: Instruction, at: np.ndarray) -> None:
        """One thread's copy; the order of state spaces in the name is target, source."""
        spaces = [each for each in what.parts if each in _SPACES]
        is_tensor = "tensor" in what.parts
        if spaces[:1] == ["global"] and len(spaces) == 2:
            (self._box_out if is_tensor else self._bytes_out)(what, at)
        elif len(spaces) == 2 and "mbarrier::complete_tx::bytes" in what.parts:
            (self._box_in if is_tensor else self._bytes_in)(what, at)
        else:
            raise PtxError(f"{what} is not known")

    def _target(
        self, what: Instruction, operand: str, at: np.ndarray, align: int
    ) -> tuple[int, int]:
        address = self.machine.address(operand, at)
        owner, offset = self.memory.owned(str(what), address, at)
        if offset[0] % align:
            raise PtxError(f"{what}: {offset[0]:#x} is not aligned to {align} bytes")
        return int(owner[0]), int(offset[0])

    def _box(self, what: Instruction, operand: str, at: np.ndarray) -> tuple[TensorMap, list[int]]:
        where, _, corner = operand.strip("[] ").partition(",")
        address = self._one(where, at)
        found = self.maps.used(str(what), address, int(at[0]))
        words = [int(self.machine.get(each, at)[0]) & 0xFFFFFFFF for each in listed(corner)]
        if len(words) != len(found.box) or f"{len(words)}d" not in what.parts:
            raise PtxError(f"{what}: {len(words)} coordinates of a tensor of rank {len(found.box)}")
        if words[0] * found.element.itemsize % 16:
            raise PtxError(f"{what}: begins {words[0]} elements into a row, at no 16 bytes")
        return found, [each - ((each >> 31) << 32) for each in words]

    def _box_in(self, what: Instruction, at: np.ndarray) -> None:
        block, offset = self._target(what, what.operands[0], at, 128)
        map_, corner = self._box(what, what.operands[1], at)
        places, inside = map_.box_at(corner)
        self.memory.check_global(str(what), places[inside])
        self._start_in(what, at, block, map_.offsets(offset), places, inside, what.operands[2:])

    def _bytes_in(self, what: Instruction, at: np.ndarray) -> None:
        block, offset = self._target(what, what.operands[0], at, 16)
        count = self._count(what, what.operands[2], at)
        address = self._one(what.operands[1], at)
        source = -1
        if [each for each in what.parts if each in _SPACES][1] == "shared::cta":
            source, address = self._target(what, what.operands[1], at, 16)
        places = address + np.arange(count)
        if source < 0:
            self.memory.check_global(str(what), places)
        else:
            self.memory.check_shared(str(what), np.array([address]), count)
            self.memory.check_proxy(str(what), source, places)
        if address % 16:
            raise PtxError(f"{what}: {address:#x} is not aligned to 16 bytes")
        inside = np.ones(count, bool)
        self._start_in(
            what, at, block, offset + np.arange(count), places, inside, what.operands[3:], source
        )

    def _count(self, what: Instruction, operand: str, at: np.ndarray) -> int:
        count = int(self.machine.get(operand, at)[0]) & 0xFFFFFFFF
        if count % 16:
            raise PtxError(f"{what}: {count} bytes are no multiple of 16")
        return count

    def _start_in(
        self, what: Instruction, at: np.ndarray, block: int, offsets: np.ndarray,
        places: np.ndarray, inside: np.ndarray, rest: tuple[str, ...], source: int = -1,
    ) -> None:  # fmt: skip
        owner, barrier = self._target(what, rest[0], at, 8)
        if owner != block:
            raise PtxError(f"{what}: the mbarrier is of block {owner}, the bytes of {block}")
        blocks = [block]
        if "multicast::cluster" in what.parts:
            chosen = int(self.machine.get(rest[1], at)[0]) & 0xFFFF
            own = self.threads.block_at[self.threads.cluster_of[block]]
            if chosen >> len(own) or not chosen:
                raise PtxError(f"{what}: a mask of {chosen:#x} in a cluster of {len(own)}")
            blocks = [int(each) for rank, each in enumerate(own) if chosen >> rank & 1]
        for each in blocks:
            waited = self.machine.mbarriers.at(str(what), each, barrier)
            if waited.writer >= 0:
                raise PtxError(f"{what}: {waited} was made without a fence behind it")
            self.memory.check_shared(str(what), offsets, 1)
            self.memory.claim(str(what), each, offsets, WRITTEN)
            copy = _Incoming(str(what), each, offsets, places, inside, barrier, source)
            self.incoming.append(copy)
            if self.early:
                self.deliver()

    def deliver(self) -> bool:
        """Let the first copy under way arrive, if there is one."""
        if not self.incoming:
            return False
        copy = self.incoming.pop(0)
        data = np.zeros(len(copy.offsets), np.uint8)
        memory = self.memory.bytes if copy.source < 0 else self.memory.shared[copy.source]
        data[copy.inside] = memory[copy.places[copy.inside]]
        self.memory.shared[copy.block, copy.offsets] = data
        self.memory.release(copy.block, copy.offsets, WRITTEN)
        barrier = self.machine.mbarriers.at(copy.what, copy.block, copy.barrier)
        self.machine.mbarriers.count_bytes(barrier, -len(data))
        return True

    def _box_out(self, what: Instruction, at: np.ndarray) -> None:
        block, offset = self._target(what, what.operands[1], at, 128)
        map_, corner = self._box(what, what.operands[0], at)
        places, inside = map_.box_at(corner)
        self._start_out(what, at, block, map_.offsets(offset), places, inside, map_.element)

    def _bytes_out(self, what: Instruction, at: np.ndarray) -> None:
        block, offset = self._target(what, what.operands[1], at, 16)
        count = self._count(what, what.operands[2], at)
        address = self._one(what.operands[0], at)
        if address % 16:
            raise PtxError(f"{what}: {address:#x} is not aligned to 16 bytes")
        element = _reduced(what.parts[-1]) if "reduce" in what.parts else "u1"
        self._start_out(
            what, at, block, offset + np.arange(count), address + np.arange(count),
            np.ones(count, bool), np.dtype(element),
        )  # fmt: skip

    def _start_out(
        self, what: Instruction, at: np.ndarray, block: int, offsets: np.ndarray,
        places: np.ndarray, inside: np.ndarray, element: np.dtype,
    ) -> None:  # fmt: skip
        self.memory.check_shared(str(what), offsets, 1)
        self.memory.check_global(str(what), places[inside])
        self.memory.claim(str(what), block, offsets, READ)
        data = self.memory.shared[block, offsets]
        reduction = ""
        if "reduce" in what.parts:
            reduction = next((each for each in what.parts if each in _REDUCTIONS), "")
            if not reduction:
                raise PtxError(f"{what} is not known")
        copy = _Outgoing(block, offsets, places[inside], data[inside], reduction, element)
        self._open.setdefault(int(at[0]), []).append(copy)
        if self.early:
            self._write(copy)

    def _wait(self, thread: int, kept: int, only_read: bool) -> None:
        groups = self._groups.get(thread, [])
        for group in groups[: len(groups) - kept]:
            for copy in group:
                self._release(copy)
                if not only_read:
                    self._write(copy)
            if not only_read:
                groups.remove(group)

    def _release(self, copy: _Outgoing) -> None:
        if not copy.is_read:
            self.memory.release(copy.block, copy.offsets, READ)
            copy.is_read = True

    def _write(self, copy: _Outgoing) -> None:
        if not len(copy.data):
            return
        data = copy.data
        if copy.reduction:
            before = self.memory.bytes[copy.places].view(copy.element)
            after = _REDUCTIONS[copy.reduction](
                before, np.ascontiguousarray(data).view(before.dtype)
            )
            data = np.ascontiguousarray(after).view(np.uint8)
        self.memory.bytes[copy.places] = data
        copy.data = copy.data[:0]

    def _change_map(self, what: Instruction, at: np.ndarray) -> None:
        first = self.machine.address(what.operands[0], at)
        if what.parts[1] == "cp_fenceproxy":
            for target in np.unique(first).tolist():
                some = at[first == target][:1]
                block, offset = self._target(what, what.operands[1], some, SIZE)
                if int(what.operands[2], 0) != SIZE:
                    raise PtxError(f"{what} is not known")
                self.maps.publish(str(what), target, block, offset)
            return
        if what.parts[1:3] != ("replace", "tile") or "shared::cta" not in what.parts:
            raise PtxError(f"{what} is not known")
        value = self.machine.get(what.operands[-1], at)
        if what.parts[-1] == "b32":
            value = value & np.uint64(0xFFFFFFFF)
        index = int(what.operands[1], 0) if len(what.operands) == 3 else 0
        for i in range(len(at)):
            block, offset = self._target(what, what.operands[0], at[i : i + 1], SIZE)
            self.maps.replace(str(what), block, offset, (what.parts[3], index, int(value[i])))

    def acquire(self, what: Instruction, at: np.ndarray) -> None:
        """`fence.proxy.tensormap::generic.acquire`: these threads may use the map now there."""
        if "acquire" in what.parts:
            self.maps.acquire(self.machine.address(what.operands[0], at), at)

    def check_end(self) -> None:
        if self.incoming:
            raise PtxError(f"the kernel ends before {self.incoming[0].what} arrives")
        for thread, copies in self._open.items():
            if copies:
                raise PtxError(f"thread {thread} ends before it commits its copies")
        for thread, groups in self._groups.items():
            for copy in (each for group in groups for each in group):
                if not copy.is_read:
                    raise PtxError(f"thread {thread} ends before its copies have read their bytes")
                self._write(copy)


_SPACES = ("global", "shared::cta", "shared::cluster")


def _reduced(kind: str) -> str:
    if kind not in ("f32", "f64", "u32", "u64", "s32", "s64"):
        raise PtxError(f"cp.reduce of {kind} is not known")
    return f"{'i' if kind[0] == 's' else kind[0]}{int(kind[1:]) // 8}"
