"""Native code called on numpy arrays; imports no MLIR, so that cached code starts at once."""

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

import numpy as np
from numpy import empty, ndarray  # names of this file's own: looked up for each array of a call

from mlir_fp8.arrays.address import address_of
from mlir_fp8.arrays.scalars import scalar_array
from mlir_fp8.arrays.tensor_specs import TensorSpec, has_only_codes, is_masked, sound, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.base.symbols import PREFIX

if TYPE_CHECKING:
    import jax  # pyright: ignore[reportMissingImports]
    import torch  # pyright: ignore[reportMissingImports]

    from mlir_fp8.tensors.donation import Donation
    from mlir_fp8.tensors.jax_donation import JaxDonors
    from mlir_fp8.tensors.results import Results

Array = TypeVar("Array")
_PLAIN = (np.ndarray, np.generic, int, float, complex)
"""Arguments whose results are numpy arrays."""


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

    Arguments are numpy arrays, torch tensors, JAX arrays or anything with DLPack, on the CPU.
    Results are torch tensors or JAX arrays where an argument is one, else numpy arrays; `as_`,
    "numpy", "torch" or "jax", says which they are whatever the arguments are. `out`, an array or
    tensor per result (or the only one), takes the results and is returned; it may overlap
    arguments. Tensors that require gradients are detached, with a `DetachedWarning`.

    Where arguments were donated, `donated` has the number of each and of the result that it
    becomes: that result is the array or tensor that was given, overwritten. It has to be
    C-contiguous and writable, and to share no memory with another argument; `out` has only the
    other results. A JAX array is deleted, as `jax.jit` deletes what is donated to it, and the
    result is a new one with its memory.
    Calls from several threads are independent.
    """

    def __init__(
        self,
        code: Code,
        entry: str,
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
        donated: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.entry = entry
        self.arguments: tuple[TensorSpec, ...] = tuple(arguments)
        self.results: tuple[TensorSpec, ...] = tuple(results)
        self.donated: tuple[tuple[int, int], ...] = tuple(donated)
        self._code = code  # owns the memory
        address = code.raw_lookup(PREFIX + entry)
        if not address:
            raise Fp8Error(f"entry function '{entry}' has no code")
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        self._expected = [(spec, spec.dtype, has_only_codes(spec.dtype)) for spec in arguments]
        taken = {result for _, result in donated}
        self._new = [spec for number, spec in enumerate(results) if number not in taken]
        self._made = [(spec.shape, spec.dtype) for spec in self._new]
        specs = [*arguments, *self._new]
        # Arrays without elements are not passed (drop-empty-arguments).
        self._passed = [i for i, spec in enumerate(specs) if math.prod(spec.shape)]
        self._frames: list[_Frame] = []
        self._apart: list[int] = []

    @overload
    def __call__(
        self, *arrays: np.ndarray | np.generic | complex, as_: None = None, out: None = None
    ) -> tuple[np.ndarray, ...]: ...
    @overload
    def __call__(
        self, *arrays: Any, as_: Literal["numpy"], out: None = None
    ) -> tuple[np.ndarray, ...]: ...
    @overload
    def __call__(
        self, *arrays: Any, as_: Literal["torch"], out: None = None
    ) -> "tuple[torch.Tensor, ...]": ...  # pyright: ignore[reportAttributeAccessIssue]
    @overload
    def __call__(
        self, *arrays: Any, as_: Literal["jax"], out: None = None
    ) -> "tuple[jax.Array, ...]": ...
    @overload
    def __call__(
        self, *arrays: Any, as_: None = None, out: Sequence[Array]
    ) -> tuple[Array, ...]: ...
    @overload
    def __call__(self, *arrays: Any, as_: None = None, out: Any = None) -> tuple[Any, ...]: ...

    def __call__(self, *arrays: Any, as_: Any = None, out: Any = None) -> tuple[Any, ...]:
        if len(arrays) != len(self._expected):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        if self.donated:
            from mlir_fp8.tensors.jax_donation import jax_donors

            if donors := jax_donors(self.donated, self.arguments, arrays):
                return self._on_donors(donors, arrays, as_, out)
        buffers: list[np.ndarray] = []
        is_plain = as_ is None and out is None
        for array, (spec, dtype, is_sound) in zip(arrays, self._expected, strict=True):
            if not (
                is_sound
                and type(array) is ndarray
                and array.dtype == dtype
                and array.shape == spec.shape
                and (flags := array.flags).c_contiguous
                and flags.aligned
            ):
                is_plain = is_plain and isinstance(array, _PLAIN)
                array = argument_array(len(buffers), spec, array)
            buffers.append(array)
        addresses = [address_of(each) for each in buffers]
        donation = self._donation(arrays, buffers, addresses) if self.donated else None
        results = None if is_plain else self._results(arrays, buffers, as_, out)
        if results is None:
            outputs = tuple([empty(shape, dtype) for shape, dtype in self._made])
        else:
            outputs = results.arrays
        addresses += [address_of(each) for each in outputs]
        self.run_on([addresses[i] for i in self._passed])
        given = outputs if results is None else results.given()
        return given if donation is None else donation.given(given)

    def _on_donors(
        self, donors: "JaxDonors", arrays: Sequence[Any], as_: Any, out: Any
    ) -> tuple[Any, ...]:
        """A call whose donated JAX arrays go once all other arguments are as declared."""
        from mlir_fp8.tensors.foreign import result_kind

        kind = result_kind(as_, arrays) if out is None else as_
        for number in donors.others(len(arrays)):
            argument_array(number, self.arguments[number], arrays[number])
        return donors.given(self(*donors.taken(arrays), as_=kind, out=out))

    def run_on(self, addresses: list[int]) -> None:
        """Run on memory of the caller's: C-contiguous, aligned, and of what is declared.

        `addresses` are those of the arguments and then the results that have elements, without
        those that donated arguments become; what is written overlaps nothing.
        """
        try:  # a frame is one call's at a time; calls at once make more of them
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(len(self._passed))
        frame.fill(addresses)
        self._function(frame.start)
        self._frames.append(frame)

    def _results(
        self, arrays: Sequence[Any], buffers: Sequence[np.ndarray], as_: Any, out: Any
    ) -> "Results":
        from mlir_fp8.tensors.results import Results

        return Results(self._new, arrays, buffers, out, as_)

    def _donation(
        self, arrays: Sequence[Any], buffers: list[np.ndarray], addresses: list[int]
    ) -> "Donation":
        from mlir_fp8.tensors.donation import Donation

        # Sizes are declared: what was apart at these addresses is apart again.
        is_apart = addresses == self._apart
        parts = self.donated, self.arguments, arrays, buffers, addresses
        donation = Donation(*parts, is_apart=is_apart)
        if not is_apart:
            self._apart = addresses[:]
        return donation


class _Frame:
    """The memory of MLIR's packed calling convention: an array of pointers to the arguments, which
    are pointers."""

    def __init__(self, count: int) -> None:
        pointers = ctypes.c_void_p * count
        self._arguments = pointers()
        size, first = ctypes.sizeof(ctypes.c_void_p), ctypes.addressof(self._arguments)
        self._packed = pointers(*(first + i * size for i in range(count)))
        self._pack = struct.Struct(f"{count}P").pack_into
        self.start = ctypes.addressof(self._packed)

    def fill(self, arguments: list[int]) -> None:
        self._pack(self._arguments, 0, *arguments)


def argument_array(index: int, spec: TensorSpec, array: Any) -> np.ndarray:
    """`array` as native code takes it; raises `Fp8Error` where it is not of the declared type."""
    if is_masked(array):
        raise Fp8Error(f"argument {index} is masked: fill it (numpy.ma.filled), or pass its data")
    if not isinstance(array, np.ndarray | np.generic):
        from mlir_fp8.tensors.foreign import as_array

        array = as_array(f"argument {index}", array)
    if not isinstance(array, np.ndarray | np.generic):
        if spec.shape:
            raise Fp8Error(f"argument {index} is a {type(array).__name__}, not an array of {spec}")
        return scalar_array(f"argument {index}", spec.element, array)
    array = np.asarray(array)
    if array.dtype != spec.dtype or array.shape != spec.shape:
        raise Fp8Error(f"argument {index} is {spell(array)}, declared {spec}")
    array = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
    return sound(f"argument {index}", array)
