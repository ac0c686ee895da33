"""What each layer costs in FP8, and which layers a bound on the results allows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.measurement import Measurement
from mlir_fp8.inference.smoothing import Smoothing, smoothing_factors
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import WEIGHT_ONLY, Recipe, WeightOnly, recipe_named
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.fp8.weights.switches import switched
from mlir_fp8.lowering.fp8.weights.wide import DEFAULT
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded


@dataclass(frozen=True)
class LayerCost:
    """A weight, and the SQNR of the results in dB with it and what it multiplies in FP8 alone.

    `sqnr` is that of all batches together, `batches` has that of each.
    """

    name: str
    sqnr: float
    batches: tuple[float, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The layers that a bound allows in FP8.

    `wide` are the weights that stay wide, `layers` all, cheapest first, `sqnr` that of the results
    with the choice, in dB, and `batches` that of each batch.
    """

    layers: tuple[LayerCost, ...]
    wide: tuple[str, ...]
    sqnr: float
    batches: tuple[float, ...] = ()

    @property
    def in_fp8(self) -> tuple[str, ...]:
        """The weights that are f8."""
        return tuple(each.name for each in self.layers if each.name not in self.wide)


class Trial:
    """A module run with any of its layers in FP8: compiled once, whichever they are.

    Each of `batches` has the arguments that `parameters`, arrays by name, does not have. Other
    options are those of `mlir_fp8.quantize`; recipes with state are refused.
    """

    @public
    def __init__(
        self,
        module: ir.Module | str | Path | bytes,
        recipe: Recipe | WeightOnly | str,
        batches: Sequence[Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        weights: Sequence[str],
        scales: str = "channel",
        wide: Sequence[str] = (DEFAULT,),
        smoothing: Smoothing | Mapping[str, Any] | None = None,
        entry: str = "main",
    ) -> None:
        held = dense_copy(loaded(module), make_context(), "module")
        ArithConstantToStablehlo().run(held.operation)
        names = own_names(find_entry(held.operation, entry))
        if isinstance(recipe, str):
            recipe = WeightOnly() if recipe == WEIGHT_ONLY else recipe_named(recipe)
        factors = smoothing_factors(smoothing, recipe)
        switches = switched(
            held.operation, [recipe], entry, list(weights), scales, list(wide), factors
        )
        self.names = [each.name for each in switches]
        self._measurement = Measurement(held, names, entry, batches, parameters)

    def sqnr(self, chosen: Sequence[str]) -> float:
        """The SQNR in dB of all float results together with the weights `chosen` in FP8."""
        return self.measured(chosen)[0]

    def measured(self, chosen: Sequence[str]) -> tuple[float, tuple[float, ...]]:
        """`sqnr`, and that of each batch alone."""
        return self._measurement.of(np.array([[name in chosen for name in self.names]]))

    @public
    def costs(self, progress: Callable[[int, int], Any] | None = None) -> tuple[LayerCost, ...]:
        """What each layer costs alone, the cheapest first; `progress` is called after each."""
        found: list[LayerCost] = []
        for number, name in enumerate(self.names, 1):
            found.append(LayerCost(name, *self.measured([name])))
            if progress is not None:
                progress(number, len(self.names))
        return tuple(sorted(found, key=lambda each: -each.sqnr))

    @public
    def choose(self, target: float, costs: Sequence[LayerCost] | None = None) -> Choice:
        """As many layers in FP8 as keep the results at `target` dB or better, cheapest first.

        Each choice is measured: the most of the cheapest layers is found by bisection, then each of
        the others is kept that still fits. `Fp8Error` where not even one does.
        """
        costs = self.costs() if costs is None else costs
        names = [each.name for each in costs]
        low, high = 0, len(names)
        while low < high:
            middle = (low + high + 1) // 2
            if self.sqnr(names[:middle]) >= target:
                low = middle
            else:
                high = middle - 1
        chosen = names[:low]
        for name in names[low + 1 :]:
            if self.sqnr([*chosen, name]) >= target:
                chosen.append(name)
        if not chosen:
            best = costs[0]
            reason = f"the cheapest layer, '{best.name}', gives {best.sqnr:.1f} dB alone"
            raise Fp8Error(f"no layer can be in FP8 at {target:g} dB: {reason}")
        left = tuple(name for name in names if name not in chosen)
        return Choice(tuple(costs), left, *self.measured(chosen))
