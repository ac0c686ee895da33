"""Addresses of arrays: as numpy gives them, views and read-only arrays too."""

import ml_dtypes
import numpy as np

from mlir_fp8.arrays.address import address_of


def test_addresses_are_numpy_s() -> None:
    whole = np.zeros((3, 5), ml_dtypes.float8_e4m3fn)
    frozen = np.arange(7)
    frozen.flags.writeable = False
    for array in (whole, whole[1:, 2:], whole.T, frozen, np.array(2.0), np.empty((0, 3))):
        assert address_of(array) == array.ctypes.data
