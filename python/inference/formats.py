"""Which format each layer takes: the fewest bytes that a bound on the results allows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.dialects.float_formats import FORMATS
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.measurement import Measurement
from mlir_fp8.lowering.fp8.scaling.block_recipes import MXScaling, NVFP4Scaling
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe, WeightOnly, recipe_named
from mlir_fp8.lowering.fp8.weights.names import own_names
from mlir_fp8.lowering.fp8.weights.switches import Switch, switched
from mlir_fp8.lowering.fp8.weights.wide import DEFAULT
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded

_STEPS = 12
"""How often the price of noise is halved on a logarithmic scale."""


@dataclass(frozen=True)
class FormatChoice:
    """The format of each weight, None where it stays wide.

    `sqnr` is that of the results with the choice, in dB, `batches` that of each batch alone;
    `bytes` are those of all weights, with the scales of blocks.
    """

    formats: dict[str, str | None]
    sqnr: float
    batches: tuple[float, ...]
    bytes: int

    def weights_in(self, format_: str | None) -> list[str]:
        """The weights that are in a format, or wide."""
        return [name for name, own in self.formats.items() if own == format_]


class FormatTrial:
    """A module run with each of its layers in any of several formats: compiled once.

    `recipes` are by names of the caller's choice, without state; others are those of `Trial`.
    """

    @public
    def __init__(
        self,
        module: ir.Module | str | Path | bytes,
        recipes: Mapping[str, Recipe | WeightOnly | str],
        batches: Sequence[Any],
        parameters: Mapping[str, Any] | None = None,
        *,
        weights: Sequence[str],
        scales: str = "channel",
        wide: Sequence[str] = (DEFAULT,),
        entry: str = "main",
    ) -> None:
        if not recipes:
            raise Fp8Error("recipes has none: give one or more, by name")
        held = dense_copy(loaded(module), make_context(), "module")
        ArithConstantToStablehlo().run(held.operation)
        names = own_names(find_entry(held.operation, entry))
        self._recipes = {
            name: recipe_named(each) if isinstance(each, str) else each
            for name, each in recipes.items()
        }
        self._switches = switched(
            held.operation,
            list(self._recipes.values()),
            entry,
            list(weights),
            scales,
            list(wide),
        )
        self.names = [each.name for each in self._switches]
        self._measurement = Measurement(held, names, entry, batches, parameters)
        self._known: dict[tuple[str | None, ...], tuple[float, tuple[float, ...]]] = {}

    def measured(self, formats: Mapping[str, str | None]) -> tuple[float, tuple[float, ...]]:
        """The SQNR in dB of all float results with weights in these formats, and of each batch."""
        key = tuple(formats.get(name) for name in self.names)
        if key not in self._known:
            flags = [[own == each for own in key] for each in self._recipes]
            self._known[key] = self._measurement.of(np.array(flags))
        return self._known[key]

    def bytes_of(self, formats: Mapping[str, str | None]) -> int:
        """The bytes of all weights in these formats, packed, with the scales of their blocks."""
        bits = (self._bits(each, formats.get(each.name)) for each in self._switches)
        return math.ceil(sum(bits) / 8)

    def _bits(self, switch: Switch, format_: str | None) -> float:
        if format_ is None:
            return switch.elements * switch.bits
        recipe = self._recipes[format_]
        own = FORMATS[recipe.forward].bits
        is_of_blocks = isinstance(recipe, MXScaling | NVFP4Scaling)
        return switch.elements * (own + (8 / recipe.block if is_of_blocks else 0))

    @public
    def costs(self) -> dict[str, dict[str, float]]:
        """By weight and format the SQNR in dB of the results with that weight alone in it."""
        return {
            name: {format_: self.measured({name: format_})[0] for format_ in self._recipes}
            for name in self.names
        }

    @public
    def choose(
        self, target: float, costs: Mapping[str, Mapping[str, float]] | None = None
    ) -> FormatChoice:
        """The formats that take the fewest bytes and keep the results at `target` dB or better.

        The noise of layers is taken to add up: at a price of noise each layer has the format of
        least bytes and noise, and the lowest price whose choice is good enough, as it is measured,
        is found by bisection. Then each layer takes a smaller format where that still is.
        `Fp8Error` where not even one layer can be in any of the formats.
        """
        alone = self.costs() if costs is None else costs
        noise = {
            name: {each: 10 ** (-db / 10) for each, db in own.items()} | {None: 0.0}
            for name, own in alone.items()
        }
        low, high = -40.0, 80.0
        best: dict[str, str | None] = dict.fromkeys(self.names)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            tried = self._priced(noise, 2.0**middle)
            if self.measured(tried)[0] >= target:
                best, high = tried, middle
            else:
                low = middle
        self._shrink(best, target)
        if not any(best.values()):
            name, own = max(alone.items(), key=lambda each: max(each[1].values()))
            reason = f"the cheapest layer, '{name}', gives {max(own.values()):.1f} dB alone"
            raise Fp8Error(f"no layer can be in any of the formats at {target:g} dB: {reason}")
        return FormatChoice(best, *self.measured(best), self.bytes_of(best))

    def _priced(
        self, noise: Mapping[str, Mapping[str | None, float]], price: float
    ) -> dict[str, str | None]:
        return {
            each.name: min(
                (None, *self._recipes),
                key=lambda own, each=each: self._bits(each, own) + price * noise[each.name][own],
            )
            for each in self._switches
        }

    def _shrink(self, formats: dict[str, str | None], target: float) -> None:
        for switch in sorted(self._switches, key=lambda each: -each.elements):
            smaller = sorted(self._recipes, key=lambda own, switch=switch: self._bits(switch, own))
            for each in smaller:
                if self._bits(switch, each) >= self._bits(switch, formats[switch.name]):
                    break
                if self.measured({**formats, switch.name: each})[0] >= target:
                    formats[switch.name] = each
                    break
