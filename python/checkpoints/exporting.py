"""`mlir_fp8.checkpoint_of`: what a quantized module takes, as a checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Activation, Checkpoint, F8Weight
from mlir_fp8.checkpoints.matching import Names, is_named, renamed, transposed
from mlir_fp8.failures.internal_error import public
from mlir_fp8.lowering.fp8.scaling.entry import find_entry
from mlir_fp8.lowering.fp8.scaling.recipes import StaticScaling
from mlir_fp8.lowering.fp8.weights.names import QuantizedWeight, input_scale_name, weights_of
from mlir_fp8.quantization import Quantized
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
    patterns of arguments that are `[in, out]`, as those of JAX are. `activation` is "wide" for
    weight-only modules, else "tensor", whose scale is of the tensor's own amax, unless given. Where
    `made` is of a `StaticScaling`, `recipe` is that: activations are "static", with its scales.
    Raises `Fp8Error` for weights and scales that are missing, and for state of delayed scaling,
    which is none of these.
    """
    if made.state and activation is None:
        raise Fp8Error("the module has delayed scaling: say which activation= it has elsewhere")
    kind = activation or ("tensor" if _is_quantized_twice(made) else "wide")
    if recipe is not None:
        kind = "static"
    function = find_entry(made.module.operation, made.entry)
    arrays = {name: as_array(f"array '{name}'", array) for name, array in prepared.items()}
    weights: dict[str, F8Weight] = {}
    for held in weights_of(function):
        if held.packed is not None:
            raise Fp8Error(f"weight '{held.name}' is packed: quantize without packed for this")
        weight = _weight(held, arrays, kind)
        if recipe is not None:
            weight = replace(weight, input_scale=_input_scale(held, recipe))
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


def _is_quantized_twice(made: Quantized) -> bool:
    """Whether some product has both operands in f8."""
    return any(
        not each.left and all(name.startswith("f8") for name in getattr(each, "formats", ("",)))
        for each in made.decisions
    )


def _weight(held: QuantizedWeight, arrays: Mapping[str, Any], kind: Activation) -> F8Weight:
    for name in (held.name, held.scale_name):
        if name not in arrays:
            raise Fp8Error(f"'{name}' is missing: give what prepare gave")
    return F8Weight(arrays[held.name], arrays[held.scale_name], held.blocks, kind)
