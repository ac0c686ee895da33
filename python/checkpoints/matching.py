"""Tensors of a checkpoint as arguments of a module: by name, type and shape, or refused."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mlir_fp8.arrays.tensor_specs import TensorSpec, element_name, spell
from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.checkpoints.f8_weight import Checkpoint, F8Weight

Names = Mapping[str, str] | Callable[[str], str]
"""What the argument of a tensor is called, by its name in the checkpoint."""

_WIDE = ("f32", "bf16", "f16")


def matched(
    checkpoint: Checkpoint,
    arguments: Mapping[str, TensorSpec],
    names: Names | None,
    ignore: Sequence[str],
    transpose: Sequence[str],
) -> tuple[dict[str, F8Weight], dict[str, np.ndarray]]:
    """The f8 weights and the other tensors of `checkpoint` by the names of `arguments`.

    `names` renames, `ignore` has patterns of tensors to leave out, `transpose` patterns of
    arguments whose tensors are the other way round. Other tensors are widened where that is exact.
    Raises `Fp8Error` with the name and both shapes of what is not an argument.
    """
    place = f"'{checkpoint.path}'"
    weights: dict[str, F8Weight] = {}
    others: dict[str, np.ndarray] = {}
    for tensor in [*checkpoint.weights, *checkpoint.others]:
        if is_named(tensor, ignore):
            continue
        name = renamed(tensor, names)
        if name in weights or name in others:
            raise Fp8Error(f"{place}: '{tensor}' is the second tensor of argument '{name}'")
        what = f"{place}: '{tensor}'"
        weight = checkpoint.weights.get(tensor)
        array = checkpoint.others[tensor] if weight is None else weight.codes
        is_turned = is_named(name, transpose)
        if is_turned and array.ndim != 2:
            raise Fp8Error(f"{what} is {spell(array)}: only matrices are transposed")
        spec = _spec(what, name, spell(array), arguments)
        shape = array.shape[::-1] if is_turned else array.shape
        if shape != spec.shape:
            raise Fp8Error(f"{what} is {spell(array)}, and argument '{name}' is {spec}")
        if weight is None:
            turned = np.ascontiguousarray(array.T) if is_turned else array
            others[name] = _widened(what, name, turned, spec)
        elif spec.element not in _WIDE:
            raise Fp8Error(f"{what} is f8, and argument '{name}' is {spec}: no wide weight")
        else:
            weights[name] = transposed(weight) if is_turned else weight
    return weights, others


def transposed(weight: F8Weight) -> F8Weight:
    """The transposed matrix, with its scales."""
    codes, scale = np.ascontiguousarray(weight.codes.T), np.ascontiguousarray(weight.scale.T)
    return replace(
        weight, codes=codes, scale=scale.reshape(weight.scale.T.shape), block=weight.block[::-1]
    )


def is_named(name: str, patterns: Sequence[str]) -> bool:
    """Whether `name` is one of `patterns`, or fits one with `*` and `?`."""
    return any(name == each or fnmatch.fnmatchcase(name, each) for each in patterns)


def renamed(tensor: str, names: Names | None) -> str:
    """The name that `names` gives; the same where a mapping has none."""
    if names is None:
        return tensor
    return names.get(tensor, tensor) if isinstance(names, Mapping) else names(tensor)


def _spec(what: str, name: str, given: str, arguments: Mapping[str, TensorSpec]) -> TensorSpec:
    if name in arguments:
        return arguments[name]
    known = ", ".join(list(arguments)[:8]) + (", ..." if len(arguments) > 8 else "")
    way_out = "give names= or ignore="
    raise Fp8Error(f"{what} ({given}) is no argument '{name}' of the module ({known}): {way_out}")


def _widened(what: str, name: str, array: np.ndarray, spec: TensorSpec) -> np.ndarray:
    element = element_name(array.dtype)
    if element == spec.element:
        return array
    if (element, spec.element) not in (("bf16", "f32"), ("f16", "f32")):
        way_out = "convert it"
        raise Fp8Error(f"{what} is {spell(array)}, and argument '{name}' is {spec}: {way_out}")
    return array.astype(np.float32)
