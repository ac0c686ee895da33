"""Results that stay on the device where XLA computed them."""

from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.xla.failures import one_line


class DeviceArray:
    """One result of a call that XLA may still be computing.

    It is an argument of further calls as it is, without a copy. `to_numpy()` and `numpy.asarray`
    wait for its values and bring them to the host (on the CPU they are XLA's own memory, which is
    read-only); `torch.from_dlpack` and `jax.dlpack.from_dlpack` share its memory. `jax` is the
    `jax.Array`. What failed while it was computed is an `Fp8Error` to whoever asks for its
    values.
    """

    def __init__(self, array: Any, spec: TensorSpec, device: str) -> None:
        self.jax = array
        self.shape: tuple[int, ...] = spec.shape
        self.dtype: np.dtype = spec.dtype
        self.device = device
        """`cpu:0`, `gpu:1`."""
        self._spec = spec

    def to_numpy(self) -> np.ndarray:
        """The values, as an array of `shape` and `dtype`."""
        self._check()
        with one_line(f"{self!r}", self.device):
            # A failed array is never copied: asked for at once, XLA waits for it forever.
            return np.asarray(self.jax.block_until_ready())

    def is_ready(self) -> bool:
        """Whether it is computed, so that nobody has to wait for it."""
        self._check()
        return self.jax.is_ready()

    def block_until_ready(self) -> "DeviceArray":
        """Wait until it is computed; raises what failed."""
        self._check()
        with one_line(f"{self!r}", self.device):
            self.jax.block_until_ready()
        return self

    def _check(self) -> None:
        if self.jax.is_deleted():
            raise Fp8Error(f"{self!r} was donated to a call: its memory is that of a result now")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.to_numpy()
        kept = dtype is None or np.dtype(dtype) == values.dtype
        if copy is False and not kept:
            raise ValueError(f"{self!r} as {np.dtype(dtype)} needs a copy")
        values = values if kept else values.astype(dtype)
        return values.copy() if copy and kept else values

    def __dlpack__(self, **options: Any) -> Any:
        self._check()
        with one_line(f"{self!r}", self.device):
            if self.device.startswith("cpu"):
                self.jax.block_until_ready()  # nothing in DLPack would make a reader wait
            return self.jax.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self.jax.__dlpack_device__()

    def __repr__(self) -> str:
        return f"<{self._spec} on {self.device}>"
