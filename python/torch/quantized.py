"""A PyTorch program whose weights are f8, with their scales beside them in its state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from mlir_fp8.base.errors import Fp8Error
from mlir_fp8.lowering.fp8.weights.names import as_pattern
from mlir_fp8.quantization import Quantized, quantize
from mlir_fp8.torch.program import Argument, Program

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

    The codes are computed once, whatever the sizes of arguments are.
    """

    def made_of(module: "ir.Module") -> Quantized:
        made = quantize(module, recipe, weights=patterns, **options)
        if made.state:
            raise Fp8Error("recipe has state, which a call would not keep: take current")
        return made

    patterns = list(state) if weights is None else list(weights)
    if weights is None:
        # Each as a pattern, so that those that can be no weight are left and not refused.
        patterns = [as_pattern(name) for name in patterns]
    first = made_of(module)
    prepared = first.prepare(state)

    def again(program: Program, module: "ir.Module") -> "tuple[Program, ir.Module]":
        return _with_codes(program, made_of(module), prepared)

    return *_with_codes(program, first, prepared)[:1], first.module, again


def _with_codes(
    program: Program, made: Quantized, prepared: Mapping[str, torch.Tensor]
) -> "tuple[Program, ir.Module]":
    known = {each.state for each in program.arguments}
    scales = [Argument(name, state=name) for name in prepared if name not in known]
    arguments = (*program.arguments, *scales)
    return replace(program, arguments=arguments, state=dict(prepared)), made.module
