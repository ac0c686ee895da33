"""Runs PTX on numpy: what LLVM makes of kernels, thread by thread, without a GPU.

All threads of a grid run in lockstep, those that are behind first. Every access of memory is
checked: inside of its buffer, and aligned. The semantics are those of NVIDIA's PTX ISA; f32 is
without flushing. What runs asynchronously (`ptx_copies`, `ptx_tensor_cores`) is as late as it may
be, or, with `early`, as early; what reads too early or overwrites what is in use is an error.
"""

from collections.abc import Callable, Sequence

import numpy as np
from ptx_arithmetic import mask
from ptx_atomics import atomic
from ptx_copies import Copies
from ptx_instructions import computed
from ptx_matrices import load_matrices, multiply, store_matrices
from ptx_mbarriers import Mbarriers
from ptx_memory import WINDOW, Memory
from ptx_special import special_registers
from ptx_synchronization import activemask, barrier, fence, mbarrier, set_registers
from ptx_tensor_cores import TensorCores
from ptx_text import Instruction, PtxError, listed, read_program
from ptx_threads import WARP, WARPGROUP, Threads
from ptx_warps import exchange

__all__ = ["Machine", "PtxError", "run_kernel"]
_U64 = np.uint64
_Handler = Callable[[Instruction, np.ndarray], None]
_GARBAGE = 0xDEADBEEFDEADBEEF
_MASKED = ("shfl", "vote", "match", "redux", "elect")


def run_kernel(
    ptx: str,
    buffers: Sequence[np.ndarray],
    grid: tuple[int, ...],
    block: int,
    shared_mem_bytes: int = 0,
    early: bool = False,
    seed: int | None = None,
) -> list[np.ndarray]:
    """The buffers, of any dtype, after the one kernel of `ptx` ran on them.

    `grid` counts blocks along x, y, z; `block` threads; clusters are those of the kernel's
    `.reqnctapercluster`. Dynamic shared memory has `shared_mem_bytes`. With a `seed`, warps go on
    in an order that it makes, instead of in lockstep: that finds barriers that are missing.
    """
    x, y, z = (*grid, 1, 1)[:3]
    machine = Machine(
        ptx, [each.copy() for each in buffers], (x, y, z), block, shared_mem_bytes, early, seed
    )
    machine.run()
    return machine.memory.results()


class Machine:
    def __init__(
        self, ptx: str, buffers: list[np.ndarray], grid: tuple[int, int, int], block: int,
        shared_mem_bytes: int, early: bool, seed: int | None = None,
    ) -> None:  # fmt: skip
        program = read_program(ptx, shared_mem_bytes)
        self.program, self.code = program, program.code
        self.threads = Threads(grid, block, program.cluster, seed)
        self.memory = Memory(buffers, program.shared_bytes, self.threads)
        self.mbarriers = Mbarriers(self.memory, self.threads)
        self.copies = Copies(self, early)
        self.tensor_cores = TensorCores(self)
        if any(each.parts[0] == "wgmma" or "bulk" in each.parts for each in self.code):
            self.memory.track_writers()
        self.registers: dict[str, np.ndarray] = {}
        self.special = special_registers(self.threads, grid, shared_mem_bytes)
        self.constants = {name: np.uint64(at) for name, at in program.symbols.items()}
        self.parameters = dict(zip(program.parameters, self.memory.starts, strict=False))
        handlers = self._handlers()
        self.handlers = [handlers.get(each.parts[0], self._compute) for each in self.code]

    def run(self) -> None:
        threads, place, end = self.threads, self.threads.place, len(self.code)
        units = [_unit(each) for each in self.code]
        while True:
            now = threads.next(end)
            if now is None:
                if threads.is_done():
                    break
                if not self.copies.deliver() and not threads.rouse():
                    raise threads.deadlock(self.code)
                continue
            taken = threads.runnable(now)
            what = self.code[now]
            place[taken] = now + 1
            if what.guard:
                flags = self.get(what.guard, taken) != 0
                taken = taken[flags]
            if units[now] and (len(taken) or threads.holds(now)):
                masks = self._masks(what, taken)
                taken = threads.gathered(now, taken, masks, units[now])
            if len(taken):
                self.handlers[now](what, taken)
        self.copies.check_end()
        self.mbarriers.check_end()
        self.tensor_cores.check_end()

    def _masks(self, what: Instruction, at: np.ndarray) -> np.ndarray | None:
        has_mask = what.parts[0] in _MASKED or what.parts[:2] == ("bar", "warp")
        if not has_mask or what.operands[-1] in ("-1", "0xffffffff", "0xFFFFFFFF"):
            return None
        return (self.get(what.operands[-1], at) & mask(32)).astype(np.int64)

    def get(self, operand: str, at: np.ndarray) -> np.ndarray:
        """Bits of an operand for the threads `at`, as u64."""
        found = self.registers.get(operand)
        if found is not None:
            return found[at]
        if (constant := self.constants.get(operand)) is not None:
            return np.full(len(at), constant, _U64)
        if (special := self.special.get(operand)) is not None:
            return special[at].astype(_U64)
        if operand[0] == "!":
            return (self.get(operand[1:].strip(), at) == 0).astype(_U64)
        if operand[0].isdigit() or operand[0] == "-":
            self.constants[operand] = _number(operand)
            return self.get(operand, at)
        if operand not in self.program.registers:
            raise PtxError(f"no {operand} is known")
        # Nothing has to be in what is not used, such as the upper half of a word.
        return np.full(len(at), _GARBAGE, _U64)

    def put(self, operand: str, at: np.ndarray, bits: np.ndarray) -> None:
        if operand == "_":
            return
        if operand not in self.registers:
            self.registers[operand] = np.full(self.threads.count, _GARBAGE, _U64)
        self.registers[operand][at] = bits.astype(_U64)

    def spoil(self, operand: str, at: np.ndarray) -> None:
        """Until somebody waits, nothing is in the register."""
        self.put(operand, at, np.full(len(at), _GARBAGE, _U64))

    def address(self, operand: str, at: np.ndarray) -> np.ndarray:
        base, plus, offset = operand.strip("[] ").partition("+")
        address = self.get(base.strip(), at).astype(np.int64)
        return address + (int(offset, 0) if plus else 0)

    def _handlers(self) -> dict[str, _Handler]:
        def on(run: Callable[["Machine", Instruction, np.ndarray], None]) -> _Handler:
            return lambda what, at: run(self, what, at)

        def nothing(what: Instruction, at: np.ndarray) -> None:
            pass

        return {
            "ld": self._move, "ldu": self._move, "st": self._move, "bra": self._branch,
            "ret": self._end, "exit": self._end, "mov": self._mov, "cvta": self._cvta,
            "mapa": self._mapa, "trap": self._trap, "bar": on(barrier), "barrier": on(barrier),
            "mbarrier": on(mbarrier), "fence": on(fence), "membar": on(fence),
            "activemask": on(activemask), "setmaxnreg": on(set_registers),
            "ldmatrix": on(load_matrices), "stmatrix": on(store_matrices), "mma": on(multiply),
            "atom": on(atomic), "red": on(atomic), "wgmma": self.tensor_cores.run,
            "cp": self.copies.run, "tensormap": self.copies.run, "prefetch": nothing,
            "prefetchu": nothing, "griddepcontrol": nothing, "nop": nothing,
            "nanosleep": lambda what, at: self.threads.rest(at),
            **dict.fromkeys(_MASKED, on(exchange)),
        }  # fmt: skip

    def _compute(self, what: Instruction, at: np.ndarray) -> None:
        target, _, other = what.operands[0].partition("|")
        values = [self.get(each, at) for each in what.operands[1:]]
        try:
            with np.errstate(all="ignore"):
                found = computed(what.name, list(what.parts), values)
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            raise PtxError(f"{what} is not known") from error
        self.put(target, at, found)
        if other:
            self.put(other.strip(), at, found == 0)

    def _load_parameter(self, what: Instruction, at: np.ndarray) -> None:
        name = what.operands[1].strip("[]")
        if name not in self.parameters:
            raise PtxError(f"{name} is no buffer: there are {len(self.parameters)}")
        self.put(what.operands[0], at, np.full(len(at), self.parameters[name], _U64))

    def _branch(self, what: Instruction, at: np.ndarray) -> None:
        self.threads.place[at] = self.program.labels[what.operands[0]]

    def _end(self, what: Instruction, at: np.ndarray) -> None:
        self.threads.finish(at)

    def _trap(self, what: Instruction, at: np.ndarray) -> None:
        raise PtxError(f"{self.threads.named(at)} traps")

    def _mov(self, what: Instruction, at: np.ndarray) -> None:
        target, source = what.operands
        bits = int(what.parts[-1][1:]) if what.parts[-1][1:].isdecimal() else 1
        if source.startswith("{"):
            pieces = listed(source)
            part = bits // len(pieces)
            values = [self.get(each, at) & mask(part) for each in pieces]
            whole = np.zeros(len(at), _U64)
            for i, each in enumerate(values):
                whole |= each << _U64(i * part)
            self.put(target, at, whole)
        elif target.startswith("{"):
            whole, names = self.get(source, at), listed(target)
            part = bits // len(names)
            for i, each in enumerate(names):
                self.put(each, at, (whole >> _U64(i * part)) & mask(part))
        else:
            self.put(target, at, self.get(source, at))
            self.tensor_cores.moved(target, source, at)

    def _cvta(self, what: Instruction, at: np.ndarray) -> None:
        value = self.get(what.operands[1], at)
        is_shared = any(each.startswith("shared") for each in what.parts)
        if is_shared and "to" in what.parts:
            if (value < WINDOW).any():
                raise PtxError(f"{what} of what is not in shared memory")
            value = value - _U64(WINDOW)
        elif is_shared:
            value = (value & mask(32)) + _U64(WINDOW)
        self.put(what.operands[0], at, value)

    def _mapa(self, what: Instruction, at: np.ndarray) -> None:
        base, plus, more = what.operands[1].partition("+")
        address = self.get(base.strip(), at).astype(np.int64) + (int(more) if plus else 0)
        rank = self.get(what.operands[2], at).astype(np.int64)
        self.put(what.operands[0], at, self.memory.mapped(address, rank))

    def _move(self, what: Instruction, at: np.ndarray) -> None:
        if what.parts[1] == "param":
            self._load_parameter(what, at)
            return
        parts, kind = what.parts, what.parts[-1]
        size = int(kind[1:]) // 8
        is_load = parts[0] != "st"
        where, data = (what.operands[1], what.operands[0]) if is_load else what.operands[:2]
        names = listed(data)
        whole = size * len(names)
        memory, index = self.memory.accessed(
            what.name, where, self.address(where, at), at, whole, whole, not is_load
        )
        type_ = np.dtype(f"u{size}")
        if is_load:
            words = np.ascontiguousarray(memory[index]).view(type_)
            for i, each in enumerate(names):
                self.put(each, at, words[:, i])
            if {"volatile", "acquire", "relaxed"} & set(parts):
                self.threads.rest(at)
            return
        values = [(self.get(each, at) & mask(8 * size)).astype(type_) for each in names]
        memory[index] = np.stack(values, 1).view(np.uint8)


def _unit(what: Instruction) -> int:
    """How many threads have to be here at once: a warp, a warpgroup, or one."""
    base = what.parts[0]
    if base in ("wgmma", "setmaxnreg"):
        return WARPGROUP
    is_barrier = base == "bar" or (base == "barrier" and "aligned" in what.parts)
    return WARP if base in _MASKED or is_barrier or "aligned" in what.parts else 0


def _number(operand: str) -> np.uint64:
    if operand.startswith(("0f", "0F", "0d", "0D")):
        return _U64(int(operand[2:], 16))
    return _U64(int(operand.rstrip("U"), 0) % (1 << 64))
