"""Runs PTX on numpy: what LLVM makes of kernels, thread by thread, without a GPU.

All threads of a grid run in lockstep, those that are behind first, so that a barrier has been
reached by all whenever the first one passes it. Every access of memory is checked: inside of its
buffer, and aligned. The semantics are those of NVIDIA's PTX ISA; f32 is without flushing.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from ptx_instructions import computed, mask

_U64 = np.uint64
_GAP = 256
_GARBAGE = 0xDEADBEEFDEADBEEF


class PtxError(Exception):
    """The kernel did what would be wrong on a GPU."""


def run_kernel(
    ptx: str, buffers: Sequence[np.ndarray], grid: tuple[int, int], block: int
) -> list[np.ndarray]:
    """The buffers, of any dtype, after the one kernel of `ptx` ran on them."""
    machine = _Machine(ptx, [each.copy() for each in buffers], grid, block)
    machine.run()
    return machine.results()


class _Machine:
    def __init__(
        self, ptx: str, buffers: list[np.ndarray], grid: tuple[int, int], block: int
    ) -> None:
        self.buffers = buffers
        self.starts: list[int] = []
        at = 1 << 12
        for each in buffers:
            self.starts.append(at)
            at += -(-each.nbytes // _GAP) * _GAP + _GAP
        self.memory = np.zeros(at, np.uint8)
        self.valid = np.zeros(at, bool)
        for start, each in zip(self.starts, buffers, strict=True):
            self.memory[start : start + each.nbytes] = each.reshape(-1).view(np.uint8)
            self.valid[start : start + each.nbytes] = True
        self.count, self.block = grid[0] * grid[1] * block, block
        thread = np.arange(self.count)
        number = thread // block
        self.special = {
            "%tid.x": thread % block,
            "%ctaid.x": number % grid[0],
            "%ctaid.y": number // grid[0],
        }
        self.registers: dict[str, np.ndarray] = {}
        self.symbols: dict[str, int] = {}
        self.code: list[tuple[str, str, list[str]]] = []
        self._parse(ptx)
        self.shared = np.full((grid[0] * grid[1], self.shared_bytes), 0xA5, np.uint8)
        self.block_of = number

    def _parse(self, ptx: str) -> None:
        self.shared_bytes, self.labels = 0, {}
        body = ptx[ptx.index(".entry") :]
        for name, size in re.findall(r"\.shared \.align 16 \.b8 (\w+)\[(\d+)\]", ptx):
            self.symbols[name] = self.shared_bytes
            self.shared_bytes += -(-int(size) // 16) * 16
        for line in body.splitlines():
            text = line.partition("//")[0].strip()
            if label := re.fullmatch(r"(\$\w+):", text):
                self.labels[label[1]] = len(self.code)
            found = re.fullmatch(r"(?:@(!?%p\d+)\s+)?([a-z][\w.]*)(?:\s+(.*))?;", text)
            if found:
                operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^\s,]+", found[3] or "")
                self.code.append((found[1] or "", found[2], operands))

    def results(self) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for start, each in zip(self.starts, self.buffers, strict=True):
            data = self.memory[start : start + each.nbytes].copy()
            found.append(data.view(each.dtype).reshape(each.shape))
        return found

    def run(self) -> None:
        place = np.zeros(self.count, np.int64)
        done = len(self.code)
        while (now := int(place.min())) < done:
            active = np.flatnonzero(place == now)
            guard, name, operands = self.code[now]
            place[active] = now + 1
            taken = active
            if guard:
                flags = self.get(guard.lstrip("!"), active) != 0
                taken = active[~flags if guard.startswith("!") else flags]
            base = name.partition(".")[0]
            if base == "bra":
                place[taken] = self.labels[operands[0]]
            elif base == "ret":
                place[taken] = done
            elif base == "bar":
                if len(np.unique(np.bincount(self.block_of[taken], minlength=1))) > 2:
                    raise PtxError(f"some threads of a block pass the barrier {now} alone")
            elif len(taken):
                self._execute(name, operands, taken)

    def get(self, operand: str, at: np.ndarray) -> np.ndarray:
        """Bits of an operand for the threads `at`, as u64."""
        if operand in self.special:
            return self.special[operand][at].astype(_U64)
        if operand.startswith("%"):
            # Nothing has to be in what is not used, such as the upper half of a word.
            found = self.registers.get(operand)
            return np.full(len(at), _GARBAGE, _U64) if found is None else found[at]
        if operand in self.symbols:
            return np.full(len(at), self.symbols[operand], _U64)
        if operand.startswith("0f"):
            return np.full(len(at), int(operand[2:], 16), _U64)
        number = int(operand.rstrip("U"), 0)
        return np.full(len(at), number % (1 << 64), _U64)

    def put(self, operand: str, at: np.ndarray, bits: np.ndarray) -> None:
        if operand == "_":
            return
        if operand not in self.registers:
            self.registers[operand] = np.full(self.count, _GARBAGE, _U64)
        self.registers[operand][at] = bits.astype(_U64)

    def _address(self, operand: str, at: np.ndarray) -> np.ndarray:
        base, plus, offset = operand.strip("[]").partition("+")
        address = self.get(base, at).astype(np.int64)
        return address + (int(offset) if plus else 0)

    def _memory(self, name: str, operand: str, at: np.ndarray, size: int, width: int) -> Any:
        """The memory that is accessed, and each thread's bytes in it."""
        address = self._address(operand, at)
        if (address % width).any():
            raise PtxError(f"{name} {operand} is not aligned to {width} bytes")
        bytes_ = address[:, None] + np.arange(size)
        if ".shared" in name:
            if (bytes_ < 0).any() or (bytes_ >= self.shared_bytes).any():
                raise PtxError(f"{name} {operand} is outside of shared memory")
            return self.shared, (self.block_of[at][:, None], bytes_)
        if (bytes_ >= len(self.valid)).any() or not self.valid[bytes_].all():
            raise PtxError(f"{name} {operand} is outside of every buffer")
        return self.memory, (bytes_,)

    def _execute(self, name: str, operands: list[str], at: np.ndarray) -> None:
        parts = name.split(".")
        base, kind = parts[0], parts[-1]
        bits = int(kind[1:]) if kind[1:].isdecimal() else 32
        match base:
            case "ld" if parts[1] == "param":
                number = int(operands[1].strip("[]").rpartition("_")[2])
                self.put(operands[0], at, np.full(len(at), self.starts[number], _U64))
            case "ld" | "st":
                self._move(name, parts, operands, at, bits // 8)
            case "atom" | "red":
                self._atomic(name, operands, at)
            case "mov" if operands[1].startswith("{"):
                low, high = (self.get(each.strip(), at) for each in _inside(operands[1]))
                half = _U64(bits // 2)
                self.put(operands[0], at, (low & mask(bits // 2)) | (high << half))
            case "mov" if operands[0].startswith("{"):
                whole, half = self.get(operands[1], at), bits // 2
                for i, each in enumerate(_inside(operands[0])):
                    self.put(each.strip(), at, (whole >> _U64(i * half)) & mask(half))
            case "cvta" | "mov":
                self.put(operands[0], at, self.get(operands[1], at))
            case "shfl":
                self._shuffle(operands, at)
            case "redux":
                self._redux(operands, at)
            case _:
                values = [self.get(each, at) for each in operands[1:]]
                with np.errstate(all="ignore"):
                    self.put(operands[0], at, computed(name, parts, values))

    def _move(
        self, name: str, parts: list[str], operands: list[str], at: np.ndarray, size: int
    ) -> None:
        vector = next((int(each[1]) for each in parts if re.fullmatch(r"v\d", each)), 1)
        is_load = parts[0] == "ld"
        where, what = (operands[1], operands[0]) if is_load else operands
        names = [each.strip() for each in _inside(what)] if vector > 1 else [what]
        memory, index = self._memory(name, where, at, size * vector, size * vector)
        type_ = np.dtype(f"u{size}")
        if is_load:
            data = np.ascontiguousarray(memory[index]).view(type_)
            for i, each in enumerate(names):
                self.put(each, at, data[:, i])
            return
        values = [(self.get(each, at) & mask(8 * size)).astype(type_) for each in names]
        memory[index] = np.stack(values, 1).view(np.uint8)

    def _atomic(self, name: str, operands: list[str], at: np.ndarray) -> None:
        assert name.endswith("max.u32"), name
        where, value = operands[-2:]
        memory, index = self._memory(name, where, at, 4, 4)
        for row, word in zip(index[0], self.get(value, at), strict=True):
            before = int(memory[row].view(np.uint32)[0])
            memory[row] = np.array([max(before, int(word))], np.uint32).view(np.uint8)

    def _shuffle(self, operands: list[str], at: np.ndarray) -> None:
        target, value, lanes = operands[0].partition("|")[0], operands[1], int(operands[2])
        self._require_warps(at)
        words = self.get(value, at).reshape(-1, 32)
        self.put(target, at, words[:, np.arange(32) ^ lanes].reshape(-1))

    def _redux(self, operands: list[str], at: np.ndarray) -> None:
        self._require_warps(at)
        words = (self.get(operands[1], at) & mask(32)).reshape(-1, 32)
        self.put(operands[0], at, np.repeat(words.max(1), 32))

    def _require_warps(self, at: np.ndarray) -> None:
        starts = at[::32]
        is_whole = len(at) % 32 == 0 and (at.reshape(-1, 32) - starts[:, None] == range(32)).all()
        if not is_whole or (starts % 32).any():
            raise PtxError("a part of a warp exchanges words")


def _inside(operand: str) -> list[str]:
    return operand.strip("{}").split(",")
