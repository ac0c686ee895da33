"""`mlir_fp8.checkpoint_of`: what a quantized module takes, as a checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Activation, Checkpoint, F8Weight
from mlir_fp8.checkpoints.matching import Names, is_named, renamed, transposed
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.scaling.decisions import Decision
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import BlockScaling, CurrentScaling, StaticScaling
from mlir_fp8.lowering.fp8.weights.names import QuantizedWeight, input_scale_name, weights_of
from mlir_fp8.lowering.fp8.weights.scale_rules import F32
from mlir_fp8.quantized import Quantized
from mlir_fp8.tensors.foreign import as_array


@public
def checkpoint_of(
    made: Quantized,
    prepared: Mapping[str, Any],
    *,
    names: Names | None = None,
    transpose: Sequence[str] = (),
    activation: Activation | None = None,
    recipe: StaticScaling | None = None,
) -> Checkpoint:
    """The weights of a quantized module as a checkpoint, for `mlir_fp8.save_checkpoint`.

    `made` is of `mlir_fp8.quantize` with `weights=`, `prepared` what `made.prepare` gives: arrays
    of all weights and scales by name, and of what else the checkpoint shall have. `names` renames
    them, a mapping or function (compressed-tensors wants `.weight` at the end); `transpose` has
    patterns of arguments that are `[in, out]`, as those of JAX are. What activations are follows
    from the recipe of `made`, unless `activation` says it of all: "wide" of weights whose products
    leave them so, "static" of a `StaticScaling`, with its scales, "token" of
    `CurrentScaling(per="row")`, "group" of `BlockScaling`, else "tensor". `recipe` is for scales of
    another `StaticScaling`. Raises `Fp8Error` for weights and scales that are missing, and for
    state of delayed scaling, which is none of these.
    """
    if made.state and activation is None:
        raise Fp8Error("the module has delayed scaling: say which activation= it has elsewhere")
    used = recipe or made.recipe
    function = find_entry(made.module.operation, made.entry)
    arrays = {name: as_array(f"array '{name}'", array) for name, array in prepared.items()}
    weights: dict[str, F8Weight] = {}
    for held in weights_of(function):
        if held.packed is not None:
            raise Fp8Error(f"weight '{held.name}' is packed: quantize without packed for this")
        if held.rule != F32:
            reason = "has the scales of a block format: keep it in a file of arrays"
            raise Fp8Error(f"weight '{held.name}' {reason}")
        if held.smoothing is not None:
            reason = "is smoothed, and a checkpoint has no factors for activations"
            raise Fp8Error(f"'{held.name}' {reason}: quantize without smoothing=")
        kind = activation or ("static" if recipe else _activation(made, held.name))
        weight = _weight(held, arrays, kind)
        if kind == "static" and isinstance(used, StaticScaling):
            weight = replace(weight, input_scale=_input_scale(held, used))
        weight = transposed(weight) if is_named(held.name, transpose) else weight
        weights[renamed(held.name, names)] = weight
        del arrays[held.name], arrays[held.scale_name]
    if not weights:
        raise Fp8Error("the module has no f8 weights: quantize it with weights=")
    others = {
        renamed(name, names): np.ascontiguousarray(array.T) if is_named(name, transpose) else array
        for name, array in arrays.items()
    }
    return Checkpoint("the module", weights, others)


def _input_scale(held: QuantizedWeight, recipe: StaticScaling) -> np.float32:
    name = input_scale_name(held.name)
    scale = recipe.scale([name], held.format)
    if scale.size != 1:
        raise Fp8Error(f"'{name}' has {scale.size} scales: a checkpoint has one, per='tensor'")
    return np.float32(scale.reshape(()))


def _activation(made: Quantized, weight: str) -> Activation:
    """What the products of `weight` take: wide where none of them has two operands in f8."""
    of_weight = [
        each.formats
        for each in made.decisions
        if isinstance(each, Decision) and each.formats and weight in (each.quantizers or ())
    ]
    if not any(name.startswith("f8") and other.startswith("f8") for name, other in of_weight):
        return "wide"
    if isinstance(made.recipe, StaticScaling):
        return "static"
    if isinstance(made.recipe, BlockScaling):
        return "group"
    is_by_row = isinstance(made.recipe, CurrentScaling) and made.recipe.per == "row"
    return "token" if is_by_row else "tensor"


def _weight(held: QuantizedWeight, arrays: Mapping[str, Any], kind: Activation) -> F8Weight:
    for name in (held.name, held.scale_name):
        if name not in arrays:
            raise Fp8Error(f"'{name}' is missing: give what prepare gave")
    return F8Weight(arrays[held.name], arrays[held.scale_name], held.blocks, kind)
