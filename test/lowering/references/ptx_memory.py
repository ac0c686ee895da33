"""Global and shared memory of `ptx_machine`: where each byte may be accessed, and by whom.

Shared memory keeps who wrote a byte by ordinary stores: the copy engine and the tensor cores may
not read it before that thread's `fence.proxy.async`. It also keeps which bytes are in use by what
runs asynchronously.
"""

from collections.abc import Sequence

import numpy as np
from ptx_text import RESERVED, PtxError
from ptx_threads import Threads

WINDOW = 1 << 40
"""Generic addresses of shared memory lie behind it."""
_RANK = 24
_GAP = 256
UNUSED, BARRIER, WRITTEN, READ = 0, 1, 2, 4
_USES = {
    BARRIER: "has an mbarrier",
    WRITTEN: "is being written by a copy that nobody has waited for",
    READ: "is being read by a copy or a product that nobody has waited for",
}


class Memory:
    def __init__(self, buffers: Sequence[np.ndarray], shared_bytes: int, threads: Threads) -> None:
        self.buffers, self.threads = buffers, threads
        self.starts: list[int] = []
        at = 1 << 12
        for each in buffers:
            self.starts.append(at)
            at += -(-each.nbytes // _GAP) * _GAP + _GAP
        self.bytes = np.zeros(at, np.uint8)
        self.valid = np.zeros(at, bool)
        for start, each in zip(self.starts, buffers, strict=True):
            self.bytes[start : start + each.nbytes] = each.reshape(-1).view(np.uint8)
            self.valid[start : start + each.nbytes] = True
        self.shared_bytes = shared_bytes
        self.shared = np.full((threads.blocks, shared_bytes), 0xFF, np.uint8)
        self.uses = np.zeros((threads.blocks, shared_bytes), np.uint8)
        self.readers = np.zeros((threads.blocks, shared_bytes), np.uint16)
        self.is_used = False
        self.writers: np.ndarray | None = None

    def track_writers(self) -> None:
        self.writers = np.full(self.shared.shape, -1, np.int32)

    def results(self) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for start, each in zip(self.starts, self.buffers, strict=True):
            data = self.bytes[start : start + each.nbytes].copy()
            found.append(data.view(each.dtype).reshape(each.shape))
        return found

    def is_shared(self, name: str, address: np.ndarray) -> bool:
        if ".shared" in name:
            return True
        if ".global" in name or ".const" in name:
            return False
        behind = address >= WINDOW
        if behind.any() and not behind.all():
            raise PtxError(f"{name} of shared and of global memory by one instruction")
        return bool(behind.any())

    def owned(
        self, what: str, address: np.ndarray, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The block and the offset of addresses in shared memory, which may be a cluster's."""
        threads = self.threads
        address = np.where(address >= WINDOW, address - WINDOW, address)
        rank, offset = address >> _RANK, address & ((1 << _RANK) - 1)
        block = threads.block_of[at]
        if not rank.any():
            return block, offset
        if (rank < 0).any() or (rank > threads.cluster_size).any():
            raise PtxError(f"{what} is outside of the cluster's shared memory")
        there = threads.block_at[threads.cluster_of[block], np.maximum(rank - 1, 0)]
        there = np.where(rank == 0, block, there)
        for each in np.unique(there[there != block]):
            if threads.has_ended(int(each)):
                raise PtxError(f"{what} is of block {each}, which has ended")
        return there, offset

    def mapped(self, address: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """`mapa`: the address of the same place in the block of that rank."""
        if (rank >= self.threads.cluster_size).any():
            raise PtxError(
                f"mapa to block {rank.max()} of a cluster of {self.threads.cluster_size}"
            )
        window = np.where(address >= WINDOW, WINDOW, 0)
        return ((rank + 1) << _RANK) | (address - window & ((1 << _RANK) - 1)) | window

    def check_shared(self, what: str, offset: np.ndarray, size: int) -> None:
        if (offset < RESERVED).any() or (offset + size > self.shared_bytes).any():
            raise PtxError(f"{what} is outside of shared memory")

    def check_global(self, what: str, places: np.ndarray) -> None:
        is_outside = (places < 0).any() or (places >= len(self.valid)).any()
        if is_outside or not self.valid[places].all():
            raise PtxError(f"{what} is outside of every buffer")

    def accessed(
        self, name: str, operand: str, address: np.ndarray, at: np.ndarray, size: int,
        align: int, writes: bool,
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:  # fmt: skip
        """The memory that an ordinary access is to, and each thread's bytes in it."""
        what = f"{name} {operand}"
        if (address % align).any():
            raise PtxError(f"{what} is not aligned to {align} bytes")
        if not self.is_shared(name, address):
            places = address[:, None] + np.arange(size)
            self.check_global(what, places)
            return self.bytes, (places,)
        block, offset = self.owned(what, address, at)
        self.check_shared(what, offset, size)
        index = (block[:, None], offset[:, None] + np.arange(size))
        if self.is_used:
            self._check_uses(what, self.uses[index], BARRIER | WRITTEN | (READ if writes else 0))
        if writes and self.writers is not None:
            self.writers[index] = at[:, None]
        return self.shared, index

    def _check_uses(self, what: str, uses: np.ndarray, refused: int) -> None:
        if not (uses & refused).any():
            return
        for bit, words in _USES.items():
            if (uses & refused & bit).any():
                raise PtxError(f"{what} {words}")

    def claim(self, what: str, block: int, offsets: np.ndarray, use: int) -> None:
        """Bytes of shared memory, each once, are in asynchronous use, until `release`."""
        uses = self.uses[block, offsets]
        self._check_uses(what, uses, BARRIER | WRITTEN | (READ if use == WRITTEN else 0))
        if use == READ:
            self.check_proxy(what, block, offsets)
            self.readers[block, offsets] += 1
        elif use == WRITTEN and self.writers is not None:
            self.writers[block, offsets] = -1
        self.uses[block, offsets] |= use
        self.is_used = True

    def release(self, block: int, offsets: np.ndarray, use: int) -> None:
        if use == READ:
            self.readers[block, offsets] -= 1
            offsets = offsets[self.readers[block, offsets] == 0]
        self.uses[block, offsets] &= 0xFF ^ use

    def check_proxy(self, what: str, block: int, offsets: np.ndarray) -> None:
        if self.writers is not None and (by := self.writers[block, offsets].max()) >= 0:
            raise PtxError(
                f"{what} reads what thread {self.threads.tid[by]} of block "
                f"{self.threads.block_of[by]} stored without fence.proxy.async"
            )

    def fence_async(self, at: np.ndarray) -> None:
        """What these threads stored, the copy engine and the tensor cores may read."""
        if self.writers is None:
            return
        fenced = np.zeros(self.threads.count + 1, bool)
        fenced[at] = True
        rows = np.unique(self.threads.block_of[at])
        if self.threads.cluster_size > 1:
            rows = np.arange(self.threads.blocks)
        writers = self.writers[rows]
        writers[fenced[writers]] = -1
        self.writers[rows] = writers
