"""Bit-packed f4 and f6: two codes in a byte, four in three, without gaps from the lowest bit on.

As float4_e2m1fn_x2 of torch, safetensors' F4, F6_E2M3 and F6_E3M2, and `fp8.unpack` have them.
"""

import numpy as np

from mlir_fp8.dialects.float_formats import FORMATS

CODES_OF_BYTES = {name: 2 if fmt.bits == 4 else 4 for name, fmt in FORMATS.items() if fmt.bits < 8}
"""How many codes are whole bytes, by the types that are packed."""


def is_whole(element: str, shape: tuple[int, ...]) -> bool:
    """Whether the rows of an array of `element` are whole bytes when it is packed."""
    return element in CODES_OF_BYTES and bool(shape) and shape[-1] % CODES_OF_BYTES[element] == 0


def unpacked(packed_: np.ndarray, element: str = "f4E2M1FN") -> np.ndarray:
    """`element` [..., 8 n / bits] from bit-packed uint8 [..., n]; of f6 n is a multiple of 3."""
    dtype = FORMATS[element].dtype
    if FORMATS[element].bits == 4:
        codes = np.empty((*packed_.shape[:-1], 2 * packed_.shape[-1]), np.uint8)
        codes[..., 0::2] = packed_ & 15
        codes[..., 1::2] = packed_ >> 4
        return codes.view(dtype)
    *outer, last = packed_.shape
    first, second, third = (packed_[..., i::3] for i in range(3))
    codes = np.empty((*outer, last // 3, 4), np.uint8)
    codes[..., 0] = first & 63
    codes[..., 1] = first >> 6 | (second & 15) << 2
    codes[..., 2] = second >> 4 | (third & 3) << 4
    codes[..., 3] = third >> 2
    return codes.reshape(*outer, last // 3 * 4).view(dtype)


def packed(array: np.ndarray) -> np.ndarray:
    """Bit-packed uint8 [..., bits n / 8] from f4 or f6 [..., n], whose rows are whole bytes."""
    codes = array.view(np.uint8)
    if array.dtype == FORMATS["f4E2M1FN"].dtype:
        return codes[..., 0::2] | codes[..., 1::2] << 4
    *outer, last = codes.shape
    first, second, third, fourth = (codes[..., i::4] for i in range(4))
    found = np.empty((*outer, last // 4, 3), np.uint8)
    found[..., 0] = first | second << 6
    found[..., 1] = second >> 2 | third << 4
    found[..., 2] = third >> 4 | fourth << 2
    return found.reshape(*outer, last // 4 * 3)
