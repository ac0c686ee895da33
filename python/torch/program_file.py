"""The program of a `.pt2` file for the tools: its module, its weights, its open sizes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from torch.utils import _pytree as pytree

from mlir_fp8.base.errors import Fp8Error, InternalError
from mlir_fp8.base.source_place import split_place
from mlir_fp8.torch.calls import signature_of
from mlir_fp8.torch.program import program_of
from mlir_fp8.torch.pt2 import quietly, read_exported, state_arrays
from mlir_fp8.torch.tensors import to_torch
from mlir_fp8.torch.translation import translated, translated_for

if TYPE_CHECKING:
    from torch_mlir import ir


class ProgramFile:
    """The program in `data`, which the file `name` holds.

    `module` is its StableHLO, for the sizes of the example inputs where sizes are open; `state`
    its weights, buffers and constants by name, in the order of the arguments of `main`.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._name = name
        self._exported = read_exported(data, name)
        with quietly(), self._naming():
            program = program_of(self._exported)
            self._signature = signature_of(self._exported, program.arguments)
            self.state = state_arrays(program)
            self.module: ir.Module = translated(self._exported)[1]

    @property
    def is_open(self) -> bool:
        """Whether sizes of inputs may be others than those of the examples."""
        return self._signature.is_open

    def module_for(self, arrays: Sequence[np.ndarray]) -> "ir.Module":
        """The StableHLO for inputs of the sizes of `arrays`, one for each tensor, in order."""
        tensors = iter([to_torch(array) for array in arrays])
        leaves = [
            leaf.constant if leaf.dtype is None else next(tensors)
            for leaf in self._signature.leaves_
        ]
        with quietly(), self._naming():
            self._signature.check_shapes(leaves)
            args, kwargs = pytree.tree_unflatten(leaves, self._signature.in_spec)
            return translated_for(self._exported, args, kwargs)[1]

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Refusals without a place are of the file."""
        try:
            yield
        except InternalError:
            raise
        except Fp8Error as error:
            if split_place(str(error))[0] is not None:
                raise
            raise Fp8Error(f"{self._name}: {error}") from None
