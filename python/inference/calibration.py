"""Calibration: the scales of activations from sample batches."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.observation import Observation, Progress
from mlir_fp8.inference.smoothing import Smoothing
from mlir_fp8.inference.thresholds import least_error, percentile
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.observers import observe
from mlir_fp8.lowering.fp8.weights.code_formats import INT8, largest_code
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded

_PERCENTILE = re.compile(r"percentile=(\d+(?:\.\d+)?)")
_LEAST_SCALE = np.float32(2.0**-126)


class Calibration:
    """What the products of a module take, seen on sample batches; `StaticScaling` has it as scales.

    `observer` says which magnitude a format's largest number is to hold:

    - "max": the largest that was seen;
    - "percentile=99.99": that share of all elements is no larger;
    - "mse": that by which the squared error of what was seen is least.

    `per` is "tensor", or "channel": one scale for each element that is summed. `weights`
    are those that `mlir_fp8.quantize` will get: tensors are then what they are multiplied by, and
    with a `smoothing` that was run before what is left of these.
    """

    @public
    def __init__(
        self,
        module: ir.Module | str | Path | bytes,
        *,
        weights: Sequence[str] | str = (),
        observer: str = "max",
        per: str = "tensor",
        smoothing: Smoothing | None = None,
        entry: str = "main",
    ) -> None:
        self.observer, self.per, self.smoothing = observer, per, smoothing
        self._share = _share(observer)
        if per not in ("tensor", "channel"):
            raise Fp8Error(f"per is '{per}': it is tensor or channel")
        patterns = [weights] if isinstance(weights, str) else list(weights)
        held = dense_copy(loaded(module), make_context(), "module")
        ArithConstantToStablehlo().run(held.operation)
        names = own_names(find_entry(held.operation, entry))
        self._seen = observe(
            held.operation,
            entry,
            patterns,
            per=per,
            histogram=observer != "max",
            smoothing={} if smoothing is None else smoothing.factors,
        )
        if not self._seen:
            raise Fp8Error(
                "no product takes a tensor to calibrate: name weights that products read"
            )
        self._observation = Observation(held, entry, names, self._seen)

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
        self._observation.run(batches, parameters, progress)
        return self

    @property
    def batches(self) -> int:
        """How many batches were seen."""
        return self._observation.batches

    @property
    def tensors(self) -> dict[str, np.ndarray]:
        """The largest magnitude seen of each tensor, f32: one number, or one for each channel."""
        return {
            each.name: self._observation.largest(number) for number, each in enumerate(self._seen)
        }

    def scale_of(self, names: Sequence[str], format_: str = "f8E4M3FN") -> np.ndarray | None:
        """The scale of the tensor of one of `names`, f32; None where none has such a name."""
        if not self.batches:
            raise Fp8Error("the calibration has seen no batch: run it")
        for number, each in enumerate(self._seen):
            if not {each.name, *each.aliases}.isdisjoint(names):
                largest, counts = self._observation.state[2 * number : 2 * number + 2]
                most = np.float32(largest_code(format_))
                scale = self._threshold(largest, counts, format_) / most
                return np.where(scale >= _LEAST_SCALE, scale, np.float32(1)).astype(np.float32)
        return None

    def _threshold(self, largest: np.ndarray, counts: np.ndarray, format_: str) -> np.ndarray:
        if self.observer == "max":
            return largest
        rows = counts.reshape(largest.size, -1)
        pairs = zip(rows, largest.reshape(-1), strict=True)
        if self._share is not None:
            found = [min(percentile(row, self._share), most) for row, most in pairs]
        else:
            if format_ == INT8:
                raise Fp8Error("observer is mse, of codes that are floats: take max or percentile")
            found = [least_error(row, float(most), format_) for row, most in pairs]
        return np.asarray(found, np.float32).reshape(largest.shape)


def _share(observer: str) -> float | None:
    """The share of a percentile, of 1; None of other observers."""
    if observer in ("max", "mse"):
        return None
    found = _PERCENTILE.fullmatch(observer)
    if found is None or not 0 < float(found[1]) <= 100:
        raise Fp8Error(f"observer is '{observer}': it is max, mse or percentile=99.99")
    return float(found[1]) / 100
