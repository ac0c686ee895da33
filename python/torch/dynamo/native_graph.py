"""A graph of static sizes as native code that is called on the memory of torch tensors."""

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.torch.dynamo.results import Given
from mlir_fp8.torch.dynamo.specializing import Static
from mlir_fp8.torch.tensors import numpy_dtype

Memory = tuple[tuple[int, ...], tuple[int, ...], torch.dtype]
"""Sizes, strides and dtype of a tensor."""

# What inductor's code makes its buffers by: a tenth of the time.
_empty: Any = getattr(
    getattr(torch._C._dynamo, "guards", None), "_empty_strided_cpu", torch.empty_strided
)


class ScalingState:
    """Scales and histories of a graph by name, which each call reads and replaces.

    Arrays are f32. Calls from several threads take turns.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.lock = threading.Lock()


class NativeGraph:
    """Calls `compiled`, which takes of what `static` takes `takes`, and then `state`.

    That is None where nothing is computed. `takes` has the places among placeholders that are
    passed, and the memory that they are to have. `gives` has for each result how it comes, or the
    number of a computed one, whose memory is in `made`. A call has `count` arguments. Those whose
    conjugate or negative bit may be set are resolved (`resolves`).
    """

    def __init__(
        self,
        static: Static,
        compiled: CompiledModule | None,
        takes: Sequence[tuple[int, Memory]],
        gives: Sequence[Given | int],
        made: Sequence[Memory],
        state: ScalingState,
        names: Sequence[str],
        *,
        count: int,
        resolves: bool,
        is_backward: bool,
    ) -> None:
        if compiled is not None:
            _check_declared(compiled, [each for _, each in takes], made, len(names))
        self._static = static
        self._run = compiled.run_on if compiled is not None else _compute_nothing
        self._takes = [
            (place, strides, dtype.itemsize - 1, resolves or dtype.is_complex)
            for place, (sizes, strides, dtype) in takes
            if math.prod(sizes)
        ]
        self._masks = [
            place for place, (_, _, dtype) in takes if dtype == torch.bool and not is_backward
        ]
        self._gives = list(gives)
        self._only_made = list(gives) == list(range(len(made)))
        self._made = list(made)
        self._with_elements = [i for i, (sizes, _, _) in enumerate(made) if math.prod(sizes)]
        self._all_have_elements = len(self._with_elements) == len(made)
        self._state, self._names = state, list(names)
        are_tensors = static.taken == tuple(range(count)) and not static.draws
        self._is_all = are_tensors and not static.constants

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        """The results for the arguments of the graph that AOTAutograd made."""
        tensors = args if self._is_all else self._tensors(args)
        kept: list[Tensor] = []
        addresses: list[int] = []
        for place, strides, odd, resolves in self._takes:
            tensor = tensors[place]
            if resolves and (tensor.is_conj() or tensor.is_neg()):
                tensor = tensor.resolve_conj().resolve_neg()
                kept.append(tensor)
            address = tensor.data_ptr()
            if tensor.stride() != strides or address & odd:
                tensor = _copied(tensor, strides)
                kept.append(tensor)
                address = tensor.data_ptr()
            addresses.append(address)
        if self._masks:
            _check_masks(tensors, self._masks)
        made = [_empty(sizes, strides, dtype) for sizes, strides, dtype in self._made]
        if self._names:
            self._run_with_state(addresses, self._addresses(made))
        else:
            self._run(addresses + self._addresses(made))
        if self._only_made:
            return made
        return [made[each] if type(each) is int else each(tensors) for each in self._gives]

    def _tensors(self, args: Sequence[Any]) -> list[Tensor]:
        static = self._static
        tensors = [args[i] for i in static.taken]
        tensors += [draw(args) for draw in static.draws]
        tensors += static.constants
        return tensors

    def _addresses(self, made: Sequence[Tensor]) -> list[int]:
        if self._all_have_elements:
            return [each.data_ptr() for each in made]
        return [made[i].data_ptr() for i in self._with_elements]

    def _run_with_state(self, arguments: list[int], results: list[int]) -> None:
        state = self._state
        with state.lock:
            before = [state.arrays[name] for name in self._names]
            after = [np.empty_like(each) for each in before]
            self._run(
                arguments
                + [each.ctypes.data for each in before]
                + results
                + [each.ctypes.data for each in after]
            )
            state.arrays.update(zip(self._names, after, strict=True))


def begin(state: ScalingState, initial: Mapping[str, np.ndarray]) -> None:
    """Enter what `state` has not: the arrays of before the first step, by name."""
    with state.lock:
        for name, array in initial.items():
            held = state.arrays.setdefault(name, np.array(array, order="C"))
            if held.shape != array.shape:
                raise Fp8Error(f"the state '{name}' is of {held.shape}, not {array.shape}")


def _compute_nothing(_: list[int]) -> None:
    pass


def _copied(tensor: Tensor, strides: tuple[int, ...]) -> Tensor:
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def _check_masks(tensors: Sequence[Tensor], places: Sequence[int]) -> None:
    for place in places:
        mask = tensors[place]
        if mask.numel() and mask.view(torch.uint8).max() > 1:
            raise Fp8Error(f"argument {place} is of booleans with other bytes than 0 and 1")


def _check_declared(
    compiled: CompiledModule, taken: Sequence[Memory], made: Sequence[Memory], count: int
) -> None:
    """Hold memory to what the code was compiled for: nothing else would, in a call."""
    for specs, memories in ((compiled.arguments, taken), (compiled.results, made)):
        own = specs[: len(specs) - count]
        assert len(own) == len(memories), f"{len(own)} declared, {len(memories)} passed"
        for spec, (sizes, _, dtype) in zip(own, memories, strict=True):
            assert spec.dtype == numpy_dtype(dtype), f"declared {spec}, passed {dtype}"
            assert math.prod(spec.shape) == math.prod(sizes), f"declared {spec}, passed {sizes}"
