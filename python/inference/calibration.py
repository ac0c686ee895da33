"""Calibration: the scales of activations from sample batches."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.thresholds import least_error, percentile
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.observers import observe
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded

_PERCENTILE = re.compile(r"percentile=(\d+(?:\.\d+)?)")
_LEAST_SCALE = np.float32(2.0**-126)
Progress = Callable[[int, int | None], Any]


class Calibration:
    """What the products of a module take, seen on sample batches; `StaticScaling` has it as scales.

    `observer` says which magnitude a format's largest number is to hold:

    - "max": the largest that was seen;
    - "percentile=99.99": that share of all elements is no larger;
    - "mse": that by which the squared error of what was seen is least.

    `per` is "tensor", or with "max" "channel": one scale for each element that is summed. `weights`
    are those that `mlir_fp8.quantize` will get: tensors are then what they are multiplied by.
    """

    @public
    def __init__(
        self,
        module: ir.Module | str | Path | bytes,
        *,
        weights: Sequence[str] | str = (),
        observer: str = "max",
        per: str = "tensor",
        entry: str = "main",
    ) -> None:
        self.observer, self.per = observer, per
        self._share = _share(observer)
        if per not in ("tensor", "channel") or (per == "channel" and observer != "max"):
            raise Fp8Error(f"per is '{per}': it is tensor, or channel with the observer max")
        patterns = [weights] if isinstance(weights, str) else list(weights)
        held = dense_copy(loaded(module), make_context(), "module")
        ArithConstantToStablehlo().run(held.operation)
        self._names = own_names(find_entry(held.operation, entry))
        self._seen = observe(held.operation, entry, patterns, per=per, histogram=observer != "max")
        if not self._seen:
            raise Fp8Error(
                "no product takes a tensor to calibrate: name weights that products read"
            )
        self._compiled = compile_module(held, entry=entry)
        self._entry = entry
        specs = self._compiled.arguments[len(self._names) :]
        self._state = [np.zeros(spec.shape, element_dtype(spec.element)) for spec in specs]
        self.batches = 0

    @public
    def run(
        self,
        batches: Iterable[Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        progress: bool | Progress = False,
    ) -> "Calibration":
        """Run the module on `batches`, and keep what its products took.

        A batch is an array, or a sequence of them: the arguments that `parameters`, arrays by
        name, does not have. `progress` prints a line for each batch on stderr, or is called with
        how many are done, and how many there are, None where that is not known.
        """
        given = {name: detached(each) for name, each in (parameters or {}).items()}
        unknown = [name for name in given if name not in self._names]
        if unknown:
            raise Fp8Error(f"no argument is named '{unknown[0]}'")
        free = [name for name in self._names if name not in given]
        total = len(batches) if isinstance(batches, Sized) else None
        count = len(self._compiled.results) - len(self._state)
        for number, batch in enumerate(batches, 1):
            arrays = list(batch) if isinstance(batch, tuple | list) else [batch]
            if len(arrays) != len(free):
                names = ", ".join(free) or "none"
                raise Fp8Error(f"batch {number} has {len(arrays)} arrays, of arguments: {names}")
            rest = iter(arrays)
            own = [given[name] if name in given else next(rest) for name in self._names]
            outputs = self._compiled(*own, *self._state, as_="numpy")
            self._keep(list(outputs[count:]), number)
            self.batches += 1
            if progress:
                (progress if callable(progress) else _print)(number, total)
        return self

    def _keep(self, state: list[np.ndarray], number: int) -> None:
        for seen, largest in zip(self._seen, state[::2], strict=True):
            if not np.isfinite(largest).all():
                reason = f"is infinite or NaN in batch {number}"
                raise Fp8Error(f"tensor '{seen.name}' {reason}: leave the batch out")
        self._state = state

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """The largest magnitude seen of each tensor, f32: one number, or one for each channel."""
        return {
            each.name: self._state[2 * number].reshape(each.shape)
            for number, each in enumerate(self._seen)
        }

    def scale_of(self, names: Sequence[str], format_: str = "f8E4M3FN") -> np.ndarray | None:
        """The scale of the tensor of one of `names`, f32; None where none has such a name."""
        if not self.batches:
            raise Fp8Error("the calibration has seen no batch: run it")
        for number, each in enumerate(self._seen):
            if not {each.name, *each.aliases}.isdisjoint(names):
                largest, counts = self._state[2 * number : 2 * number + 2]
                scale = self._threshold(largest, counts, format_) / np.float32(
                    float(FORMATS[format_].max)
                )
                return np.where(scale >= _LEAST_SCALE, scale, np.float32(1)).astype(np.float32)
        return None

    def _threshold(self, largest: np.ndarray, counts: np.ndarray, format_: str) -> np.ndarray:
        if self.observer == "max":
            return largest
        if self._share is not None:
            return np.asarray(np.minimum(percentile(counts, self._share), largest))
        return np.asarray(least_error(counts, float(largest), format_))


def _share(observer: str) -> float | None:
    """The share of a percentile, of 1; None of other observers."""
    if observer in ("max", "mse"):
        return None
    found = _PERCENTILE.fullmatch(observer)
    if found is None or not 0 < float(found[1]) <= 100:
        raise Fp8Error(f"observer is '{observer}': it is max, mse or percentile=99.99")
    return float(found[1]) / 100


def detached(array: Any) -> Any:
    """A parameter of PyTorch without its gradients; any other array itself."""
    return array.detach() if hasattr(array, "detach") else array


def _print(done: int, total: int | None) -> None:
    print(f"calibrated on {done}{'' if total is None else f' of {total}'} batches", file=sys.stderr)
