"""What stays wide where nothing else is asked for: routers, and what first and last layers take."""

import fnmatch
from collections.abc import Sequence

from torch_mlir import ir

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.scaling.contractions import contracting_dims, is_product
from mlir_fp8.lowering.fp8.weights.find import Weight
from mlir_fp8.lowering.rewriting.stablehlo import names

DEFAULT = "default"
"""What `wide` is for these rules."""

_CHOICES = names("chlo", "top_k") | names("stablehlo", "sort")
_MOST_EXPERTS = 1024
"""Columns of a router at most: what more columns are sorted for is a vocabulary."""
_MOST_OPS = 64
_LEAST_LAYERS = 3
"""Products of weights from which there is a first and a last layer."""


def wide_weights(weights: Sequence[Weight], wide: Sequence[str]) -> dict[str, str]:
    """The weights that stay wide, and why: those that `wide` names, with "default" routers.

    `Fp8Error` for a name or pattern that none of them has.
    """
    found: dict[str, str] = {}
    if DEFAULT in wide:
        found.update({w.name: reason for w in weights if (reason := _router(w))})
    for pattern in wide:
        if pattern == DEFAULT:
            continue
        own = [w.name for w in weights if w.name == pattern or _matches(w.name, pattern)]
        if not own:
            known = ", ".join(w.name for w in weights)
            raise Fp8Error(f"wide has '{pattern}', which no weight is called (weights: {known})")
        found.update(dict.fromkeys(own, f"is among those that wide names ('{pattern}')"))
    return found


def wide_inputs(
    products: Sequence[ir.Operation], weights: Sequence[Weight], wide: Sequence[str]
) -> list[str]:
    """For each of `products` why what its weight is multiplied by stays wide; empty if it does not.

    With "default" of the last one, and of the first where no table comes before it.
    """
    reasons = [""] * len(products)
    if DEFAULT not in wide:
        return reasons
    of_weights = {op for weight in weights for op in weight.products}
    numbers = [number for number, op in enumerate(products) if op in of_weights]
    if len(numbers) < _LEAST_LAYERS:
        return reasons
    reasons[numbers[-1]] = "it is the last product of a weight"
    if not any("stablehlo.gather" in weight.readers for weight in weights):
        reasons[numbers[0]] = "it is the first product of a weight"
    return reasons


def _matches(name: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def _router(weight: Weight) -> str:
    """Why `weight` is that of a router: its few results are sorted to choose experts."""
    for op in weight.products:
        result = ir.RankedTensorType(op.results[0].type)
        side = 1 if contracting_dims(op, 1) and result.rank else 0
        if result.rank and result.shape[-1] <= _MOST_EXPERTS and side and _is_sorted(op):
            return "is a router's: what the product gives is sorted"
    return ""


def _is_sorted(op: ir.Operation) -> bool:
    """Whether what `op` gives is sorted before any other product takes it."""
    waiting, seen = [op], 0
    while waiting and seen < _MOST_OPS:
        for result in waiting.pop(0).results:
            for use in result.uses:
                user = use.owner.operation
                seen += 1
                target = user.attributes["name"] if user.name == "stablehlo.composite" else ""
                if user.name in _CHOICES or "top_k" in str(target):
                    return True
                if not is_product(user) and user.name.startswith(("stablehlo.", "chlo.")):
                    waiting.append(user)
    return False
