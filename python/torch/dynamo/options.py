"""What `torch.compile(..., backend="mlir_fp8", options={...})` takes."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.compiling.compilation import compile as compile_module
from mlir_fp8.lowering.fp8.scaling.recipes import Recipe
from mlir_fp8.quantization import quantize

# Of those functions' options, what is the graph's own, or no matter of it.
_OF_MODULES = {"module", "recipe", "entry", "shapes", "on_stage"}
# Of modules whose arguments the caller prepares.
_OF_ARGUMENTS = {"weights", "wide", "scales", "donate"}
_COMPILE = tuple(inspect.signature(compile_module).parameters.keys() - _OF_MODULES - _OF_ARGUMENTS)
_SELECT = tuple(inspect.signature(quantize).parameters.keys() - _OF_MODULES - _OF_ARGUMENTS)
NAMES = ("quantize", "fallback", *sorted(_SELECT), *sorted(_COMPILE))
"""The options that there are."""


@dataclass(frozen=True)
class BackendOptions:
    """Options sorted by what they are for.

    `recipe` is that of `mlir_fp8.quantize`, None where products stay as they are, and `selection`
    its other options; `compiling` are those of `mlir_fp8.compile`. With `fallback` a graph that
    cannot be lowered is run by PyTorch, with a warning.
    """

    recipe: Recipe | str | None = None
    fallback: bool = False
    selection: Mapping[str, Any] = field(default_factory=dict)
    compiling: Mapping[str, Any] = field(default_factory=dict)


def options_of(given: Mapping[str, Any], mode: str | None) -> BackendOptions:
    """`given` sorted; raises `Fp8Error` for names that there are not."""
    if mode is not None:
        raise Fp8Error(f"mode is '{mode}': the backend mlir_fp8 has options, and no modes")
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        known = ", ".join(NAMES)
        raise Fp8Error(f"the backend mlir_fp8 has no option '{unknown[0]}': there are {known}")
    if not isinstance(given.get("fallback", False), bool):
        raise Fp8Error(f"fallback is {given['fallback']!r}: it is True or False")
    recipe = given.get("quantize")
    selection = {name: given[name] for name in _SELECT if name in given}
    if recipe is None and selection:
        raise Fp8Error(f"'{next(iter(selection))}' says what to quantize: give a recipe, quantize=")
    compiling = {name: given[name] for name in _COMPILE if name in given}
    return BackendOptions(recipe, bool(given.get("fallback", False)), selection, compiling)
