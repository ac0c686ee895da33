"""Bit-packed f4, two codes per byte, low nibble first: float4_e2m1fn_x2 and safetensors' F4."""

import numpy as np

from mlir_fp8.arrays.tensor_specs import element_dtype

F4 = element_dtype("f4E2M1FN")


def unpacked(pairs: np.ndarray) -> np.ndarray:
    """f4E2M1FN [..., 2 n] from bit-packed uint8 [..., n]."""
    codes = np.empty((*pairs.shape[:-1], 2 * pairs.shape[-1]), np.uint8)
    codes[..., 0::2] = pairs & 15
    codes[..., 1::2] = pairs >> 4
    return codes.view(F4)


def packed(array: np.ndarray) -> np.ndarray:
    """Bit-packed uint8 [..., n] from f4E2M1FN [..., 2 n]."""
    codes = array.view(np.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4
