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

    `pairs` are of an argument and a result; `buffers` are the arrays that native code reads. Raises
    `Fp8Error` where one cannot be written in place: read-only, not contiguous, or
    memory that another argument has too.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[int, int]],
        specs: Sequence[TensorSpec],
        arguments: Sequence[Any],
        buffers: Sequence[np.ndarray],
    ) -> None:
        self._pairs = pairs
        self._outputs = {
            number: _output(number, arguments[number], specs[number]) for number, _ in pairs
        }
        for number, output in self._outputs.items():
            if output.array is None or output.array.ctypes.data != buffers[number].ctypes.data:
                raise Fp8Error(f"argument {number} is donated, and has no memory to write to")
        _check_apart([number for number, _ in pairs], buffers)

    def given(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """All results: `results`, and between them what was donated."""
        merged = list(results)
        for argument, result in sorted(self._pairs, key=lambda pair: pair[1]):
            self._outputs[argument].note_written()
            merged.insert(result, self._outputs[argument].value)
        return tuple(merged)


def _output(number: int, value: Any, spec: TensorSpec) -> Output:
    what = f"argument {number} is donated, and"
    if getattr(value, "requires_grad", False):
        raise Fp8Error(f"{what} requires gradients: donate what is detached")
    output = Output(what, value, spec)
    if not output.takes_directly() and output.array is not None:
        raise Fp8Error(f"{what} is not C-contiguous and aligned: donate a copy")
    return output


def _check_apart(numbers: Sequence[int], buffers: Sequence[np.ndarray]) -> None:
    """No donated buffer is another argument's too."""
    donated = set(numbers)
    starts = [(address_of(each), each.nbytes, number) for number, each in enumerate(buffers)]
    end = end_of_donated = 0
    for start, size, number in sorted(starts):
        if size and start < (end if number in donated else end_of_donated):
            what = "an argument is donated, and another argument has its memory"
            raise Fp8Error(f"{what} (argument {number} is one of the two)")
        end = max(end, start + size)
        if number in donated:
            end_of_donated = max(end_of_donated, start + size)
