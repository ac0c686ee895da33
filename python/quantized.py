"""What quantization gives: the module, its state, and how its arguments are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.arrays.tensor_specs import element_dtype
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.inference.packing import packed_arguments
from mlir_fp8.inference.preparation import Preparation, prepared
from mlir_fp8.lowering.fp8.caches.names import QuantizedCache
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, OpDecision
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import (
    Recipe,
    WeightOnly,
)
from mlir_fp8.lowering.fp8.scaling.state import state_of
from mlir_fp8.lowering.fp8.weights.decisions import WeightDecision
from mlir_fp8.lowering.fp8.weights.names import QuantizedWeight, own_names
from mlir_fp8.lowering.fp8.weights.names import weights_of as find_weights_of
from mlir_fp8.lowering.kernels.packed_weights.packing import PackingDecision
from mlir_fp8.reading.loader import loaded


@dataclass(frozen=True)
class Quantized:
    """A module in scaled FP8, and the state that it takes and gives.

    `state` has the arrays of before the first step, by name, in the order in which they follow the
    module's own arguments; each step gives new ones, in the same order, after its own results. It
    is empty for current scaling. `decisions` says of each op what it became, and why, `weights`
    the same of each tensor that `weights=` named, `packing` of each that was to be packed. `caches`
    are those that `cache=` named, `recipe` is that of `mlir_fp8.quantize`.
    """

    module: ir.Module
    state: dict[str, np.ndarray]
    decisions: tuple[Decision | OpDecision, ...]
    entry: str = "main"
    weights: tuple[WeightDecision, ...] = ()
    packing: tuple[PackingDecision, ...] = ()
    recipe: Recipe | WeightOnly | None = field(default=None, repr=False)
    caches: tuple[QuantizedCache, ...] = ()
    _wide_caches: dict[str, str] = field(default_factory=dict, repr=False)
    _preparation: Preparation = field(default_factory=Preparation, repr=False)

    def split(self, outputs: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a step gives, apart: the module's own results, and the new state.

        >>> results, state = quantized.split(step(*arguments, *state.values()))
        """
        count = len(outputs) - len(self.state)
        if count < 0:
            message = f"{len(outputs)} results do not hold a state of {len(self.state)} arrays"
            raise Fp8Error(f"{message}: give all that '{self.entry}' gives")
        return tuple(outputs[:count]), dict(zip(self.state, outputs[count:], strict=True))

    @property
    def bytes(self) -> tuple[int, int]:
        """The bytes of all that `weights=` matched, before and after: codes, scales, wide ones."""
        return (
            sum(each.bytes_before for each in self.weights),
            sum(each.bytes_after for each in self.weights),
        )

    @public
    def prepare(self, weights: Mapping[str, Any]) -> dict[str, Any]:
        """The f8 codes and f32 scales of `weights`, by the names of the arguments.

        `weights` has arrays or tensors of all weights that are f8 arguments now, in their wide
        type; those that the module takes packed are packed, whether f8 or wide; what it has of
        other arguments is handed on. Arrays are of torch or JAX where
        those of `weights` are. Codes and scales of weights that were f8 before are handed on as
        they are, or packed. Tensors that share their memory share their codes. A mapping that
        is no dict may read or make each tensor when asked for it: one is held at a time. `Fp8Error`
        names what is missing, unknown, of another shape or dtype, infinite or NaN.
        """
        held = loaded(self.module)
        function = find_entry(held.operation, self.entry)
        wide = {each.name: each.signature for each in self.weights} | self._wide_caches
        own = own_names(function)
        caches = [each.as_weight for each in self.caches if each.name in weights]
        here = {each.name for each in self.weights if each.format}
        quantized = [*(each for each in find_weights_of(function) if each.name in here), *caches]
        packed = packed_arguments(function)
        return prepared(quantized, wide, own, weights, self._preparation, packed)

    @property
    def donate(self) -> dict[int | str, int | str]:
        """Codes and scales of caches, as arguments and as results: `compile(..., donate=...)`."""
        return {a: r for each in self.caches for a, r in each.donated.items()}

    def empty_caches(self) -> dict[str, np.ndarray]:
        """New arrays of caches without tokens, and of the scales that are written, by name.

        Codes are 0 and scales 1. Scales that the caller knows are not among them.
        """
        found: dict[str, np.ndarray] = {}
        for each in self.caches:
            found[each.name] = np.zeros(each.shape, element_dtype(each.format))
            if each.scale_result is not None:
                found[each.scale_name] = np.ones(each.scale_shape, np.float32)
        return found

    @public
    def arguments(self, prepared: Mapping[str, Any], *own: Any) -> list[Any]:
        """All arguments of the module, in order: `prepared` by name, else the next of `own`.

        State follows them: `step(*quantized.arguments(prepared, x), *state.values())`.
        """
        held = loaded(self.module)
        names = own_names(find_entry(held.operation, self.entry))
        names = names[: len(names) - len(self.state)]
        free = [name for name in names if name not in prepared]
        if len(free) != len(own):
            spelled = ", ".join(free) or "none"
            raise Fp8Error(f"{len(own)} arguments are given beside the prepared ones: {spelled}")
        rest = iter(own)
        return [prepared[name] if name in prepared else next(rest) for name in names]


def initial_state(
    module: ir.Module | str | Path | bytes, entry: str = "main"
) -> dict[str, np.ndarray]:
    """The state before the first step that `entry` of a quantized module takes, by name, in order.

    It is in the attributes of the arguments, which artifacts keep. `module` is as in `quantize`.
    """
    held = loaded(module)  # lives as long as its operations are read
    return state_of(find_entry(held.operation, entry))


def weights_of(
    module: ir.Module | str | Path | bytes, entry: str = "main"
) -> list[QuantizedWeight]:
    """The weights that `entry` of a quantized module takes as f8 arguments with scales, in order.

    They are in the attributes of the arguments, which artifacts keep. `module` is as in `quantize`.
    """
    held = loaded(module)
    return find_weights_of(find_entry(held.operation, entry))
