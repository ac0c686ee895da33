"""`mlir_fp8.jax.explain`: which dots of a JAX function run in FP8, or why not."""

from collections.abc import Callable, Sequence
from typing import Any

from mlir_fp8.explaining.explain import explain as explain_module
from mlir_fp8.explaining.verdicts import Explanation
from mlir_fp8.failures.internal_error import public
from mlir_fp8.jax.jitting import MADE, jit


@public
def explain(
    function: Callable[..., Any],
    *args: Any,
    target: str | Sequence[str] = "xla-gpu",
    compute_capability: str = "9.0",
    cuda_version: str = "12.9",
    **kwargs: Any,
) -> Explanation:
    """`mlir_fp8.explain` of `function(*args, **kwargs)`, with places in its source.

    `function` is what `mlir_fp8.jax.jit` made, explained as its passes leave it, or any other one,
    as it is. Of arguments only shapes and dtypes count: `jax.ShapeDtypeStruct`s will do. A step
    with a state is explained without it: `explain(step, *args)`.
    """
    step = getattr(function, MADE, None) or getattr(jit(function), MADE)
    program = step.program(args, kwargs)
    return explain_module(
        program.module,
        target,
        compute_capability=compute_capability,
        cuda_version=cuda_version,
        name=program.name,
    )
