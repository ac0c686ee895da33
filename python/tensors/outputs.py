"""Callers' output arrays: `out=`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec, is_masked, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.foreign import as_array, kind_of


class Output:
    """One array or tensor of a caller: checked when made, written by `store`.

    `array` is its memory; None for a tensor of pairs or of short integers, which torch writes.
    Raises `Fp8Error` starting with `what` where it cannot take results of `spec`.
    """

    def __init__(self, what: str, value: Any, spec: TensorSpec) -> None:
        self.value = value
        self._is_tensor = kind_of(value) == "torch"
        memory = _memory(what, value)
        _check_writable(what, value, memory)
        given = as_array(what, value)
        if given.dtype != spec.dtype or given.shape != spec.shape:
            raise Fp8Error(f"{what} is {spell(given)}, the results are {spec}")
        self.array = memory if memory.dtype == spec.dtype else None

    def takes_directly(self) -> bool:
        """Whether native code can write to it."""
        if self.array is None:
            return False
        flags = self.array.flags
        return flags.c_contiguous and flags.aligned and type(self.array) is np.ndarray

    def store(self, results: np.ndarray) -> None:
        """Copy `results` into it, unless they are there."""
        if self.array is None:
            from mlir_fp8.torch.tensors import copy_into

            copy_into(self.value, results)
        elif results is not self.array:
            code = f"u{results.itemsize}" if results.dtype.isbuiltin == 2 else results.dtype
            np.copyto(np.asarray(self.array).view(code), results.view(code))

    def note_written(self) -> None:
        """Let autograd know, which may have kept the old values for a backward."""
        if self._is_tensor:
            from mlir_fp8.torch.tensors import note_written

            note_written(self.value)


def _memory(what: str, value: Any) -> Any:
    """The array of what is written to."""
    kind = kind_of(value)
    if kind == "jax":
        raise Fp8Error(f"{what} is a JAX array, which nobody writes to: give as_='jax'")
    if kind == "torch":
        from mlir_fp8.torch.tensors import memory

        return memory(what, value)
    return as_array(what, value)


def _check_writable(what: str, value: Any, memory: Any) -> None:
    if not isinstance(memory, np.ndarray) or is_masked(memory):
        raise Fp8Error(f"{what} is a {type(value).__name__}: give a numpy array or a tensor")
    if not memory.flags.writeable:
        raise Fp8Error(f"{what} is read-only")
    if not _is_disjoint(memory):
        raise Fp8Error(f"{what} has elements that share memory: give one with memory for each")


def _is_disjoint(array: np.ndarray) -> bool:
    """Whether no two elements overlap: each stride exceeds the extent of the smaller ones."""
    if not array.size:
        return True
    extent = array.itemsize
    steps = zip(array.strides, array.shape, strict=True)
    for stride, size in sorted((abs(step), size) for step, size in steps if size > 1):
        if stride < extent:
            return False
        extent += stride * (size - 1)
    return True


def outputs(out: Any, specs: Sequence[TensorSpec]) -> list[Output]:
    """What `out` names for each result: a sequence of arrays, or one array where there is one."""
    is_one = not isinstance(out, list | tuple)
    values = [out] if is_one else list(out)
    if len(values) != len(specs):
        raise Fp8Error(f"out has {len(values)} arrays for {len(specs)} results")
    names = ["out" if is_one else f"out {index}" for index in range(len(specs))]
    made = [Output(*each) for each in zip(names, values, specs, strict=True)]
    _check_apart(names, made)
    return made


def _check_apart(names: Sequence[str], made: Sequence[Output]) -> None:
    last, end = 0, 0
    spans = (
        (*span(each.array), index) for index, each in enumerate(made) if each.array is not None
    )
    for low, high, index in sorted(spans):
        if low < end and np.shares_memory(_array(made[last]), _array(made[index])):
            first, second = sorted((last, index))
            raise Fp8Error(f"{names[first]} and {names[second]} share memory")
        if high > end:
            last, end = index, high


def _array(output: Output) -> np.ndarray:
    assert output.array is not None
    return output.array


def span(array: np.ndarray) -> tuple[int, int]:
    """The addresses of its first byte and after its last one."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return (low, high) if array.size else (low, low)


def overlapping(arrays: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> list[bool]:
    """Whether the address range of each of `arrays` overlaps that of one of `others`."""
    spans = sorted(span(each) for each in others if each.size)
    lows = np.array([low for low, _ in spans], dtype=np.uint64)
    highs = np.maximum.accumulate(np.array([0, *(high for _, high in spans)], dtype=np.uint64))
    found: list[bool] = []
    for low, high in map(span, arrays):
        before = int(np.searchsorted(lows, np.uint64(high)))  # begin below `high`
        found.append(bool(low < high and int(highs[before]) > low))
    return found
