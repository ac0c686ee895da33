"""How far the results of a module with flags are from those with none of them set."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.values import wide
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.compiling.compiled_module import CompiledModule
from mlir_fp8.inference.observation import detached


class Measurement:
    """A module that takes flags after arguments of `names`, compiled once.

    Each of `batches` has the arguments that `parameters`, arrays by name, does not have.
    """

    def __init__(
        self,
        module: ir.Module,
        names: Sequence[str],
        entry: str,
        batches: Sequence[Any],
        parameters: Mapping[str, Any] | None,
    ) -> None:
        self._code = compile_module(module, entry=entry)
        given = {name: detached(each) for name, each in (parameters or {}).items()}
        self._batches = [_bound(names, given, batch) for batch in batches]
        if not self._batches:
            raise Fp8Error("there is no batch to measure on: give one")
        none = np.zeros(self._code.arguments[-1].shape, bool)
        self._wide = [self._results(none, each) for each in self._batches]

    def _results(self, flags: np.ndarray, arguments: Sequence[Any]) -> list[np.ndarray]:
        return _floats(self._code, self._code(*arguments, flags, as_="numpy"))

    def of(self, flags: np.ndarray) -> tuple[float, tuple[float, ...]]:
        """The SQNR in dB of all float results with these flags, and that of each batch alone."""
        parts: list[tuple[float, float]] = []
        for arguments, expected in zip(self._batches, self._wide, strict=True):
            signal = noise = 0.0
            for got, want in zip(self._results(flags, arguments), expected, strict=True):
                signal += float(np.square(want).sum())
                noise += float(np.square(got - want).sum())
            parts.append((signal, noise))
        signal, noise = map(sum, zip(*parts, strict=True))
        return _decibel(signal, noise), tuple(_decibel(*each) for each in parts)


def _decibel(signal: float, noise: float) -> float:
    if math.isnan(noise):
        return -math.inf
    return 10 * math.log10(signal / noise) if noise and signal else math.inf


def _bound(names: Sequence[str], given: Mapping[str, Any], batch: Any) -> list[Any]:
    arrays = list(batch) if isinstance(batch, tuple | list) else [batch]
    free = [name for name in names if name not in given]
    if len(arrays) != len(free):
        raise Fp8Error(
            f"a batch has {len(arrays)} arrays, of arguments: {', '.join(free) or 'none'}"
        )
    rest = iter(arrays)
    return [given[name] if name in given else next(rest) for name in names]


def _floats(code: CompiledModule, results: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The float results, in f64."""
    pairs = zip(code.results, results, strict=True)
    found = [wide(array) for spec, array in pairs if spec.element.startswith(("f", "bf"))]
    if not found:
        raise Fp8Error("the module gives no floats, of which an SQNR could be measured")
    return found
