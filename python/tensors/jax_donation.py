"""JAX arrays that are donated: JAX moves the buffer to a new array, which native code writes to."""

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.foreign import kind_of
from mlir_fp8.tensors.jax_arrays import check_jax


class JaxDonors:
    """The donated arguments of a call that are JAX arrays, by number, and their results."""

    def __init__(self, results: dict[int, int], specs: Sequence[TensorSpec]) -> None:
        self._results = results
        self._specs = specs
        self._moved: dict[int, Any] = {}

    def others(self, count: int) -> list[int]:
        """The numbers of all other arguments, of `count`."""
        return [number for number in range(count) if number not in self._results]

    def taken(self, arrays: Sequence[Any]) -> list[Any]:
        """`arrays` with the memory of each donated JAX array in its place, which JAX deletes.

        Where something else has that memory, JAX copies it, and deletes nothing.
        """
        for number in self._results:
            self._moved[number] = _move()(arrays[number]).block_until_ready()
        return [
            _memory(self._moved[number], self._specs[number]) if number in self._moved else array
            for number, array in enumerate(arrays)
        ]

    def given(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """`results` with new JAX arrays where donated ones were written to."""
        merged = list(results)
        for number, result in self._results.items():
            merged[result] = self._moved[number]
        return tuple(merged)


def jax_donors(
    pairs: Sequence[tuple[int, int]], specs: Sequence[TensorSpec], arrays: Sequence[Any]
) -> JaxDonors | None:
    """Those of `arrays` that are donated and of JAX; None where none is.

    `Fp8Error` where one is not of its spec, or no plain memory of the CPU.
    """
    found = {a: result for a, result in pairs if kind_of(arrays[a]) == "jax"}
    for number in found:
        _check(f"argument {number}", arrays[number], specs[number])
        for other, array in enumerate(arrays):
            if other != number and array is arrays[number]:
                reason = f"argument {number} is donated, and argument {other} is the same array"
                raise Fp8Error(f"{reason}: give a copy of it")
    return JaxDonors(found, specs) if found else None


def _check(what: str, array: Any, spec: TensorSpec) -> None:
    check_jax(what, array)
    if array.dtype != spec.dtype or tuple(array.shape) != tuple(spec.shape):
        raise Fp8Error(f"{what} is {array.dtype}{list(array.shape)}, declared {spec}")
    size = math.prod(spec.shape) * spec.dtype.itemsize
    order = getattr(array.format.layout, "major_to_minor", None)
    is_plain = order in (None, tuple(range(len(spec.shape))))
    if len(array.devices()) != 1 or array.on_device_size_in_bytes() != size or not is_plain:
        reason = "is donated, and is a JAX array of several devices, packed or of another layout"
        raise Fp8Error(f"{what} {reason}: donate a numpy array")


@functools.cache
def _move() -> Any:
    """What gives a donated array in the same buffer."""
    import jax  # pyright: ignore[reportMissingImports]

    return jax.jit(lambda array: array, donate_argnums=0)


def _memory(array: Any, spec: TensorSpec) -> np.ndarray:
    """The buffer of `array`, which nobody else has, to write to."""
    size = math.prod(spec.shape) * spec.dtype.itemsize
    if not size:
        return np.empty(spec.shape, spec.dtype)
    memory: Any = (ctypes.c_char * size).from_address(array.unsafe_buffer_pointer())
    return np.frombuffer(memory, np.uint8).view(spec.dtype).reshape(spec.shape)
