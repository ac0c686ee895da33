"""A module compiled by XLA, called on arrays of any library."""

import contextlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.tensors.foreign import given_as, kind_of
from mlir_fp8.xla.arguments import is_placed, is_shared, placed
from mlir_fp8.xla.device_array import DeviceArray
from mlir_fp8.xla.failures import one_line, reason_of

Given = Literal["device", "numpy", "torch", "jax"]
_KINDS = ("device", "numpy", "torch", "jax")


class XlaModule:
    """An entry function that XLA has compiled for one device.

    Calling it takes one array per argument, of exactly the declared shape and dtype: numpy arrays
    and Python scalars, which are brought to the device; JAX arrays, torch tensors, results of other
    calls and anything with DLPack, which are not copied where they are on it. It returns at once,
    while the device computes: several calls may be in flight. Only on the CPU a call with arrays
    that their owner may write to (of numpy, of torch) returns when it is done with them; a tensor
    of torch on a GPU must not be written to before the results are there.

    Results are `DeviceArray`s on the device, JAX arrays or torch tensors there where an argument is
    one; `as_`, "device", "numpy", "jax" or "torch", says which they are whatever the arguments are.
    What was donated is gone after the call: JAX arrays and results of other calls are taken in
    place, all other arguments are copied first and stay what they are.
    Calls from several threads are independent.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        hlo: Callable[[], str],
        device: Any,
        device_name: str,
        entry: str,
        arguments: Sequence[TensorSpec],
        results: Sequence[TensorSpec],
        donated: Sequence[tuple[int, int]] = (),
        *,
        needs_x64: bool = True,
    ) -> None:
        self.entry = entry
        self._needs_x64 = needs_x64
        self.arguments: tuple[TensorSpec, ...] = tuple(arguments)
        self.results: tuple[TensorSpec, ...] = tuple(results)
        self.donated: tuple[tuple[int, int], ...] = tuple(donated)
        self.device = device_name
        """`cpu:0`, `gpu:1`."""
        self._function = function
        self._hlo = hlo
        self._device = device
        self._given = {number for number, _ in donated}
        self._types = [(each.dtype, each.shape) for each in self.arguments]

    @public
    def __call__(self, *arrays: Any, as_: Given | None = None) -> tuple[Any, ...]:
        if as_ in (None, "jax") and self._are_placed(arrays):
            self._check_apart(arrays)
            with one_line(f"'{self.entry}'", self.device):
                return tuple(self._function(*arrays))
        kind = _kind(as_, arrays)
        if len(arrays) != len(self.arguments):
            raise Fp8Error(
                f"'{self.entry}' takes {len(self.arguments)} arguments, {len(arrays)} were given"
            )
        self._check_apart(arrays)
        import jax  # pyright: ignore[reportMissingImports]

        # Without it, 64-bit arrays of the host become 32-bit ones in silence.
        with jax.enable_x64(True) if self._needs_x64 else contextlib.nullcontext():
            buffers = [
                placed(
                    f"argument {number}",
                    spec,
                    array,
                    self._device,
                    is_donated=number in self._given,
                )
                for number, (spec, array) in enumerate(zip(self.arguments, arrays, strict=True))
            ]
            with one_line(f"'{self.entry}'", self.device):
                results = self._function(*buffers)
                if self._device.platform == "cpu" and any(map(is_shared, arrays)):
                    jax.block_until_ready(results)
        return tuple(map(self._converted(kind), range(len(results)), results))

    def _are_placed(self, arrays: Sequence[Any]) -> bool:
        """Whether all are arrays of JAX that XLA can take: the common case, checked first."""
        if self._needs_x64 or not arrays or len(arrays) != len(self._types):
            return False
        device = self._device
        return all(
            is_placed(array, dtype, shape, device)
            for array, (dtype, shape) in zip(arrays, self._types, strict=True)
        )

    @property
    def optimized_hlo(self) -> str:
        """The text of the HLO that XLA made of the module, as `mlir_fp8.explain` reads it."""
        return self._hlo()

    def _check_apart(self, arrays: Sequence[Any]) -> None:
        """No donated array is given twice; of those that are copied, it may be."""
        own = [array.jax if isinstance(array, DeviceArray) else array for array in arrays]
        for number in self._given:
            for other, array in enumerate(own):
                if other != number and array is own[number] and kind_of(array) == "jax":
                    raise Fp8Error(f"argument {number} is donated, and argument {other} is it too")

    def _converted(self, kind: Given) -> Any:
        def convert(number: int, array: Any) -> Any:
            if kind == "jax":
                return array
            result = DeviceArray(array, self.results[number], self.device)
            if kind == "device":
                return result
            if kind == "numpy":
                return result.to_numpy()
            return _as_torch(f"result {number}", result)

        return convert


def _kind(as_: Any, arrays: Sequence[Any]) -> Given:
    if as_ is not None:
        if as_ not in _KINDS:
            raise Fp8Error(f"as_ is {as_!r}: give one of {', '.join(_KINDS)}")
        return as_
    kinds: set[Given] = {kind for kind in map(kind_of, arrays) if kind != "numpy"}
    if len(kinds) > 1:
        raise Fp8Error("arguments are torch tensors and JAX arrays: say which results are, as_=")
    return kinds.pop() if kinds else "device"


def _as_torch(what: str, result: DeviceArray) -> Any:
    from mlir_fp8.torch.tensors import torch_dtype

    torch: Any = import_module("torch")
    is_on_cpu = result.device.startswith("cpu")
    try:
        tensor = torch.from_dlpack(result)
        if tensor.dtype == torch_dtype(what, result.dtype, result.shape):
            return tensor
        reason = f"it makes {tensor.dtype} of it"
    except Fp8Error:
        raise
    except Exception as error:  # types that DLPack, jax or this torch has not
        reason = reason_of(error, result.device)
    if is_on_cpu:  # by way of numpy, which copies
        return given_as("torch", what, result.to_numpy())
    raise Fp8Error(f"{what} is {result!r}, which torch does not take: {reason}")
