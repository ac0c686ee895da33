"""SmoothQuant: factors that shift scale from activations with outlier channels to weights."""

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
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe, StaticScaling, WeightOnly
from mlir_fp8.lowering.fp8.weights.channel_observers import MetChannels, observe_channels
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.fp8.weights.smoothing import LEAST, MOST
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded


class Smoothing:
    """Factors for the channels of weights, of sample batches: `mlir_fp8.quantize(smoothing=...)`.

    A channel is an element of what a product sums. Activations are divided by `s`, weights are
    multiplied by it, so that what is multiplied stays the same, and outliers of few channels of an
    activation no longer take the range of the others:

        s[j] = max|x[j]|**strength / max|w[j]|**(1 - strength)

    over all batches, rows and output channels (SmoothQuant, ICML 2023, equation 4). Weights that
    multiply the same activation share `s`, with the largest of all; a channel of zeros has 1.
    `powers_of_two` rounds each `s` to the nearest power of two, so that nothing else is rounded.
    `weights` are those that `mlir_fp8.quantize` will get; `left` says why some of them can have no
    factors.
    """

    @public
    def __init__(
        self,
        module: ir.Module | str | Path | bytes,
        *,
        weights: Sequence[str] | str,
        strength: float = 0.5,
        powers_of_two: bool = False,
        entry: str = "main",
    ) -> None:
        if not isinstance(strength, int | float) or not 0 <= strength <= 1:
            raise Fp8Error(f"strength is {strength}: it is between 0, weights as they are, and 1")
        self.strength, self.powers_of_two = strength, powers_of_two
        patterns = [weights] if isinstance(weights, str) else list(weights)
        held = dense_copy(loaded(module), make_context(), "module")
        ArithConstantToStablehlo().run(held.operation)
        names = own_names(find_entry(held.operation, entry))
        self._channels = observe_channels(held.operation, entry, patterns)
        if not self._channels.weights:
            reasons = "; ".join(f"'{name}' {reason}" for name, reason in self.left.items())
            raise Fp8Error(f"no weight can be smoothed: {reasons or 'name weights'}")
        self._observation = Observation(held, entry, names, self._channels.seen)

    @property
    def left(self) -> dict[str, str]:
        """Why some of the weights can have no factors, by name."""
        return self._channels.left

    @public
    def run(
        self,
        batches: Iterable[Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        progress: bool | Progress = False,
    ) -> "Smoothing":
        """Run the module on `batches`, which are those of `mlir_fp8.Calibration.run`."""
        self._observation.run(batches, parameters, progress)
        return self

    @property
    def factors(self) -> dict[str, np.ndarray]:
        """The factors by the names of weights, f32, of the rank of each and 1 but for channels."""
        seen = self._observation
        if not seen.batches:
            raise Fp8Error("the smoothing has seen no batch: run it")
        largest = [seen.largest(number) for number in range(len(seen.seen))]
        shapes = self._channels.weights
        pairs = zip(*_largest_met(largest, self._channels.met, len(shapes)), strict=True)
        found: dict[str, np.ndarray] = {}
        for (name, shape), (of_weight, met) in zip(shapes.items(), pairs, strict=True):
            with np.errstate(divide="ignore", invalid="ignore"):
                log = self.strength * np.log2(met) - (1 - self.strength) * np.log2(of_weight)
            log = np.where((met > 0) & (of_weight > 0), log, 0.0)
            power = np.rint(log) if self.powers_of_two else log
            found[name] = np.exp2(power).clip(LEAST, MOST).astype(np.float32).reshape(shape)
        return found


def _largest_met(
    largest: Sequence[np.ndarray], met: Sequence[MetChannels], count: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each channel of `count` weights the largest of all weights and activations it goes with.

    Those that meet one activation go together, and all that they meet: what is largest is handed
    from one to the other until nothing changes. In f64.
    """
    weights = [each.astype(np.float64) for each in largest]
    activations = [np.zeros(each.shape) for each in weights[:count]] + weights[count:]
    weights[count:] = [np.zeros(each.shape) for each in weights[count:]]
    is_changed = True
    while is_changed:
        is_changed = False
        for values in (weights, activations):
            for each in met:
                mine, other = values[each.weight].reshape(-1), values[each.activation].reshape(-1)
                at = each.index.reshape(-1)
                together = np.maximum(mine[at], other)
                is_changed |= bool((mine[at] < together).any() or (other < together).any())
                np.maximum.at(mine, at, together)
                other[:] = together
    return weights[:count], activations[:count]


def smoothing_factors(
    smoothing: Smoothing | Mapping[str, Any] | None, recipe: Recipe | WeightOnly
) -> dict[str, np.ndarray]:
    """The factors by name; `Fp8Error` where `recipe` is calibrated with others, or has no use."""
    calibrated = None
    if isinstance(recipe, StaticScaling) and hasattr(recipe.scales, "smoothing"):
        calibrated = recipe.scales.smoothing
        if smoothing is not None and smoothing is not calibrated:
            raise Fp8Error("scales are calibrated without this smoothing: give it to Calibration")
    smoothing = calibrated if smoothing is None else smoothing
    if smoothing is None:
        return {}
    if isinstance(recipe, WeightOnly):
        reason = "recipe is weight_only, which leaves activations wide"
        raise Fp8Error(f"{reason}: smoothing is for current, delayed and StaticScaling")
    if isinstance(smoothing, Smoothing):
        return smoothing.factors
    if not isinstance(smoothing, Mapping):
        kind = type(smoothing).__name__
        raise Fp8Error(f"smoothing is a {kind}: give a Smoothing, or a mapping of names to factors")
    return {name: np.asarray(each) for name, each in smoothing.items()}
