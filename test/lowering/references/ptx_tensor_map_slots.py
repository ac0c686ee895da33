"""Where tensor maps are in memory, and which threads may use them."""

import numpy as np
from ptx_memory import WINDOW, Memory
from ptx_tensor_maps import SIZE, TensorMap, read_map, replaced
from ptx_text import PtxError
from ptx_threads import Threads


class TensorMaps:
    def __init__(self, memory: Memory, threads: Threads) -> None:
        self.memory, self.threads = memory, threads
        self._versions: dict[int, int] = {}
        self._acquired: dict[int, np.ndarray] = {}

    def replace(self, what: str, block: int, offset: int, field: tuple[str, int, int]) -> None:
        self.memory.check_shared(what, np.array([offset]), SIZE)
        data = self.memory.shared[block, offset : offset + SIZE]
        data[:] = replaced(data, *field)

    def publish(self, what: str, target: int, block: int, offset: int) -> None:
        """Put a map of shared memory into global memory: threads have to acquire it there."""
        places = target + np.arange(SIZE)
        self.memory.check_global(what, places)
        self.memory.check_shared(what, np.array([offset]), SIZE)
        if target % SIZE:
            raise PtxError(f"{what}: {target:#x} is not aligned to {SIZE} bytes")
        self.memory.bytes[places] = self.memory.shared[block, offset : offset + SIZE]
        self._versions[target] = self._versions.get(target, 0) + 1

    def acquire(self, addresses: np.ndarray, at: np.ndarray) -> None:
        for address in np.unique(addresses).tolist():
            never = np.full(self.threads.count, -1, np.int64)
            known = self._acquired.setdefault(address, never)
            known[at[addresses == address]] = self._versions.get(address, 0)

    def used(self, what: str, address: int, thread: int) -> TensorMap:
        version = self._versions.get(address)
        if address >= WINDOW or version is None:
            raise PtxError(f"{what}: nobody put a tensor map at {address:#x}")
        acquired = self._acquired.get(address)
        if acquired is None or acquired[thread] < version:
            raise PtxError(f"{what}: no fence.proxy.tensormap acquired the map by this thread")
        return read_map(self.memory.bytes[address : address + SIZE], what)
