"""Codes of 8 bits to bf16 by tables in registers: `vpermi2b` looks 64 codes up in 128 bytes.

One table has the low bytes of the magnitudes' bf16 numbers, one the high bytes; the sign is the
code's own. Both bytes of 64 codes take five shuffles, as many as are needed to convert 16 by f16.
"""

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from mlir_fp8.dialects.float_formats import FloatFormat
from mlir_fp8.lowering.kernels.vector_code.bit_packed import PERMUTE, SHIFT, SHIFT_TYPE
from mlir_fp8.lowering.kernels.vector_code.expression import Expression
from mlir_fp8.lowering.kernels.vector_code.scaled_codes import ScaledCodes, scaled_codes
from mlir_fp8.lowering.kernels.vector_code.target import KernelTarget
from mlir_fp8.lowering.kernels.vector_code.text import KernelText

CODES = 64
"""Codes that are looked up at once."""
LOOK_UP = "llvm.x86.avx512.vpermi2var.qi.512"
INTRINSICS = {
    LOOK_UP: "(vector<64xi8>, vector<64xi8>, vector<64xi8>) -> vector<64xi8>",
    PERMUTE: "(vector<64xi8>, vector<64xi8>) -> vector<64xi8>",
    SHIFT: SHIFT_TYPE,
}
"""What the functions here call, with their types."""
_LANE = 16
"""Bytes that most shuffles stay within."""
_BYTES = f"vector<{CODES}xi8>"
_IN_ORDER = [8 * word + i for word in (0, 4, 1, 5, 2, 6, 3, 7) for i in range(8)]
"""How codes are to lie for `decoded` to give them in order."""


_FLOATS = CODES // 4
"""f32 numbers of a register."""
_FLOATS_IN_ORDER = [
    _FLOATS * (2 * high + odd) + 4 * lane + i
    for lane in range(4)
    for high in range(2)
    for i in range(4)
    for odd in range(2)
]
"""How codes are to lie for both halves of the pairs that `decoded` gives to be in order."""


def looked_up_codes(expression: Expression, target: KernelTarget) -> ScaledCodes | None:
    """The codes, which may have scales, of `expression`, where `target` looks 64 up at once."""
    codes = scaled_codes(expression) if target.byte_tables else None
    return codes if codes is not None and codes.format.signed else None


def looked_up_format(expression: Expression, target: KernelTarget) -> FloatFormat | None:
    """The format of 8 bits whose codes, without scales, `expression` decodes, where they are."""
    codes = looked_up_codes(expression, target)
    if codes is None or codes.scale is not None or codes.format.bits < 8:
        return None
    return codes.format


def floats(
    text: KernelText, fmt: FloatFormat, codes: str, *, spread: bool = False
) -> list[tuple[int, str]]:
    """Four vectors of 16 f32 numbers of 64 codes, with the offset of each; NaN codes give NaN.

    They are in order, or in `spread_order`.
    """
    order = _FLOATS_IN_ORDER
    if spread:
        order = [each % _FLOATS * 4 + each // _FLOATS for each in order]
    words = f"vector<{_FLOATS}xi32>"
    half = text.constant(f"dense<16> : {words}")
    upper = text.constant(f"dense<{-(1 << 16)}> : {words}")
    found: list[tuple[int, str]] = []
    for number, pairs in enumerate(decoded(text, fmt, _reordered(text, codes, order))):
        both = text.value(f"vector.bitcast {pairs} : {_BYTES} to {words}")
        first = text.value(f"arith.shli {both}, {half} : {words}")
        second = text.value(f"arith.andi {both}, {upper} : {words}")
        for odd, bits in enumerate((first, second)):
            value = text.value(f"arith.bitcast {bits} : {words} to vector<{_FLOATS}xf32>")
            found.append((_FLOATS * (2 * number + odd), value))
    return found


def in_order(text: KernelText, codes: str) -> str:
    """`codes` so that `decoded` gives their numbers in order."""
    return _reordered(text, codes, _IN_ORDER)


def pairs_in_order(text: KernelText, first: str, second: str) -> list[str]:
    """Two vectors of codes, of which `decoded` gives pairs of one number each, in order."""
    half = CODES // 2
    pairs = [each for i in range(CODES) for each in (i, CODES + i)]
    return [
        _shuffled(text, first, second, [pairs[start + i] for i in _IN_ORDER])
        for start in (0, 2 * half)
    ]


def by_lanes(text: KernelText, columns: Sequence[str]) -> list[list[str]]:
    """16 vectors of 64 codes transposed by lanes of 16: four vectors for each fourth of the codes.

    Vector r of fourth k has in its lane i what column 4 i + r has in its lane k.
    """
    found: list[list[str]] = [[] for _ in range(4)]
    for r in range(4):
        first, second, third, fourth = columns[r::4]
        halves = [
            (_of_lanes(text, first, second, each), _of_lanes(text, third, fourth, each))
            for each in ((0, 2, 4, 6), (1, 3, 5, 7))
        ]
        for parity, pair in enumerate(halves):
            found[parity].append(_of_lanes(text, *pair, (0, 2, 4, 6)))
            found[parity + 2].append(_of_lanes(text, *pair, (1, 3, 5, 7)))
    return found


def _of_lanes(text: KernelText, first: str, second: str, lanes: Sequence[int]) -> str:
    """The lanes of these numbers, of four in `first` and four in `second`."""
    return _shuffled(
        text, first, second, [_LANE * lane + i for lane in lanes for i in range(_LANE)]
    )


def pairs_of_columns(text: KernelText, columns: Sequence[str]) -> list[str]:
    """Four vectors of codes, whose numbers are pairs along 16 columns of 16 codes each.

    Vector r of `columns` has those of column 4 i + r in its lane i. `decoded` gives of the vector
    numbered q the pairs 2 q and 2 q + 1 of all columns.
    """
    first, second, third, fourth = columns
    fours = []
    for is_high in (False, True):
        low = _unpacked(text, first, second, 4, high=is_high)
        high = _unpacked(text, third, fourth, 4, high=is_high)
        fours += [_unpacked(text, low, high, 8, high=each) for each in (False, True)]
    order = [
        lane + 4 * column + 2 * pair + i
        for lane in range(0, CODES, _LANE)
        for pair in range(2)
        for column in range(4)
        for i in range(2)
    ]
    return [_reordered(text, each, order) for each in fours]


def decoded(text: KernelText, fmt: FloatFormat, codes: str) -> tuple[str, str]:
    """Two vectors of 32 bf16 numbers, as i8: of the low eight codes of each lane, of the others."""
    low_table, high_table = _tables(fmt)
    low, high = (_looked_up(text, table, codes) for table in (low_table, high_table))
    if fmt.bits < 8:  # whose tables have the signs
        return _unpacked(text, low, high, 1, high=False), _unpacked(text, low, high, 1, high=True)
    sign = text.value(f"arith.andi {codes}, {_splat(text, -128)} : {_BYTES}")
    high = text.value(f"arith.ori {high}, {sign} : {_BYTES}")
    if fmt.nan_code == fmt.sign_mask:
        mask = _BYTES.replace("i8", "i1")
        is_nan = text.value(f"arith.cmpi eq, {codes}, {_splat(text, -128)} : {_BYTES}")
        low, high = (
            text.value(f"arith.select {is_nan}, {_splat(text, nan)}, {each} : {mask}, {_BYTES}")
            for each, nan in ((low, -64), (high, 127))
        )
    return _unpacked(text, low, high, 1, high=False), _unpacked(text, low, high, 1, high=True)


def scaled(text: KernelText, numbers: str, scale: str) -> str:
    """32 bf16 numbers, as `decoded` gives them, times f32 scales, one for each two of them.

    What bf16 has too few bits for is cut off.
    """
    words, floats_ = f"vector<{_FLOATS}xi32>", f"vector<{_FLOATS}xf32>"
    half = text.constant(f"dense<16> : {words}")
    upper = text.constant(f"dense<{-(1 << 16)}> : {words}")
    both = text.value(f"vector.bitcast {numbers} : {_BYTES} to {words}")
    odd = text.value(f"arith.andi {both}, {upper} : {words}")
    even = text.value(f"arith.shli {both}, {half} : {words}")
    products: list[str] = []
    for bits in (even, odd):
        number = text.value(f"arith.bitcast {bits} : {words} to {floats_}")
        product = text.value(f"arith.mulf {number}, {scale} : {floats_}")
        products.append(text.value(f"arith.bitcast {product} : {floats_} to {words}"))
    even = text.value(f"arith.shrui {products[0]}, {half} : {words}")
    odd = text.value(f"arith.andi {products[1]}, {upper} : {words}")
    both = text.value(f"arith.ori {even}, {odd} : {words}")
    return text.value(f"vector.bitcast {both} : {words} to {_BYTES}")


def _tables(fmt: FloatFormat) -> tuple[np.ndarray, np.ndarray]:
    count = 2 * CODES if fmt.bits == 8 else CODES
    codes = (np.arange(count) & (1 << fmt.bits) - 1).astype(np.uint8).view(fmt.dtype)
    bits = codes.astype(ml_dtypes.bfloat16).view(np.uint16)
    return (bits & 0xFF).astype(np.uint8), (bits >> 8).astype(np.uint8)


def _looked_up(text: KernelText, table: np.ndarray, codes: str) -> str:
    halves = [
        text.constant(f"dense<{each.view(np.int8).tolist()}> : {_BYTES}")
        for each in np.split(table, len(table) // CODES)
    ]
    if len(halves) == 1:
        return text.value(f"func.call @{PERMUTE}({halves[0]}, {codes}) : {INTRINSICS[PERMUTE]}")
    return text.value(
        f"func.call @{LOOK_UP}({halves[0]}, {codes}, {halves[1]}) : {INTRINSICS[LOOK_UP]}"
    )


def _unpacked(text: KernelText, first: str, second: str, size: int, *, high: bool) -> str:
    """Elements of `size` bytes of both by turns, from the low or high half of each lane."""
    start = _LANE // 2 if high else 0
    order = [
        side + lane + start + element + i
        for lane in range(0, CODES, _LANE)
        for element in range(0, _LANE // 2, size)
        for side in (0, CODES)
        for i in range(size)
    ]
    return _shuffled(text, first, second, order)


def _reordered(text: KernelText, vector: str, order: Sequence[int]) -> str:
    # No `vector.shuffle`: of one vector, MLIR makes the other operand poison, which is refused.
    places = text.constant(f"dense<{list(order)}> : {_BYTES}")
    return text.value(f"func.call @{PERMUTE}({vector}, {places}) : {INTRINSICS[PERMUTE]}")


def _shuffled(text: KernelText, first: str, second: str, order: Sequence[int]) -> str:
    return text.value(f"vector.shuffle {first}, {second} {list(order)} : {_BYTES}, {_BYTES}")


def _splat(text: KernelText, number: int) -> str:
    return text.constant(f"dense<{number}> : {_BYTES}")
