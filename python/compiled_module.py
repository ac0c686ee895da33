"""Native code called on numpy arrays, without MLIR, so that cached code starts at once."""

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from mlir_fp8.arrays import TensorSpec, is_masked, sound, spell
from mlir_fp8.errors import Fp8Error
from mlir_fp8.scalars import scalar_array

PREFIX = "fp8."
"""Before every function's name in native code, so that none is taken for one of the C library."""


class Code(Protocol):
    """What holds machine code: MLIR's `ExecutionEngine`, or `native.object_code.ObjectCode`."""

    def raw_lookup(self, func_name: str) -> int:
        """The address of a function in the packed calling convention, or 0."""
        ...


class CompiledModule:
    """Native code for one entry function.

    Calling it takes one array per argument, of exactly the declared shape and dtype (float8,
    bfloat16, i4 and i2 as ml_dtypes arrays; Python scalars where a rank-0 tensor is declared), and
    gives a tuple with one new array per result. C-contiguous arguments are used in place and never
    written.
    Calls from several threads are independent.
    """

    def __init__(
        self,
        code: Code,
        entry: str,
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
    ) -> None:
        self.entry = entry
        self.arguments = tuple(arguments)
        self.results = tuple(results)
        self._code = code  # owns the memory
        address = code.raw_lookup(PREFIX + entry)
        if not address:
            raise Fp8Error(f"entry function '{entry}' has no code")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def __call__(self, *arrays: Any) -> tuple[np.ndarray, ...]:
        if len(arrays) != len(self.arguments):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        inputs = [
            argument_array(index, spec, array)
            for index, (spec, array) in enumerate(zip(self.arguments, arrays, strict=True))
        ]
        outputs = [np.empty(spec.shape, spec.dtype) for spec in self.results]
        # Arrays without elements are not passed (drop-empty-arguments).
        buffers = [array for array in inputs + outputs if array.size]
        # The packed calling convention: an array of pointers to the arguments, themselves pointers.
        pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
        size = ctypes.sizeof(ctypes.c_void_p)
        start = ctypes.addressof(pointers)
        packed = (ctypes.c_void_p * len(buffers))(*(start + i * size for i in range(len(buffers))))
        self._function(ctypes.addressof(packed))
        return tuple(outputs)


def argument_array(index: int, spec: TensorSpec, array: Any) -> np.ndarray:
    """`array` as native code takes it; raises `Fp8Error` where it is not of the declared type."""
    if is_masked(array):
        raise Fp8Error(f"argument {index} is masked: fill it (numpy.ma.filled), or pass its data")
    if not isinstance(array, np.ndarray | np.generic):
        if spec.shape:
            raise Fp8Error(f"argument {index} is a {type(array).__name__}, not an array of {spec}")
        return scalar_array(f"argument {index}", spec.element, array)
    array = np.asarray(array)
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"argument {index} is {spell(array)}, declared {spec}")
    array = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return sound(f"argument {index}", array)
