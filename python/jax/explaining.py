"""`mlir_fp8.jax.explain`: which dots of a JAX function run in FP8, or why not."""

from collections.abc import Callable, Sequence
from typing import Any

from mlir_fp8.base.context import make_context
from mlir_fp8.base.errors import callers_code
from mlir_fp8.explaining.explain import explain as explain_module
from mlir_fp8.explaining.verdicts import Explanation
from mlir_fp8.failures.internal_error import public
from mlir_fp8.jax.jitting import MADE, jit
from mlir_fp8.reading.loader import parse


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
    as it is; of one that `jax.jit` made, its static arguments are given as they are called. Of
    arguments only shapes and dtypes count: `jax.ShapeDtypeStruct`s will do. A step with a state is
    explained without it: `explain(step, *args)`.
    """
    step, jitted = getattr(function, MADE, None), getattr(function, "lower", None)
    if step is None and jitted is not None:
        name = getattr(function, "__name__", type(function).__name__)
        with callers_code():
            text = jitted(*args, **kwargs).as_text(debug_info=True)
        module = parse(text.encode(), name, make_context())
    else:
        program = (step or getattr(jit(function), MADE)).program(args, kwargs)
        name, module = program.name, program.module
    return explain_module(
        module,
        target,
        compute_capability=compute_capability,
        cuda_version=cuda_version,
        name=name,
    )
