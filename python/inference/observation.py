"""A module that keeps, from call to call, what it sees of its tensors."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.lowering.fp8.scaling.observers import Observed

Progress = Callable[[int, int | None], Any]


class Observation:
    """Runs of a module whose last arguments and results are what it has `seen`, two for each.

    `names` are those of all arguments before. The first of two is the largest magnitude, f32, the
    second counts.
    """

    def __init__(
        self, module: ir.Module, entry: str, names: Sequence[str], seen: Sequence[Observed]
    ) -> None:
        self.seen, self._names = seen, names
        self._compiled = compile_module(module, entry=entry)
        specs = self._compiled.arguments[len(names) :]
        self.state = [np.zeros(spec.shape, element_dtype(spec.element)) for spec in specs]
        self.batches = 0

    def run(
        self,
        batches: Iterable[Any],
        parameters: Mapping[str, Any] | None,
        progress: bool | Progress,
    ) -> None:
        """Run the module on `batches`, see `Calibration.run`."""
        given = {name: detached(each) for name, each in (parameters or {}).items()}
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise Fp8Error(f"no argument is named '{unknown[0]}'")
        free = [name for name in self._names if name not in given]
        total = len(batches) if isinstance(batches, Sized) else None
        count = len(self._compiled.results) - len(self.state)
        for number, batch in enumerate(batches, 1):
            arrays = list(batch) if isinstance(batch, tuple | list) else [batch]
            if len(arrays) != len(free):
                names = ", ".join(free) or "none"
                raise Fp8Error(f"batch {number} has {len(arrays)} arrays, of arguments: {names}")
            rest = iter(arrays)
            own = [given[name] if name in given else next(rest) for name in self._names]
            outputs = self._compiled(*own, *self.state, as_="numpy")
            self._keep(list(outputs[count:]), number)
            self.batches += 1
            if progress:
                (progress if callable(progress) else _print)(number, total)

    def _keep(self, state: list[np.ndarray], number: int) -> None:
        for seen, largest in zip(self.seen, state[::2], strict=True):
            if not np.isfinite(largest).all():
                reason = f"is infinite or NaN in batch {number}"
                raise Fp8Error(f"tensor '{seen.name}' {reason}: leave the batch out")
        self.state = state

    def largest(self, number: int) -> np.ndarray:
        """The largest magnitudes of the tensor `number` of those seen."""
        return self.state[2 * number].reshape(self.seen[number].shape)


def detached(array: Any) -> Any:
    """A parameter of PyTorch without its gradients; any other array itself."""
    return array.detach() if hasattr(array, "detach") else array


def _print(done: int, total: int | None) -> None:
    print(f"calibrated on {done}{'' if total is None else f' of {total}'} batches", file=sys.stderr)
