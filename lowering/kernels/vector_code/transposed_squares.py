"""Squares of f32 in vector registers, transposed: a vector for each row, then for each column."""

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_LANE = 4
"""Numbers in a part of a register, within which shuffles are fastest."""


def transposed(text: KernelText, rows: list[str]) -> list[str]:
    """The columns of a square: of each four rows within lanes, then of whole lanes."""
    size = len(rows)
    fours = [_within_lanes(text, rows[i : i + _LANE], size) for i in range(0, size, _LANE)]
    found = [""] * size
    for i, lanes in enumerate(zip(*fours, strict=True)):
        found[i::_LANE] = _of_lanes(text, list(lanes), size)
    return found


def _within_lanes(text: KernelText, rows: list[str], size: int) -> list[str]:
    """From four rows vectors of their first numbers of each lane, their second ones, and so on."""
    lanes = range(0, size, _LANE)
    by_ones = [[e for i in lanes for e in _pairs(i + at, size, 1)] for at in (0, 2)]
    by_twos = [[e for i in lanes for e in _pairs(i + at, size, 2)] for at in (0, 2)]
    low, high = (
        [_shuffled(text, a, b, order) for order in by_ones] for a, b in (rows[:2], rows[2:])
    )
    return [
        _shuffled(text, a, b, order) for a, b in zip(low, high, strict=True) for order in by_twos
    ]


def _pairs(at: int, size: int, length: int) -> list[int]:
    """Two numbers from `at` on of each of two vectors, in turn or one after the other."""
    first = [at, at + 1]
    second = [size + each for each in first]
    if length == 2:
        return first + second
    return [each for pair in zip(first, second, strict=True) for each in pair]


def _of_lanes(text: KernelText, rows: list[str], size: int) -> list[str]:
    """The transpose of a square of lanes: each stage interleaves the two halves of the rows."""
    half = len(rows) // 2
    orders = [
        [
            start + i
            for lane in range(first, first + size // 2, _LANE)
            for start in (lane, size + lane)
            for i in range(_LANE)
        ]
        for first in (0, size // 2)
    ]
    for _ in range(len(rows).bit_length() - 1):
        rows = [
            _shuffled(text, a, b, order)
            for a, b in zip(rows[:half], rows[half:], strict=True)
            for order in orders
        ]
    return rows


def _shuffled(text: KernelText, first: str, second: str, order: list[int]) -> str:
    type_ = f"vector<{len(order)}xf32>"
    return text.value(f"vector.shuffle {first}, {second} {order} : {type_}, {type_}")
