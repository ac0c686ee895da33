"""Arguments of a call that its results overwrite."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_fp8.arrays.address import address_of
from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.outputs import Output


class Donation:
    """The donated arguments of a call, in place of their results.

    `pairs` are of an argument and a result; `buffers` are the arrays that native code reads, and
    `starts` their addresses, which `is_apart` says are known to be apart. Raises `Fp8Error` where
    one cannot be written in place: read-only, not contiguous, or memory that another argument has
    too.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[int, int]],
        specs: Sequence[TensorSpec],
        arguments: Sequence[Any],
        buffers: Sequence[np.ndarray],
        starts: Sequence[int],
        *,
        is_apart: bool,
    ) -> None:
        self._pairs = pairs
        self._arguments = arguments
        self._outputs: list[Output] = []
        for number, _ in pairs:
            if _is_plain(arguments[number], buffers[number]):
                continue
            output = _output(number, arguments[number], specs[number])
            if output.array is None or address_of(output.array) != starts[number]:
                raise Fp8Error(f"argument {number} is donated, and has no memory to write to")
            self._outputs.append(output)
        if not is_apart:
            _check_apart([number for number, _ in pairs], buffers, starts)

    def given(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """All results: `results`, and between them what was donated."""
        merged = list(results)
        for output in self._outputs:
            output.note_written()
        for argument, result in sorted(self._pairs, key=lambda pair: pair[1]):
            merged.insert(result, self._arguments[argument])
        return tuple(merged)


def _is_plain(value: Any, buffer: np.ndarray) -> bool:
    """Whether an argument is an array that is read, and may be written, where it is."""
    if value is not buffer or type(value) is not np.ndarray:
        return False
    flags = buffer.flags
    return flags.c_contiguous and flags.aligned and flags.writeable


def _output(number: int, value: Any, spec: TensorSpec) -> Output:
    what = f"argument {number} is donated, and"
    if getattr(value, "requires_grad", False):
        raise Fp8Error(f"{what} requires gradients: donate what is detached")
    output = Output(what, value, spec)
    if not output.takes_directly() and output.array is not None:
        raise Fp8Error(f"{what} is not C-contiguous and aligned: donate a copy")
    return output


def _check_apart(
    numbers: Sequence[int], buffers: Sequence[np.ndarray], starts: Sequence[int]
) -> None:
    """No donated buffer is another argument's too."""
    donated = set(numbers)
    places = [
        (start, each.nbytes, number)
        for number, (start, each) in enumerate(zip(starts, buffers, strict=True))
    ]
    end = end_of_donated = 0
    for start, size, number in sorted(places):
        if size and start < (end if number in donated else end_of_donated):
            what = "an argument is donated, and another argument has its memory"
            raise Fp8Error(f"{what} (argument {number} is one of the two)")
        end = max(end, start + size)
        if number in donated:
            end_of_donated = max(end_of_donated, start + size)
