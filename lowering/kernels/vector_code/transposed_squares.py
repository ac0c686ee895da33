"""In-register transposes of square f32 tiles: a vector per row becomes a vector per column."""

from mlir_fp8.lowering.kernels.vector_code.text import KernelText

_LANE = 4
"""f32 elements of a 128-bit lane, within which shuffles are cheapest."""


def transposed(text: KernelText, rows: list[str]) -> list[str]:
    """The transpose of a square tile: 4x4 within 128-bit lanes, then across lanes."""
    size = len(rows)
    fours = [_within_lanes(text, rows[i : i + _LANE], size) for i in range(0, size, _LANE)]
    found = [""] * size
    for i, lanes in enumerate(zip(*fours, strict=True)):
        found[i::_LANE] = _of_lanes(text, list(lanes), size)
    return found


def _within_lanes(text: KernelText, rows: list[str], size: int) -> list[str]:
    """The 4x4 transposes in each lane of four rows."""
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
    """Two elements from `at` of each lane of two vectors, interleaved or concatenated."""
    first = [at, at + 1]
    second = [size + each for each in first]
    if length == 2:
        return first + second
    return [each for pair in zip(first, second, strict=True) for each in pair]


def _of_lanes(text: KernelText, rows: list[str], size: int) -> list[str]:
    """The transpose of a square of lanes; each stage interleaves the two halves of the rows."""
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
