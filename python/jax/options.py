"""What `mlir_fp8.jax.jit` does with a module, checked before anything is traced."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.recipes import DelayedScaling, recipe_named
from mlir_fp8.quantization import quantize as quantize_module

TARGETS = ("xla-gpu",)
_REFUSED = {
    "weights": "arguments would be other arrays than the function takes",
    "entry": "a traced function has one",
    "target": "give target= of jit",
}


@dataclass(frozen=True)
class Passes:
    """The recipe, more options of `mlir_fp8.quantize`, and the target."""

    recipe: Any = None
    options: tuple[tuple[str, Any], ...] = ()
    target: str | None = None

    @property
    def has_state(self) -> bool:
        """Whether a step takes a state, and gives a new one."""
        return isinstance(self.recipe, DelayedScaling)


def passes_of(quantize: Any, target: str | None) -> Passes:
    """`quantize=` and `target=` of `mlir_fp8.jax.jit`; `Fp8Error` for what they cannot be."""
    if target is not None and target not in TARGETS:
        raise Fp8Error(f"target is {target!r}: give {', '.join(map(repr, TARGETS))} or None")
    if quantize is None:
        return Passes(target=target)
    options: dict[str, Any] = {}
    recipe = quantize
    if isinstance(quantize, Mapping):
        options = dict(quantize)
        recipe = options.pop("recipe", "delayed")
    for name, reason in _REFUSED.items():
        if name in options:
            raise Fp8Error(f"quantize has '{name}', which jit cannot take: {reason}")
    known = inspect.signature(quantize_module).parameters.keys() - {"module", *_REFUSED}
    for name in options:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise Fp8Error(f"quantize has {name!r}, which is no option: give some of {listed}")
    recipe = recipe_named(recipe) if isinstance(recipe, str) else recipe
    listed = {key: tuple(each) if isinstance(each, list) else each for key, each in options.items()}
    return Passes(recipe, tuple(sorted(listed.items())), target)
