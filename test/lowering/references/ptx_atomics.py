"""`atom` and `red` of `ptx_machine`: one thread after the other, in their order."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from ptx_text import Instruction, PtxError, listed

if TYPE_CHECKING:
    from ptx_machine import Machine

_FLOATS = {
    "f32": (np.float32, 1), "f64": (np.float64, 1), "f16": (np.float16, 1),
    "bf16": (ml_dtypes.bfloat16, 1), "f16x2": (np.float16, 2), "bf16x2": (ml_dtypes.bfloat16, 2),
}  # fmt: skip
_OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "exch": lambda old, new: new,
    "cas": lambda old, expected, new: np.where(old == expected, new, old),
    "inc": lambda old, limit: np.where(old >= limit, 0, old + 1).astype(old.dtype),
    "dec": lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1),
}  # fmt: skip


def atomic(machine: "Machine", what: Instruction, at: np.ndarray) -> None:
    """A vector of operands is one operation for each of its elements."""
    first = next(i for i, each in enumerate(what.operands) if each.startswith("["))
    operation = next((each for each in what.parts[1:] if each in _OPERATIONS), "")
    type_, lanes = _type(what.parts[-1])
    if not operation or len(what.operands) - first - 1 != (2 if operation == "cas" else 1):
        raise PtxError(f"{what} is not known")
    names = [listed(each) for each in what.operands[first + 1 :]]
    count, size = len(names[0]), type_.itemsize * lanes
    memory, index = machine.memory.accessed(
        what.name, what.operands[first], machine.address(what.operands[first], at), at,
        size * count, size * count, True,
    )  # fmt: skip
    columns = [[machine.get(each, at) for each in operand] for operand in names]
    values = [_typed(np.stack(each, 1), type_, size, lanes * count) for each in columns]
    before = np.empty((len(at), lanes * count), type_)
    rows = [np.broadcast_to(each, (len(at), size * count)) for each in index]
    for i in range(len(at)):
        place = tuple(each[i] for each in rows)
        before[i] = memory[place].view(type_)
        with np.errstate(all="ignore"):
            after = _OPERATIONS[operation](before[i], *(each[i] for each in values))
        memory[place] = np.ascontiguousarray(after.astype(type_)).view(np.uint8)
    if what.parts[0] == "atom":
        words = before.view(f"u{size}")
        for i, each in enumerate(listed(what.operands[0])):
            machine.put(each, at, words[:, i])
        machine.threads.rest(at)


def _type(kind: str) -> tuple[np.dtype, int]:
    if kind in _FLOATS:
        type_, lanes = _FLOATS[kind]
        return np.dtype(type_), lanes
    return np.dtype(f"{'i' if kind[0] == 's' else 'u'}{int(kind[1:]) // 8}"), 1


def _typed(words: np.ndarray, type_: np.dtype, size: int, count: int) -> np.ndarray:
    return np.ascontiguousarray(words.astype(f"u{size}")).view(type_).reshape(len(words), count)
