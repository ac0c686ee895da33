"""Scaled FP8 made of a module in wide floats: `mlir_fp8.quantize`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from mlir_fp8.artifacts.dense_resources import dense_copy
from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.scaling.decisions import Decision, OpDecision
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.operations import quantize_operations
from mlir_fp8.lowering.fp8.scaling.products import quantize_products
from mlir_fp8.lowering.fp8.scaling.recipes import (
    CurrentScaling,
    DelayedScaling,
    Recipe,
    recipe_named,
)
from mlir_fp8.lowering.fp8.scaling.selection import Selection
from mlir_fp8.lowering.fp8.scaling.state import state_of
from mlir_fp8.lowering.frontend.arith_constant_to_stablehlo import ArithConstantToStablehlo
from mlir_fp8.reading.loader import loaded


@dataclass(frozen=True)
class Quantized:
    """A module in scaled FP8, and the state that it takes and gives.

    `state` has the arrays of before the first step, by name, in the order in which they follow the
    module's own arguments; each step gives new ones, in the same order, after its own results. It
    is empty for current scaling. `decisions` says of each op what it became, and why.
    """

    module: ir.Module
    state: dict[str, np.ndarray]
    decisions: tuple[Decision, ...] | tuple[OpDecision, ...]
    entry: str = "main"

    def split(self, outputs: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a step gives, apart: the module's own results, and the new state.

        >>> results, state = quantized.split(step(*arguments, *state.values()))
        """
        count = len(outputs) - len(self.state)
        if count < 0:
            message = f"{len(outputs)} results do not hold a state of {len(self.state)} arrays"
            raise Fp8Error(f"{message}: give all that '{self.entry}' gives")
        return tuple(outputs[:count]), dict(zip(self.state, outputs[count:], strict=True))


@public
def quantize(
    module: ir.Module | str | Path | bytes,
    recipe: Recipe | str = "delayed",
    *,
    entry: str = "main",
    min_size: int = 0,
    skip_first: int = 0,
    skip_last: int = 0,
    skip_batched: bool = False,
    ops: Sequence[str] | str = (),
) -> Quantized:
    """Make the dots and convolutions of `entry` scaled FP8; the module itself is left as it is.

    `module` is a module or whatever `mlir_fp8.load` takes. `recipe` is a `DelayedScaling` or
    `CurrentScaling`, or the name of one with its defaults: "delayed" or "flax",
    "transformer_engine", "current". What is left out: ops with the attribute `mlir_fp8.skip`;
    products with fewer rows, columns or summands than `min_size`; the `skip_first` and `skip_last`
    forward products with their derivatives; with `skip_batched`, dots with batching dimensions, as
    in attention.

    With `ops`, names of ops (or one text with commas between, or "all"), those ops are surrounded
    by quantizers instead: each works in its wide type on what its scaled FP8 operands stand for;
    its result is scaled FP8.

    docs/scaling.md has it all. Raises `Fp8Error` for what cannot be done.
    """
    selection = Selection(min_size, skip_first, skip_last, skip_batched)
    named = ops.split(",") if isinstance(ops, str) else list(ops)
    if named and selection != Selection():
        raise Fp8Error("ops are named and dots selected: give the attribute mlir_fp8.skip to ops")
    scaling = recipe_named(recipe) if isinstance(recipe, str) else recipe
    if not isinstance(scaling, DelayedScaling | CurrentScaling):
        raise Fp8Error(f"recipe is a {type(recipe).__name__}: give a DelayedScaling or its name")
    quantized = dense_copy(loaded(module), make_context(), "module")
    operation = quantized.operation
    ArithConstantToStablehlo().run(operation)
    decisions = (
        tuple(quantize_operations(operation, scaling, named, entry))
        if named
        else tuple(quantize_products(operation, scaling, selection, entry))
    )
    return Quantized(quantized, initial_state(quantized, entry), decisions, entry)


def initial_state(
    module: ir.Module | str | Path | bytes, entry: str = "main"
) -> dict[str, np.ndarray]:
    """The state before the first step that `entry` of a quantized module takes, by name, in order.

    It is in the attributes of the arguments, which artifacts keep. `module` is as in `quantize`.
    """
    held = loaded(module)  # lives as long as its operations are read
    return state_of(find_entry(held.operation, entry))
