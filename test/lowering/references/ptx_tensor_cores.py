"""`wgmma` of `ptx_machine`: products of warpgroups, whose sums are there after `wait_group`.

Until then their registers have garbage, and the shared memory that they read may not be written.
Each product is exact in f64, its sums over 32 bytes of K rounded to f32 once: the hardware's keep
fewer bits, so values are to be compared with a bound, or chosen so that sums are exact.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ptx_matrices import TYPES, fragment_a, numbers
from ptx_memory import READ
from ptx_tensor_maps import swizzled
from ptx_text import Instruction, PtxError, listed
from ptx_threads import WARPGROUP

if TYPE_CHECKING:
    from ptx_machine import Machine

_SPANS = (0, 128, 64, 32)
_K_BYTES, _CORE = 32, 16
_THREAD = np.arange(WARPGROUP)
_ROW = 16 * (_THREAD // 32) + _THREAD % 32 // 4
_COLUMN = 2 * (_THREAD % 4)


@dataclass
class _Product:
    group: int
    block: int
    offsets: list[np.ndarray]
    registers: set[str]


class TensorCores:
    def __init__(self, machine: "Machine") -> None:
        self.machine, self.memory = machine, machine.memory
        self._open: dict[int, list[_Product]] = {}
        self._groups: dict[int, list[list[_Product]]] = {}
        self._sums: dict[int, dict[str, np.ndarray]] = {}
        """Of each warpgroup, what comes into registers when somebody waits."""
        self._owners: dict[int, dict[str, _Product]] = {}
        self._fenced = np.zeros(machine.threads.count, np.int64)

    def run(self, what: Instruction, at: np.ndarray) -> None:
        if len(at) % WARPGROUP or (self.machine.threads.tid[at[::WARPGROUP]] % WARPGROUP).any():
            raise PtxError(f"{what} by what is no warpgroup")
        for threads in at.reshape(-1, WARPGROUP):
            group = int(self.machine.threads.group_of[threads[0]])
            match what.parts[1]:
                case "fence":
                    self._fenced[threads] = 1
                case "commit_group":
                    self._groups.setdefault(group, []).append(self._open.pop(group, []))
                case "wait_group":
                    self._wait(group, int(what.operands[0], 0), threads)
                case "mma_async":
                    self._multiply(what, group, threads)
                case _:
                    raise PtxError(f"{what} is not known")

    def _multiply(self, what: Instruction, group: int, threads: np.ndarray) -> None:
        parts = what.parts
        found = re.fullmatch(r"m64n(\d+)k(\d+)", parts[4])
        sums, first, second = parts[-3:]
        is_known = found and sums == "f32" and {first, second} <= set(TYPES)
        names = listed(what.operands[0])
        columns = int(found[1]) if found else 0
        depth = _K_BYTES // np.dtype(TYPES.get(first, "u1")).itemsize
        if (
            not is_known or not found or int(found[2]) != depth or columns % 8
            or not 8 <= columns <= 256 or len(names) != columns // 2
        ):  # fmt: skip
            raise PtxError(f"{what} is not known")
        scales = [int(each, 0) for each in what.operands[4:]]
        in_registers = what.operands[1].startswith("{")
        turned = scales[2:] if in_registers or not scales[2:] else scales[3:]
        is_f8 = depth == _K_BYTES
        if (
            any(each not in (-1, 1) for each in scales[:2])
            or (any(scales[2:]) and is_f8)
            or (scales[2:3] != [0] and len(scales) == 4)
            or len(scales) != (2 if is_f8 else 4 - in_registers)
        ):
            raise PtxError(f"{what}: scales or a transpose of {scales}")
        if not self._fenced[threads].all():
            raise PtxError(f"{what} before wgmma.fence")
        block = int(self.machine.threads.block_of[threads[0]])
        offsets: list[np.ndarray] = []
        if in_registers:
            words = np.stack([self.machine.get(x, threads) for x in listed(what.operands[1])])
            a = fragment_a(words.reshape(4, 4, 32).transpose(1, 0, 2), first).reshape(64, depth)
        else:
            a = self._operand(what, what.operands[1], threads, 64, first, offsets)
        read = self._turned if any(turned) else self._operand
        b = read(what, what.operands[2], threads, columns, second, offsets)
        for each in offsets:
            self.memory.claim(str(what), block, each, READ)
        with np.errstate(invalid="ignore"):
            # Without BLAS, whose threads wait for each other longer than this takes.
            total = np.einsum("ik,jk->ij", a * scales[0], b * scales[1])
        index = np.arange(len(names))[:, None]
        own = total[_ROW + 8 * (index >> 1 & 1), 8 * (index >> 2) + _COLUMN + (index & 1)]
        product = _Product(group, block, offsets, set(names))
        keeps = self._same(what, self.machine.get(what.operands[3], threads)) != 0
        pending = self._sums.setdefault(group, {})
        if keeps:
            for i, name in enumerate(names):
                before = pending.get(name)
                if before is None:
                    before = self.machine.get(name, threads).astype(np.uint32)
                own[i] += before.view(np.float32)
        with np.errstate(over="ignore"):
            sums = own.astype(np.float32).view(np.uint32)
        pending.update(zip(names, sums, strict=True))
        owners = self._owners.setdefault(group, {})
        for name in names:
            self.machine.spoil(name, threads)
            owners[name] = product
        self._open.setdefault(group, []).append(product)

    def _same(self, what: Instruction, values: np.ndarray) -> int:
        if (values != values[0]).any():
            raise PtxError(f"{what} with operands that differ within a warpgroup")
        return int(values[0])

    def _operand(
        self, what: Instruction, operand: str, threads: np.ndarray, rows: int, type_: str,
        offsets: list[np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """A matrix of `rows` by 32 bytes that a descriptor says, K-major; adds its offsets."""
        word = self._same(what, self.machine.get(operand, threads))
        start, leading, stride = (((word >> at) & 0x3FFF) << 4 for at in (0, 16, 32))
        span = _SPANS[word >> 62]
        row, byte = np.arange(rows)[:, None], np.arange(_K_BYTES)
        if word >> 49 & 7:
            raise PtxError(f"{what}: base offsets of descriptors are not known")
        if span:
            # A pattern of 8 rows begins at a multiple of its size; K goes on within a row.
            if start % (8 * span) >= span or start % span + _K_BYTES > span:
                raise PtxError(f"{what}: a start of {start:#x} in patterns of 8 x {span} bytes")
            place = swizzled(start + row // 8 * stride + row % 8 * span + byte, span)
        else:
            place = start + row // 8 * stride + row % 8 * _CORE
            place = place + byte // _CORE * leading + byte % _CORE
        self.memory.check_shared(str(what), place, 1)
        offsets.append(place.reshape(-1))
        block = self.machine.threads.block_of[threads[0]]
        data = np.ascontiguousarray(self.memory.shared[block, place]).view(np.uint32)
        return numbers(data, type_).reshape(rows, -1)

    def _turned(
        self, what: Instruction, operand: str, threads: np.ndarray, rows: int, type_: str,
        offsets: list[np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """As `_operand`, of 16-bit numbers whose rows in memory are along K: of a pattern each."""
        word = self._same(what, self.machine.get(operand, threads))
        start, leading, stride = (((word >> at) & 0x3FFF) << 4 for at in (0, 16, 32))
        span = _SPANS[word >> 62]
        if not span or word >> 49 & 7 or start % (8 * span):
            raise PtxError(f"{what}: a start of {start:#x} in patterns of 8 x {span} bytes")
        number, k = np.arange(rows)[:, None], np.arange(_K_BYTES // 2)
        place = start + k // 8 * stride + k % 8 * span
        place = swizzled(place + 2 * number // span * leading + 2 * number % span, span)
        place = place[..., None] + np.arange(2)
        self.memory.check_shared(str(what), place, 1)
        offsets.append(place.reshape(-1))
        block = self.machine.threads.block_of[threads[0]]
        data = np.ascontiguousarray(self.memory.shared[block, place]).reshape(rows, -1)
        return numbers(data.view(np.uint32), type_).reshape(rows, -1)

    def _wait(self, group: int, kept: int, threads: np.ndarray) -> None:
        groups = self._groups.get(group, [])
        count = max(len(groups) - kept, 0)
        done = [product for each in groups[:count] for product in each]
        self._groups[group] = groups[count:]
        owners, pending = self._owners.get(group, {}), self._sums.get(group, {})
        for product in done:
            for offsets in product.offsets:
                self.memory.release(product.block, offsets, READ)
            for name in [each for each in product.registers if owners.get(each) is product]:
                self.machine.put(name, threads, pending.pop(name))
                del owners[name]

    def moved(self, target: str, source: str, at: np.ndarray) -> None:
        """`mov` of what is not there yet: assemblers give both one register, so both get it."""
        if not self._owners:
            return
        for group in np.unique(self.machine.threads.group_of[at]).tolist():
            owners = self._owners.get(group, {})
            product = owners.get(source)
            if product is not None:
                owners[target] = product
                product.registers.add(target)
                self._sums[group][target] = self._sums[group][source]
            elif target in owners:
                del owners[target], self._sums[group][target]

    def check_end(self) -> None:
        if any(self._open.values()) or any(any(each) for each in self._groups.values()):
            raise PtxError("the kernel ends before wgmma.wait_group of all products")
