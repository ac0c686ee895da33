"""A PyTorch program whose weights and caches are f8, with their scales beside them in its state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.weights.names import as_pattern
from mlir_fp8.quantization import quantize
from mlir_fp8.quantized import Quantized
from mlir_fp8.torch.program import Argument, Program, Result

if TYPE_CHECKING:
    from torch_mlir import ir

Again = Callable[[Program, "ir.Module"], "tuple[Program, ir.Module]"]


def quantized_program(
    program: Program,
    module: "ir.Module",
    state: Mapping[str, torch.Tensor],
    recipe: Any,
    weights: Sequence[str] | None,
    options: Mapping[str, Any],
) -> "tuple[Program, ir.Module, Again]":
    """`program` and its `module` with f8 weights, and what makes the same of other sizes.

    The codes are computed once, whatever the sizes of arguments are; those of caches, which
    `options` name, of what the caches hold.
    """

    def made_of(module: "ir.Module") -> Quantized:
        used = recipe if patterns or not options.get("cache") else None
        made = quantize(module, used, weights=patterns, **options)
        if made.state:
            raise Fp8Error("recipe has state, which a call would not keep: take current")
        return made

    patterns = list(state) if weights is None else list(weights)
    if weights is None:
        # Each as a pattern, so that those that can be no weight are left and not refused.
        patterns = [as_pattern(name) for name in patterns]
    first = made_of(module)
    for each in first.caches:
        if each.name not in state:
            way_out = "quantize `mlir` by mlir_fp8.quantize, whose calls take its scale"
            raise Fp8Error(f"cache '{each.name}' is no state of the model: {way_out}")
    prepared = first.prepare(state)

    def again(program: Program, module: "ir.Module") -> "tuple[Program, ir.Module]":
        return _with_codes(program, made_of(module), prepared)

    return *_with_codes(program, first, prepared)[:1], first.module, again


def _with_codes(
    program: Program, made: Quantized, prepared: Mapping[str, torch.Tensor]
) -> "tuple[Program, ir.Module]":
    known = {each.state for each in program.arguments}
    of_caches = [each.scale_name for each in made.caches]
    names = [*of_caches, *(n for n in prepared if n not in known and n not in of_caches)]
    arguments = (*program.arguments, *(Argument(name, state=name) for name in names))
    written = [each.scale_name for each in made.caches if each.scale_result is not None]
    results = (*program.results, *(Result(name, writes=name) for name in written))
    state = dict(prepared)
    return replace(program, arguments=arguments, results=results, state=state), made.module
