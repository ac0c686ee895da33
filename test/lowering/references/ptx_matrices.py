"""`ldmatrix`, `stmatrix` and `mma.sync`: fragments of a warp, as in the PTX ISA.

Sums of `multiply` are those of exact products in f64, rounded to f32 once: the hardware's keep
fewer bits, so values are to be compared with a bound, or chosen so that sums are exact.
"""

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from ptx_text import Instruction, PtxError, listed

if TYPE_CHECKING:
    from ptx_machine import Machine

TYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16, "f16": np.float16,
}  # fmt: skip
_GROUP, _IN_GROUP = np.arange(32) // 4, np.arange(32) % 4


def _whole(machine: "Machine", what: Instruction, at: np.ndarray) -> np.ndarray:
    """The first threads of the warps, which are whole."""
    if (machine.threads.lanes[at] < 32).any():
        raise PtxError(f"{what} in a warp of fewer threads")
    return at.reshape(-1, 32)


def load_matrices(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    """8 rows of 16 bytes each; thread t gets bytes 4 (t mod 4) of row t div 4, or the transpose."""
    warps, names = _whole(machine, what, at), listed(what.operands[0])
    _check(what, len(names))
    rows = warps[:, : 8 * len(names)].reshape(-1)
    where = what.operands[1]
    memory, index = machine.memory.accessed(
        what.name, where, machine.address(where, rows), rows, 16, 16, False
    )
    data = memory[index].reshape(len(warps), len(names), 8, 16)
    for i, each in enumerate(names):
        halves = np.ascontiguousarray(data[:, i]).view(np.uint16)
        if "trans" in what.parts:
            halves = halves.transpose(0, 2, 1)
        words = np.ascontiguousarray(halves).view(np.uint32)
        machine.put(each, at, words.reshape(-1))


def store_matrices(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    warps, names = _whole(machine, what, at), listed(what.operands[1])
    _check(what, len(names))
    rows = warps[:, : 8 * len(names)].reshape(-1)
    where = what.operands[0]
    memory, index = machine.memory.accessed(
        what.name, where, machine.address(where, rows), rows, 16, 16, True
    )
    data = np.empty((len(warps), len(names), 8, 8), np.uint16)
    for i, each in enumerate(names):
        words = machine.get(each, at).astype(np.uint32).reshape(len(warps), 8, 4)
        halves = words.view(np.uint16)
        data[:, i] = halves.transpose(0, 2, 1) if "trans" in what.parts else halves
    memory[index] = data.view(np.uint8).reshape(-1, 16)


def _check(what: Instruction, count: int) -> None:
    is_known = {"sync", "aligned", "m8n8"} <= set(what.parts) and what.parts[-1] == "b16"
    if not is_known or f"x{count}" not in what.parts:
        raise PtxError(f"{what} is not known")


def numbers(words: np.ndarray, type_: str) -> np.ndarray:
    """The numbers in u32 words, lowest first, along a new last axis, in f64."""
    whole = np.ascontiguousarray(words.astype(np.uint32))[..., None]
    return whole.view(TYPES[type_]).astype(np.float64)


def fragment_a(words: np.ndarray, type_: str) -> np.ndarray:
    """A of m16, rows x 32 bytes, from words [warp, register, lane]."""
    values = numbers(words, type_)
    lanes = values.shape[-1]
    result = np.zeros((len(words), 16, 8 * lanes))
    for register in range(4):
        row = _GROUP + 8 * (register & 1)
        for j in range(lanes):
            column = _IN_GROUP * lanes + j + 4 * lanes * (register >> 1)
            result[:, row, column] = values[:, register, :, j]
    return result


def _fragment_b(words: np.ndarray, type_: str) -> np.ndarray:
    values = numbers(words, type_)
    lanes = values.shape[-1]
    result = np.zeros((len(words), 8 * lanes, 8))
    for register in range(2):
        for j in range(lanes):
            row = _IN_GROUP * lanes + j + 4 * lanes * register
            result[:, row, _GROUP] = values[:, register, :, j]
    return result


def multiply(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    """`mma.sync.aligned.m16n8k32` of f8, `m16n8k16` of bf16 and f16, row by column, f32 sums."""
    parts = what.parts
    shape, (target, first, second, third) = parts[3], parts[-4:]
    wanted = "m16n8k32" if first in ("e4m3", "e5m2") else "m16n8k16"
    is_known = first in TYPES and second in TYPES and target == third == "f32"
    if not is_known or parts[1:6] != ("sync", "aligned", wanted, "row", "col") or shape != wanted:
        raise PtxError(f"{what} is not known")
    warps = _whole(machine, what, at)
    a, b, c = ([machine.get(x, at) for x in listed(each)] for each in what.operands[1:4])
    a, b, c = (np.stack(each, 0).reshape(len(each), len(warps), 32) for each in (a, b, c))
    products = fragment_a(a.transpose(1, 0, 2), first) @ _fragment_b(b.transpose(1, 0, 2), second)
    for i, each in enumerate(listed(what.operands[0])):
        before = c[i].astype(np.uint32).view(np.float32).astype(np.float64)
        own = products[:, _GROUP + 8 * (i >> 1), 2 * _IN_GROUP + (i & 1)]
        found = (own + before).astype(np.float32)
        machine.put(each, at, found.view(np.uint32).reshape(-1))
