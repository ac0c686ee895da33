"""Destinations of a call's results, where these are not new numpy arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.tensors.foreign import Kind, check_kind, given_as, result_kind
from mlir_fp8.tensors.outputs import outputs, overlapping


class Results:
    """Arrays for native code to write, and what callers are given for them.

    `read` are the arrays that are read meanwhile: no result is written over them.
    """

    def __init__(
        self,
        specs: Sequence[TensorSpec],
        arguments: Sequence[Any],
        read: Sequence[np.ndarray],
        out: Any,
        as_: Any,
    ) -> None:
        self._kind: Kind = "numpy"
        self._outputs = None
        if out is None:
            self._kind = result_kind(as_, arguments)
            for index, spec in enumerate(specs):
                check_kind(self._kind, f"result {index}", spec)
            self.arrays = tuple([np.empty(spec.shape, spec.dtype) for spec in specs])
            return
        if as_ is not None:
            raise Fp8Error("out and as_ are both given: results are what out is")
        self._outputs = outputs(out, specs)
        direct = [each.array if each.takes_directly() else None for each in self._outputs]
        is_read = iter(overlapping([each for each in direct if each is not None], read))
        self.arrays = tuple(
            [
                np.empty(spec.shape, spec.dtype) if array is None or next(is_read) else array
                for spec, array in zip(specs, direct, strict=True)
            ]
        )

    def given(self) -> tuple[Any, ...]:
        """What callers get, once the arrays are written."""
        if self._outputs is None:
            named = enumerate(self.arrays)
            return tuple([given_as(self._kind, f"result {i}", array) for i, array in named])
        for output, array in zip(self._outputs, self.arrays, strict=True):
            output.store(array)
            output.note_written()
        return tuple([output.value for output in self._outputs])
